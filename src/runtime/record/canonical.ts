import { anEvent } from "./journal.ts";
import { iterable, takes } from "../../kernel/argument.ts";
import { canonicalJson } from "../../kernel/json.ts";
import { termsOf } from "../schedulers/scheduler.ts";
import type { Message } from "../../message/message.ts";
import type { ActEnded, ActFailed, ClockAdvanced, HiredRole, RecordedMemoryOp, RunEvent, Sent, StepEnded, StepStarted } from "./event.ts";
import { rewriting, rewritten } from "./rewritten-event.ts";

/**
 * Returns the behavior of a run as text, one line for each entry, which is equal for equal behavior. Steps are in the order they were
 * asked within their activation, activations by round and hire order (with the scheduler `eager`, in the order they ended). The text leaves
 * out values that may differ between two such runs: run id, sequence numbers, times, tries, holds, spend, resumes, and the random ids of
 * messages from outside.
 *
 * @throws UsageError `ARGUMENT_INVALID` for events that cannot be iterated
 *
 * @example
 * import { canonical, type RunEvent } from "troupe";
 *
 * export function didTheSame(one: readonly RunEvent[], other: readonly RunEvent[]): boolean {
 *   return canonical(one) === canonical(other);
 * }
 */
export function canonical(events: Iterable<RunEvent>): string {
  return canonicalLines(events).join("\n");
}

/** The lines of {@link canonical}. */
export function canonicalLines(events: Iterable<RunEvent>): readonly string[] {
  takes("canonical", "events", events, iterable("events of a run"));
  const log = new CanonicalLog();
  for (const event of events) {
    takes("canonical", "an event", event, anEvent);
    log.add(event);
  }
  return log.lines();
}

interface CanonicalEntry {
  readonly position: readonly [round: number, order: number, nth: number];
  readonly lines: readonly object[];
}

/** The last line of a run that has not ended. */
const noEnd: object = Object.freeze({ type: "open" });

/** The order of a message from outside that waits for the end of a round: after all roles. */
const AFTER_ROLES = Number.MAX_SAFE_INTEGER;

/**
 * Collects the events of a run. It owns the entries, the steps of open activations, and the stable names of ids.
 *
 * CanonicalLog.C1 (`lines`) the order of the entries does not depend on latency.
 */
class CanonicalLog {
  readonly #entries: CanonicalEntry[] = [];
  readonly #hireOrder = new Map<string, number>();
  readonly #steps = new Map<string, Map<string, MutableStep>>();
  /** Stable names of messages from outside, by id: their ids may be random. */
  readonly #outside = new Map<string, string>();
  readonly #renaming = rewriting({ id: (id) => this.#nameOf(id) });
  #header: object = {};
  #end: object = noEnd;
  #terms = termsOf({ scheduler: "rounds" });
  #round = 0;
  #nth = 0;

  add(event: RunEvent): void {
    switch (event.type) {
      case "run.started": {
        const { type, team, roles, seed, scheduler, parameters, arrival } = event;
        this.#hire(roles);
        this.#terms = termsOf(event);
        this.#header = { type, team, roles, seed, scheduler, parameters, arrival };
        return;
      }
      case "message":
        this.#outside.set(event.message.id, `outside#${this.#outside.size + 1}`);
        return this.#push(event.atBarrier === true ? AFTER_ROLES : -1, [{ type: event.type, ...sent(rewritten(event, this.#renaming)) }]);
      case "step.started":
        this.#stepsOf(event.act).set(event.key, { started: event, ended: undefined });
        return;
      case "step.ended":
        if (event.retry !== true) this.#endStep(event);
        return;
      case "act.ended":
        return this.#push(this.#orderOf(event.role), [...this.#stepLines(event.act), ended(rewritten(event, this.#renaming))]);
      case "act.failed":
        return this.#push(this.#orderOf(event.role), [...this.#stepLines(event.act), failed(event)]);
      case "round.ended":
        if (event.stage === undefined) this.#round = event.round + 1;
        return;
      case "clock.advanced":
        return this.#advance(event);
      case "run.ended":
        this.#end = { type: event.type, status: event.status, error: event.error };
        return;
      case "run.resumed":
        if (event.roles !== undefined) this.#hire(event.roles);
        this.#end = noEnd;
        return;
      case "role.hired":
        this.#hire(event.roles);
        return this.#push(-1, [{ type: event.type, roles: event.roles }]);
      case "choice.made":
        return this.#push(-1, [{ type: event.type, fate: event.fate, role: event.role, id: event.id && this.#nameOf(event.id) }]);
      case "role.retired":
        return this.#push(-1, [{ type: event.type, role: event.role, keeps: event.keeps }]);
      case "role.taken":
        return this.#push(-1, [{ type: event.type, role: event.role, by: event.by, back: event.back }]);
      default:
        return;
    }
  }

  #nameOf(id: string): string {
    return this.#outside.get(id) ?? id;
  }

  /** A round may be reached in one step or, if the run was stopped on the way, in two. */
  #advance({ type, tick, role }: ClockAdvanced): void {
    if (this.#terms.clock === "rounds") this.#round = tick;
    else this.#push(0, [{ type, tick, role }]);
  }

  #hire(roles: readonly HiredRole[]): void {
    for (const { name } of roles) if (!this.#hireOrder.has(name)) this.#hireOrder.set(name, this.#hireOrder.size);
  }

  lines(): readonly string[] {
    const open = [...this.#steps.keys()].toSorted().flatMap((act) => this.#stepLines(act));
    const entries = this.#entries.toSorted(
      (a, b) => a.position[0] - b.position[0] || a.position[1] - b.position[1] || a.position[2] - b.position[2],
    );
    return [this.#header, ...entries.flatMap((entry) => entry.lines), ...open, this.#end].map((line) => canonicalJson(line));
  }

  #push(order: number, lines: readonly object[]): void {
    this.#entries.push({ position: [this.#round, this.#terms.delivery === "round" ? order : 0, this.#nth], lines });
    this.#nth += 1;
  }

  #orderOf(role: string): number {
    return this.#hireOrder.get(role) ?? 0;
  }

  #stepsOf(act: string): Map<string, MutableStep> {
    const known = this.#steps.get(act);
    if (known !== undefined) return known;
    const steps = new Map<string, MutableStep>();
    this.#steps.set(act, steps);
    return steps;
  }

  #endStep(event: StepEnded): void {
    const step = this.#stepsOf(event.act).get(event.key);
    if (step !== undefined) step.ended = event;
  }

  #stepLines(act: string): readonly object[] {
    const steps = [...(this.#steps.get(act)?.values() ?? [])];
    this.#steps.delete(act);
    return inOrder(steps).map(({ started, ended: end }) => ({
      type: "step",
      act,
      kind: started.kind,
      name: started.name,
      in: started.in,
      key: started.key,
      request: started.request,
      ok: end?.ok,
      // Recalled messages are named by their ids. No other value of a step is known to be an id.
      value: started.kind === "memory" ? renamedIn(end?.value, this.#outside) : end?.value,
      error: end?.error,
    }));
  }
}

interface MutableStep {
  readonly started: StepStarted;
  ended: StepEnded | undefined;
}

type Step = Readonly<MutableStep>;

/** Steps inside a step run concurrently and are asked in an order that depends on latency, so they are sorted by key. */
function inOrder(steps: readonly Step[]): readonly Step[] {
  const within = new Map<string | undefined, Step[]>();
  for (const step of steps) {
    const siblings = within.get(step.started.in);
    if (siblings === undefined) within.set(step.started.in, [step]);
    else siblings.push(step);
  }
  const byKey = (a: Step, b: Step): number => (a.started.key < b.started.key ? -1 : 1);
  const byIndex = (a: Step, b: Step): number => a.started.asked - b.started.asked;
  const below = (parent: string | undefined): readonly Step[] =>
    (within.get(parent) ?? []).toSorted(parent === undefined ? byIndex : byKey).flatMap((step) => [step, ...below(step.started.key)]);
  return below(undefined);
}

/** The end of an activation as text, without times: equal for equal ends. */
export function canonicalEnd(event: ActEnded | ActFailed): string {
  return canonicalJson(event.type === "act.ended" ? ended(event) : failed(event));
}

function sent({ message, to, dead, meant, dropped, due, faults }: Sent): object {
  return { message: timeless(message), to, dead, meant, dropped, due, faults };
}

function timeless({ timestamp: _timestamp, ...message }: Message): object {
  return message;
}

function renamedIn(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => renamedIn(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, renamedIn(member, names)]));
}

function ended({ type, act, round, take, said, memory, working, state, plan, joins, summary }: ActEnded): object {
  const op = ([sign, what]: RecordedMemoryOp): unknown => [sign, typeof what === "object" ? timeless(what) : what];
  const ops = (list: readonly RecordedMemoryOp[]): unknown => list.map((one) => (one[0] === "0" ? one : op(one)));
  return { type, act, round, take, said: said.map(sent), memory: ops(memory), working: ops(working), state, plan, joins, summary };
}

function failed({ type, act, round, take, error, then }: ActFailed): object {
  return { type, act, round, take, error, then };
}
