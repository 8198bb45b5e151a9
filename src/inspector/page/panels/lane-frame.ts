import type { Arrow, Bar, LaneDrawing } from "../../view/lanes.ts";
import type { TickFact } from "../../view/run-facts.ts";

/** Pixels: the height of a lane and of the bar in it. */
export const LANE = 44;
const BAR = 20;
const NARROWEST = 7;

/** The visible part of a run: events from left to right, lanes from top to bottom. */
export interface LaneFrame {
  readonly from: number;
  readonly span: number;
  readonly width: number;
  readonly top: number;
}

export function xOf({ from, span, width }: LaneFrame, seq: number): number {
  return ((seq - from + 0.5) / span) * width;
}

/** The middle of a lane in pixels from the top of all lanes. */
export function yOf({ top }: LaneFrame, lane: number): number {
  return (top + lane) * LANE + LANE / 2;
}

/** The left side and the width of a bar, cut to the frame. */
export function barPlace(frame: LaneFrame, { from, until }: Bar): { readonly left: number; readonly width: number } {
  const half = frame.width / frame.span / 2;
  const left = Math.max(0, xOf(frame, from) - half);
  const right = Math.min(frame.width, xOf(frame, until) + half);
  return { left, width: Math.max(NARROWEST, right - left) };
}

/** The line of an arrow: from its sender, or from above where it came from outside, to its recipient. */
export function arrowPath(frame: LaneFrame, arrow: Arrow): string {
  const [x1, x2] = [xOf(frame, arrow.from), xOf(frame, arrow.to)];
  const y2 = yOf(frame, arrow.toLane);
  if (arrow.fromLane === undefined) return `M${round(x1)} ${round(y2 - LANE / 2 + 2)}L${round(x2)} ${round(y2 - BAR / 2)}`;
  const y1 = yOf(frame, arrow.fromLane);
  if (arrow.fate === "lost") return lostPath(x1, y1, y2);
  if (arrow.fromLane === arrow.toLane) {
    const high = y1 - BAR / 2 - 8;
    return `M${round(x1)} ${round(y1 - BAR / 2)}C${round(x1)} ${round(high)} ${round(x2)} ${round(high)} ${round(x2)} ${round(y2 - BAR / 2)}`;
  }
  const down = y2 > y1 ? 1 : -1;
  const [start, end] = [y1 + (down * BAR) / 2, y2 - (down * BAR) / 2];
  const middle = (start + end) / 2;
  return `M${round(x1)} ${round(start)}C${round(x1)} ${round(middle)} ${round(x2)} ${round(middle)} ${round(x2)} ${round(end)}`;
}

function lostPath(x: number, y1: number, y2: number): string {
  const down = y2 < y1 ? -1 : 1;
  const [start, length] = [y1 + (down * BAR) / 2, Math.max(LANE / 3, Math.abs(y2 - y1) / 2 - BAR / 2)];
  return `M${round(x)} ${round(start)}L${round(x + 5)} ${round(start + down * length)}`;
}

/** Pixels between two lines, and between two labels of the clock. */
const LINE = 6;
const LABEL = 64;

/**
 * The ticks that have room in a frame, and whether their labels have. `x` is the left side of what came after. Of ticks that follow each other
 * at once nothing happened before the last one.
 */
export function tickLines(frame: LaneFrame, ticks: readonly TickFact[]) {
  const lines: { readonly tick: TickFact; readonly x: number; readonly isLabelled: boolean }[] = [];
  let [line, label] = [0, 0];
  for (const [place, tick] of ticks.entries()) {
    const x = xOf(frame, tick.seq + 0.5);
    if (x < line || ticks[place + 1]?.seq === tick.seq + 1) continue;
    const isLabelled = x >= label && x <= frame.width - LABEL / 2;
    lines.push({ tick, x, isLabelled });
    line = x + LINE;
    if (isLabelled) label = x + LABEL;
  }
  return lines;
}

/** Pixels between the dots of the messages of one event: they stay in its column where they can be hit there. */
export function dotStep({ width, span }: LaneFrame, messages: number): number {
  return Math.max(MOST_CLOSE, Math.min(6, width / span / messages));
}

const MOST_CLOSE = 3;

function round(n: number): number {
  return Math.round(n * 10) / 10;
}

/**
 * Pairs entries with the keys of their elements. An entry keeps its element while the window moves, so that the focus stays with it; an element
 * whose entry has left is used for one that comes, because making elements is most of the work of a frame.
 */
export function withSlots<T>(entries: readonly T[], placeOf: (entry: T) => number): readonly (readonly [T, number])[] {
  const slots = 2 ** Math.ceil(Math.log2(entries.length + 1));
  const used = new Set<number>();
  return entries.map((entry) => {
    let slot = placeOf(entry) % slots;
    while (used.has(slot)) slot += slots;
    used.add(slot);
    return [entry, slot];
  });
}

/** The next bar to focus for an arrow key: along the lane, or the nearest one in another lane. Undefined where there is none. */
export function barAfterKey({ bars }: LaneDrawing, current: Bar, key: string): Bar | undefined {
  const inLane = (lane: number): readonly Bar[] => bars.filter((bar) => bar.lane === lane);
  const own = inLane(current.lane);
  const nth = own.findIndex(({ activation }) => activation.place === current.activation.place);
  switch (key) {
    case "ArrowLeft":
      return own[nth - 1];
    case "ArrowRight":
      return own[nth + 1];
    case "Home":
      return own[0];
    case "End":
      return own.at(-1);
    case "ArrowUp":
    case "ArrowDown": {
      const lanes = [...new Set(bars.map(({ lane }) => lane))].sort((a, b) => a - b);
      const lane = lanes[lanes.indexOf(current.lane) + (key === "ArrowUp" ? -1 : 1)];
      const others = lane === undefined ? [] : inLane(lane);
      return others.toSorted((a, b) => Math.abs(a.from - current.from) - Math.abs(b.from - current.from))[0];
    }
    default:
      return undefined;
  }
}
