import type { ComponentProps } from "preact";
import { visibleText } from "../../../kernel/value-text.ts";
import type { CauseChain } from "../../view/cause-chain.ts";
import type { Arrow, Bar, LaneDrawing } from "../../view/lanes.ts";
import type { ActivationEnd, SentFact, TickFact, DeliveryFact } from "../../view/run-facts.ts";
import { tickText } from "../../view/run-terms.ts";
import { shownLine } from "../../view/shown-text.ts";
import { spokenLine } from "../../view/spoken.ts";
import { counted, plural } from "../amounts.ts";
import { ChooseMarked } from "../controls.tsx";
import { END_WORDS } from "../detail-parts.tsx";
import type { OpenRun } from "../open-run.ts";

/** Pixels: the height of a lane and of the bar in it. */
export const LANE = 44;
const BAR = 20;
const NARROWEST = 7;

export interface LaneFrame {
  readonly from: number;
  readonly span: number;
  readonly width: number;
  readonly top: number;
}

export function xOf({ from, span, width }: LaneFrame, seq: number): number {
  return ((seq - from + 0.5) / span) * width;
}

export function yOf({ top }: LaneFrame, lane: number): number {
  return (top + lane) * LANE + LANE / 2;
}

export function barPlace(frame: LaneFrame, { from, until }: Bar): { readonly left: number; readonly width: number } {
  const half = frame.width / frame.span / 2;
  const left = Math.max(0, xOf(frame, from) - half);
  const right = Math.min(frame.width, xOf(frame, until) + half);
  return { left, width: Math.max(NARROWEST, right - left) };
}

export function arrowPath(frame: LaneFrame, arrow: Arrow): string {
  const [x1, x2] = [xOf(frame, arrow.from), xOf(frame, arrow.to)];
  const y2 = yOf(frame, arrow.toLane);
  if (arrow.fromLane === undefined) return `M${round(x1)} ${round(y2 - LANE / 2 + 2)}L${round(x2)} ${round(y2 - BAR / 2)}`;
  const y1 = yOf(frame, arrow.fromLane);
  if (arrow.fate === "lost") return lostPath(x1, y1, y2);
  if (arrow.fromLane === arrow.toLane) {
    const high = y1 - BAR / 2 - 8;
    return curve(x1, y1 - BAR / 2, high, x2, y2 - BAR / 2);
  }
  const down = y2 > y1 ? 1 : -1;
  const [start, end] = [y1 + (down * BAR) / 2, y2 - (down * BAR) / 2];
  return curve(x1, start, (start + end) / 2, x2, end);
}

function curve(x1: number, y1: number, turn: number, x2: number, y2: number): string {
  return `M${round(x1)} ${round(y1)}C${round(x1)} ${round(turn)} ${round(x2)} ${round(turn)} ${round(x2)} ${round(y2)}`;
}

function lostPath(x: number, y1: number, y2: number): string {
  const down = y2 < y1 ? -1 : 1;
  const [start, length] = [y1 + (down * BAR) / 2, Math.max(LANE / 3, Math.abs(y2 - y1) / 2 - BAR / 2)];
  return `M${round(x)} ${round(start)}L${round(x + 5)} ${round(start + down * length)}`;
}

const LINE = 6;
const LABEL = 64;

/** `x` is the left edge of what happened after the tick. Where ticks follow each other at once, nothing happened before the last one. */
export function tickLines(frame: LaneFrame, ticks: readonly TickFact[]) {
  const lines: { readonly tick: TickFact; readonly x: number; readonly isLabelled: boolean }[] = [];
  let [line, label] = [0, 0];
  for (const [index, tick] of ticks.entries()) {
    const x = xOf(frame, tick.seq + 0.5);
    if (x < line || ticks[index + 1]?.seq === tick.seq + 1) continue;
    const isLabelled = x >= label && x <= frame.width - LABEL / 2;
    lines.push({ tick, x, isLabelled });
    line = x + LINE;
    if (isLabelled) label = x + LABEL;
  }
  return lines;
}

export function round(n: number): number {
  return Math.round(n * 10) / 10;
}

/** The next bar to focus for an arrow key: along the lane, or the nearest one in another lane. Undefined where there is none. */
export function barAfterKey({ bars }: LaneDrawing, current: Bar, key: string): Bar | undefined {
  const inLane = (lane: number): readonly Bar[] => bars.filter((bar) => bar.lane === lane);
  const own = inLane(current.lane);
  const nth = own.findIndex(({ activation }) => activation.index === current.activation.index);
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

export function LaneName({ run, role, top }: { readonly run: OpenRun; readonly role: string; readonly top: number }) {
  const state = run.timeline.stateAt(run.shown.value).roles.get(role);
  const waiting = state?.waiting ?? 0;
  return (
    <ChooseMarked class="lane-name row" style={{ top: `${top}px`, height: `${LANE}px` }} run={run} what={{ kind: "role", name: role }}>
      <span class="lane-role cut strong">{shownLine(role, 60)}</span>
      <span class="lane-mail tiny soft numbers">
        {state === undefined ? "not hired yet" : state.isHired ? (waiting > 0 ? `${counted(waiting)} waiting` : "") : "retired"}
      </span>
    </ChooseMarked>
  );
}

export interface LayerProps {
  readonly run: OpenRun;
  readonly drawing: LaneDrawing;
  readonly frame: LaneFrame;
  readonly chain: CauseChain | undefined;
}

export function BarButtons({ run, drawing, frame, chain }: LayerProps) {
  const { bars } = drawing;
  const selected = run.selection.value;
  const isChosen = (bar: Bar): boolean => selected?.kind === "activation" && selected.act === bar.activation.act;
  const entry = bars.find(isChosen) ?? bars[0];
  const onKeyDown = (event: KeyboardEvent, bar: Bar): void => {
    if (event.key === "Escape") run.selection.value = undefined;
    const next = barAfterKey(drawing, bar, event.key);
    if (next === undefined) return;
    event.preventDefault();
    run.selection.value = { kind: "activation", act: next.activation.act, stays: true };
    const list = (event.currentTarget as HTMLElement).parentElement;
    list?.querySelector<HTMLElement>(`[data-index="${next.activation.index}"]`)?.focus();
  };
  return (
    <div role="group" aria-label="Activations">
      {bars.map((bar) => {
        const { left, width } = barPlace(frame, bar);
        const { index, end, act } = bar.activation;
        const isFaint = chain !== undefined && !chain.activations.has(index);
        return (
          <button
            key={index}
            type="button"
            class={`bar bar-${bar.isOpen ? "open" : end}${isFaint ? " faint" : ""}${chain !== undefined && !isFaint ? " in-chain" : ""}`}
            data-index={index}
            tabIndex={bar === entry ? 0 : -1}
            aria-pressed={isChosen(bar)}
            aria-label={`${visibleText(act)}: ${activationWords(bar)}`}
            title={visibleText(act)}
            style={{ left: `${left}px`, width: `${width}px`, top: `${yOf(frame, bar.lane)}px` }}
            onClick={() => (run.selection.value = { kind: "activation", act })}
            onKeyDown={(event) => onKeyDown(event, bar)}
          >
            {width >= 16 && (
              <span class="sign mono" aria-hidden="true">
                {SIGNS[bar.isOpen ? "open" : end]}
              </span>
            )}
            {width >= 44 && <span class="bar-text">#{bar.activation.n}</span>}
          </button>
        );
      })}
    </div>
  );
}

/** A sign for the end of an activation, so that its colour is no more than a help. */
const SIGNS: Readonly<Record<ActivationEnd, string>> = {
  open: "…",
  ended: "✓",
  retry: "↻",
  isolate: "✕",
  dead: "✕",
  stop: "✕",
  retired: "–",
};

function activationWords({ activation: { end, took, said, from, until }, isOpen }: Bar): string {
  const when = isOpen || until === undefined ? `from event ${from}` : from === until ? `event ${from}` : `events ${from} to ${until}`;
  const words = END_WORDS[isOpen ? "open" : end];
  return `${words}, ${when}, took ${plural(took.length, "message")}${isOpen ? "" : `, said ${plural(said.length, "message")}`}`;
}

const MOST_TEXT = 120;

/** The ends of the texts that models are giving, each below its bar. Only seen: the drawer of the activation has the text. */
export function LiveLines({ run, drawing, frame }: LayerProps) {
  const open = drawing.bars.filter(({ isOpen }) => isOpen);
  return (
    <>
      {open.map((bar) => {
        const live = run.textOf(bar.activation.act);
        if (live === undefined) return null;
        const { left, width } = barPlace(frame, bar);
        const end = left + width;
        return (
          <p
            key={bar.activation.index}
            class="lane-live soft"
            aria-hidden="true"
            style={{ top: `${yOf(frame, bar.lane) + 11}px`, width: `${Math.max(end, LIVE)}px` }}
          >
            <bdi>{visibleText(live.text.slice(-MOST_TEXT)).replace(/\s+/g, " ")}</bdi>
          </p>
        );
      })}
    </>
  );
}

const LIVE = 160;

export function MessageButtons({ run, drawing, frame, chain }: LayerProps) {
  const dots = new Map<number, { readonly sent: SentFact; readonly lane: number; readonly to: string[] }>();
  for (const { sent, fromLane, toLane, delivery } of drawing.arrows) {
    if (sent.seq < frame.from || (fromLane === undefined && sent.by !== undefined)) continue;
    const dot = dots.get(sent.index) ?? { sent, lane: fromLane ?? toLane, to: [] };
    dots.set(sent.index, dot);
    dot.to.push(deliveryWords(visibleText(delivery.role), delivery));
  }
  return (
    <div role="group" aria-label="Messages">
      {[...dots.values()].map(({ sent, lane, to }) => {
        const { index, message, nth } = sent;
        const isFaint = chain !== undefined && !chain.messages.has(index);
        const count = run.timeline.record.activations[sent.by ?? -1]?.said.length ?? 1;
        // Pixels between the dots of one event, which stay in its column where they can still be clicked.
        const step = Math.max(3, Math.min(6, frame.width / frame.span / count));
        const y = sent.by === undefined ? yOf(frame, lane) - LANE / 2 + 3 : yOf(frame, lane) + 13;
        return (
          <ChooseMarked
            key={index}
            class={`dot${isFaint ? " faint" : ""}`}
            run={run}
            what={{ kind: "message", id: message.id }}
            aria-label={`Message ${visibleText(message.causeBy)} to ${to.join(", ")}: ${spokenLine(message, 60)}`}
            style={{ left: `${xOf(frame, sent.seq) + nth * step}px`, top: `${y}px` }}
          />
        );
      })}
    </div>
  );
}

function deliveryWords(role: string, { isLost, due, fault }: DeliveryFact): string {
  const said = [
    isLost && "lost",
    due !== undefined && "delayed",
    fault?.copy !== undefined && "a copy",
    fault?.reads && "rewritten",
  ].filter(Boolean);
  return said.length === 0 ? role : `${role} (${said.join(", ")})`;
}

/** The clock of the run above the lanes. Only seen: the scrubber and the list of events have it in words. */
export function ClockAxis({ run, drawing, frame }: LayerProps) {
  const { clock } = run.timeline.now;
  const word = clock === "rounds" ? "round " : "t ";
  return (
    <div class="lane-axis tiny soft numbers" aria-hidden="true">
      <span class="lane-axis-name">{clock === "rounds" ? "Rounds" : "Time"}</span>
      <div class="lane-axis-field">
        {tickLines(frame, drawing.ticks).map(
          ({ tick, x, isLabelled }) =>
            isLabelled && (
              <span key={tick.seq} class="lane-tick" style={{ left: `${x}px` }}>
                {word}
                {tickText(tick.tick)}
              </span>
            ),
        )}
      </div>
    </div>
  );
}

/** Only seen: each message has a button, a line in the list of events, and its recipients in the drawer. */
export function ArrowLayer({ run, drawing, frame, height, chain }: LayerProps & { readonly height: number }) {
  const chosen = chosenMessage(run);
  return (
    <svg class="arrows" width={frame.width} height={height} aria-hidden="true">
      <defs>
        <Marker id="arrow-head" refX={7} size={9}>
          <path d="M0 0.8L8 4L0 7.2Z" fill="context-stroke" />
        </Marker>
        <Marker id="arrow-open" refX={7} size={10}>
          <circle cx="4" cy="4" r="2.8" fill="var(--sheet)" stroke="context-stroke" stroke-width="1.4" />
        </Marker>
        <Marker id="arrow-gone" refX={4} size={10}>
          <path d="M1 1L7 7M7 1L1 7" stroke="context-stroke" stroke-width="1.6" />
        </Marker>
      </defs>
      {tickLines(frame, drawing.ticks).map(({ tick, x, isLabelled }) => (
        <path key={`tick ${tick.seq}`} class={`tick-line${isLabelled ? " tick-labelled" : ""}`} d={`M${x} 0V${height}`} />
      ))}
      {drawing.arrows.map((arrow) => (
        <path
          key={arrow.delivery.index}
          class={`arrow arrow-${arrow.fate.replaceAll(" ", "-")}${arrow.delivery.due === undefined ? "" : " arrow-delayed"}${arrowState(arrow, chain, chosen)}`}
          d={arrowPath(frame, arrow)}
          marker-end={`url(#${MARKERS[arrow.fate]})`}
        />
      ))}
    </svg>
  );
}

export function Marker({ size, ...rest }: ComponentProps<"marker"> & { readonly size: number }) {
  return <marker viewBox="0 0 8 8" refY="4" markerWidth={size} markerHeight={size} markerUnits="userSpaceOnUse" orient="auto" {...rest} />;
}

const MARKERS: Readonly<Record<Arrow["fate"], string>> = {
  taken: "arrow-head",
  waiting: "arrow-open",
  "on its way": "arrow-open",
  dropped: "arrow-gone",
  lost: "arrow-gone",
  dead: "arrow-gone",
  double: "arrow-gone",
};

function arrowState({ sent, delivery }: Arrow, chain: CauseChain | undefined, chosen: string | undefined): string {
  if (sent.message.id === chosen) return " chosen";
  if (chain === undefined) return "";
  const isIn =
    chain.messages.has(sent.index) && [delivery.opener, delivery.consumer].some((one) => one !== undefined && chain.activations.has(one));
  return isIn ? " in-chain" : " faint";
}

function chosenMessage({ selection }: OpenRun): string | undefined {
  return selection.value?.kind === "message" ? selection.value.id : undefined;
}
