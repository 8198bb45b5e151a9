import { type ActivationFact, isFailure, type SentFact, type DeliveryFact } from "./run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

const MAX_ARROWS = 2_000;

/** The events `from` to `until`, both included, as they were after event `shown`. Default of `roles`: all in the order of hiring. */
interface LaneRange {
  readonly from: number;
  readonly until: number;
  readonly shown?: number;
  readonly roles?: readonly string[];
}

export interface Bar {
  readonly activation: ActivationFact;
  readonly lane: number;
  readonly from: number;
  readonly until: number;
  readonly isOpen: boolean;
}

export interface Arrow {
  readonly sent: SentFact;
  readonly delivery: DeliveryFact;
  /** Index of the sender's lane; undefined for a message from outside, or from a role that is not drawn. */
  readonly fromLane: number | undefined;
  readonly from: number;
  readonly toLane: number;
  /** The event at which an activation took the message; else at which it was delivered or dropped. */
  readonly to: number;
  readonly fate: Fate;
}

type Fate = "on its way" | "waiting" | "taken" | "dropped" | "lost" | "dead" | "double";

export type LaneDrawing = ReturnType<typeof lanesIn>;

/** Returns a bar per activation and an arrow per message and recipient. `omitted` counts arrows beyond the limit. */
export function lanesIn(timeline: RunTimeline, range: LaneRange) {
  const { record } = timeline;
  const shown = Math.min(range.shown ?? Infinity, timeline.length - 1);
  const until = Math.min(range.until, shown);
  const lanes = range.roles ?? [...timeline.now.roles.keys()];
  const indexes = new Map(lanes.map((role, lane) => [role, lane]));
  const bars = record.activations.flatMap((activation): readonly Bar[] => {
    const lane = indexes.get(activation.role);
    const { from, until: last = Infinity } = activation;
    const isOpen = last > shown;
    const end = Math.min(last, shown);
    return lane === undefined || from > until || end < range.from ? [] : [{ activation, lane, from, until: end, isOpen }];
  });
  const arrows: Arrow[] = [];
  let omitted = 0;
  for (const delivery of record.deliveries.between(range.from, until)) {
    const toLane = indexes.get(delivery.role);
    const sent = record.sent[delivery.sent];
    if (toLane === undefined || sent === undefined) continue;
    if (arrows.length >= MAX_ARROWS) {
      omitted += 1;
      continue;
    }
    const { end, fate } = endOf(delivery, shown);
    if (end < range.from) continue;
    const sender = sent.by === undefined ? undefined : record.activations[sent.by]?.role;
    arrows.push({
      sent,
      delivery,
      fromLane: sender === undefined ? undefined : indexes.get(sender),
      from: delivery.from,
      toLane,
      to: end,
      fate,
    });
  }
  const ticks = record.ticks.filter(({ seq }) => seq >= range.from && seq <= until);
  bars.sort((a, b) => a.lane - b.lane);
  return { lanes, bars, arrows, omitted, ticks };
}

/** The tick of the clock after an event. A clock that counts activations has no table. */
export function tickAt({ record: { ticks } }: RunTimeline, seq: number): number {
  return ticks.findLast((one) => one.seq <= seq)?.tick ?? 0;
}

export function endOf(delivery: DeliveryFact, shown: number): { readonly end: number; readonly fate: Fate } {
  const isPast = (seq: number | undefined): seq is number => seq !== undefined && seq <= shown;
  if (isPast(delivery.opened)) return { end: delivery.opened, fate: "taken" };
  if (isPast(delivery.dropped)) return { end: delivery.dropped, fate: delivery.isDead ? "dead" : delivery.isLost ? "lost" : "dropped" };
  if (isPast(delivery.delivered)) return { end: delivery.delivered, fate: delivery.isDouble ? "double" : "waiting" };
  return { end: shown, fate: "on its way" };
}

export function densityOf({ length, record }: RunTimeline, count: number) {
  const size = Math.max(1, Math.ceil(length / Math.max(1, count)));
  const bins = Array.from({ length: Math.ceil(length / size) }, () => ({ entries: 0, failures: 0 }));
  const add = (seq: number, what: "entries" | "failures"): void => {
    const bin = bins[Math.floor(seq / size)];
    if (bin !== undefined) bin[what] += 1;
  };
  for (const { from, until, end } of record.activations) {
    add(from, "entries");
    if (until !== undefined && isFailure(end)) add(until, "failures");
  }
  for (const { seq } of record.sent) add(seq, "entries");
  return bins;
}
