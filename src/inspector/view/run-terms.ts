import type { Json } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { RunResumed, RunStarted, EdgeFault, RecordedEdge } from "../../runtime/record/event.ts";
import type { RunState, FaultCounts } from "../../runtime/record/run-state.ts";

/* The terms of a run in words, for the page and for a terminal. Names and values come from a record: who shows them makes them safe. */

export function counted(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 event`, `12,345 events`. */
export function plural(n: number, one: string, many: string = `${one}s`): string {
  return `${counted(n)} ${n === 1 ? one : many}`;
}

const LONGEST_VALUE = 80;

/** A scheduler with its parameters and the order of arrival: `poisson, rate 0.5`. */
export function schedulerText({ scheduler, parameters, arrival }: Pick<RunStarted, "scheduler" | "parameters" | "arrival">): string {
  const order = arrival === undefined ? [] : [`arrivals ${arrival === "sender" ? "by sender" : arrival}`];
  return [scheduler, ...parametersIn(parameters), ...order].join(", ");
}

export function schedulerOf({ scheduler, parameters, arrival }: Pick<RunState, "scheduler" | "parameters" | "arrival">): string {
  return schedulerText({ scheduler, parameters, ...(arrival === "hire" ? {} : { arrival }) });
}

/** A policy of the edges with its parameters and the pairs it is for: `drop, rate 0.1, on Clerk->Office`. */
export function edgeText({ name, parameters, pairs }: RecordedEdge): string {
  return [name, ...parametersIn(parameters), ...(pairs === undefined ? [] : [`on ${pairs.join(" ")}`])].join(", ");
}

function parametersIn(parameters: Json | undefined): readonly string[] {
  if (parameters === undefined || parameters === null) return [];
  if (!isRecord(parameters)) return [valueOf(parameters as Json)];
  return Object.entries(parameters).map(([name, value]) => `${name} ${valueOf(value as Json)}`);
}

function valueOf(value: Json): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text;
}

/** A tick of a clock: `12`, `0.6673`, `1204.5`. */
export function tickText(tick: number): string {
  if (Number.isInteger(tick)) return String(tick);
  return String(Number(Math.abs(tick) >= 1_000 ? tick.toFixed(1) : tick.toPrecision(4)));
}

/** A tick in words: `round 4`, `time 4.97`, `activation 12`. */
export function momentOf(clock: RunState["clock"], tick: number): string {
  return `${CLOCK_WORDS[clock]} ${tickText(tick)}`;
}

const CLOCK_WORDS: Readonly<Record<RunState["clock"], string>> = { rounds: "round", time: "time", activations: "activation" };

/** Counts of faults in words: `1 lost, 11 delayed`; `none` without any. */
export function faultCountsText(counts: FaultCounts): string {
  const parts = (["lost", "delayed", "copied", "rewritten"] as const).filter((kind) => counts[kind] > 0);
  return parts.length === 0 ? "none" : parts.map((kind) => `${counts[kind]} ${kind}`).join(", ");
}

/** The faults of some messages, those alike together: `drop to Bob, delay to Ann (6 times)`. */
export function faultsText(faults: readonly EdgeFault[]): string {
  const times = new Map<string, number>();
  for (const { by, to } of faults) {
    const fault = `${by.join(" and ")} to ${to}`;
    times.set(fault, (times.get(fault) ?? 0) + 1);
  }
  return [...times].map(([fault, count]) => (count === 1 ? fault : `${fault} (${count} times)`)).join(", ");
}

/** Returns the reason why a run was resumed, if its record has one; empty if it was at rest. */
export function resumeText({ cause, forked }: Pick<RunResumed, "cause" | "forked">): string {
  if (forked === true) return "a fork begins here";
  return cause === undefined ? "" : RESUME_WORDS[cause];
}

const RESUME_WORDS: Readonly<Record<NonNullable<RunResumed["cause"]>, string>> = {
  died: "its process had died",
  moved: "moved from another process",
  taken: "its owner was gone",
  drained: "it was given back",
};
