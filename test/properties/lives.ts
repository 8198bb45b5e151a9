import { expect } from "vitest";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent, RunResumed, StepStarted } from "../../src/runtime/record/event.ts";
import { canonicalJson } from "../../src/kernel/json.ts";
import type { Message } from "../../src/message/message.ts";
import type { Role } from "../../src/role/role.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { idea, teamOf } from "./six-roles.ts";
import { endedLabels, type Latency, Outside, shuffled, steady } from "./outside.ts";

/** The parts of a run, the same in every life. */
export interface Company {
  readonly roles: (outside: Outside) => Iterable<Role>;
  readonly options?: TeamOptions;
  /** Makes the journal of a life that goes on. Default: one that has the events and nothing else. */
  readonly journalWith?: typeof journalWith;
}

/** A run as one life, or several, left it. */
export interface Lived {
  readonly events: readonly RunEvent[];
  readonly result: RunResult;
  readonly canonical: string;
  readonly begun: ReadonlyMap<string, number>;
}

const runId = "run";

/**
 * Lives a run from where its events end: a fresh process with a fresh team, and a journal that has nothing else. J0 the program that began
 * a run may also go on with it: every other life does.
 */
export async function live(
  { roles, options, journalWith: journalOf = journalWith }: Company,
  kept: readonly RunEvent[] = [],
  latency: Latency = steady,
): Promise<Lived> {
  const outside = new Outside(latency, kept);
  const journal = await journalOf(runId, kept);
  const team = teamOf(outside, roles(outside), { ...options, journal });
  const isResumed = kept.some((event) => event.type === "message") && kept.length % 2 === 0;
  const run = isResumed ? team.resume(runId) : team.run(idea, { id: runId });
  const result = await run.result;
  const events = await eventsOf(journal, runId);
  const acts = events.flatMap((event) => (event.type === "act.ended" || event.type === "act.failed" ? [event.act] : []));
  expect(new Set(acts).size, "no two activations have one name").toBe(acts.length);
  return { events, result, canonical: canonical(events), begun: outside.begun };
}

/** The parts of a life that do not depend on the order in which roles had their turns. */
export function unordered({ events, result }: Lived): unknown {
  const { roles, dead, history, outputs, ready, open } = fold(events);
  const contents = (messages: Iterable<Message>): string[] =>
    [...messages].map(({ sentFrom, causeBy, content }) => `${sentFrom} ${causeBy}: ${content}`).toSorted();
  return {
    status: result.status,
    roles: [...roles.values()].map((role) => ({ name: role.name, memory: contents(role.memory), state: role.custom })),
    dead: contents(dead.map((letter) => letter.message)),
    history: contents(history),
    outputs: contents(outputs),
    left: [ready.size, open.size],
  };
}

/** Effects of the steps that are marked `again`. */
export function isRepeated(label: string): boolean {
  return label.startsWith("again ") || label.startsWith("write ");
}

/** A killed run that goes on ends as the uncut one did, event by event. */
export async function expectSameEnd(
  company: Company,
  uncut: Lived,
  kept: readonly RunEvent[],
  latency: Latency = shuffled(kept.length),
): Promise<Lived> {
  const life = await live(company, kept, latency);
  expect(life.canonical).toBe(uncut.canonical);
  expect(told(life.result)).toEqual(told(uncut.result));
  expectPaidOnce(uncut, kept, life);
  return life;
}

/** The same where the order of turns is open: the same is said, remembered and kept, in whatever order. */
export async function expectSameSaid(
  company: Company,
  uncut: Lived,
  kept: readonly RunEvent[],
  latency: Latency,
  isFree?: (label: string) => boolean,
): Promise<void> {
  const life = await live(company, kept, latency);
  expect(unordered(life)).toEqual(unordered(uncut));
  expectPaidOnce(uncut, kept, life, isFree);
}

/** The result without its money. Dead letters stand in the order in which roles gave up, and that latencies decide. */
function told({ status, rounds, messages, output, outputs, deadLetters }: RunResult): unknown {
  return { status, rounds, messages, output, outputs, deadLetters: deadLetters.map((letter) => canonicalJson(letter)) };
}

/**
 * J1 of a life that went on from a record: an effect happens as often as the whole run needs it, less what the record has of it; what
 * was in flight is told, and paid a second time.
 *
 * @param isFree effects that may happen again although they are recorded
 */
export function expectPaidOnce(
  uncut: Lived,
  kept: readonly RunEvent[],
  life: Lived,
  isFree: (label: string) => boolean = isRepeated,
): void {
  const recorded = endedLabels(kept);
  const wanted = [...endedLabels(uncut.events)].map(([label, times]): [string, number] => [label, times - (recorded.get(label) ?? 0)]);
  const counted = (counts: Iterable<readonly [string, number]>): (readonly [string, number])[] =>
    [...counts].filter(([label, times]) => times !== 0 && !isFree(label)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  expect(counted(life.begun)).toEqual(counted(wanted));

  expect(askedAgain(kept, life.events)).toEqual([]);
  const resumed = life.events.slice(kept.length).find((event): event is RunEvent & RunResumed => event.type === "run.resumed");
  const flying = inFlight(kept).filter((step) => step.kind !== "human");
  expect(resumed?.uncertain ?? []).toEqual(expect.arrayContaining(flying.map(({ act, key, hold }) => ({ act, key, hold }))));
  expect(resumed?.uncertain ?? []).toHaveLength(flying.length);
  expect(life.result.cost.known).toBe(uncut.result.cost.known + life.result.uncertain);
}

/** Micro-dollars of the steps that were in flight when the record ended. */
export function heldBy(kept: readonly RunEvent[]): number {
  return inFlight(kept).reduce((sum, step) => sum + step.hold, 0);
}

/** Steps that began anew although the record has their answer. */
function askedAgain(kept: readonly RunEvent[], whole: readonly RunEvent[]): readonly string[] {
  const answered = new Set(
    kept.flatMap((event) => (event.type === "step.ended" && event.retry !== true ? [`${event.act} ${event.key}`] : [])),
  );
  const begun = whole.slice(kept.length).flatMap((event) => (event.type === "step.started" ? [`${event.act} ${event.key}`] : []));
  return begun.filter((step) => answered.has(step));
}

/** Steps that began in the record and did not end in it. */
function inFlight(kept: readonly RunEvent[]): readonly StepStarted[] {
  const open = new Map<string, StepStarted>();
  for (const event of kept) {
    if (event.type === "run.resumed") open.clear();
    if (event.type === "step.started") open.set(`${event.act} ${event.key}`, event);
    if (event.type === "step.ended") open.delete(`${event.act} ${event.key}`);
  }
  return [...open.values()];
}
