import type { Json } from "../kernel/json.ts";
import { roleNameIn } from "./activations.ts";
import type { RunEvent, StepEnded, StepStarted } from "./event.ts";
import type { OpenQuestion, Past, PastAnswer } from "./past.ts";

/** The first step of a fork that its parent could not answer. */
export interface ForkDifference {
  /** `role#n~attempt` */
  readonly act: string;
  readonly name: string;
  /** What the parent asked at that place; null: nothing. */
  readonly parent: Json;
  /** What the fork asks. */
  readonly fork: Json;
}

interface Entry extends PastAnswer {
  readonly started: StepStarted;
}

/**
 * The run a fork came from, as what answers the fork. It owns which answers are used up.
 *
 * F1 an answer is given once. F2 the same step of the same activation answers first, also with its failure; else the earliest unused
 * good answer of the same role to the same request. F3 what both runs share is not given: the fork has it in its own record.
 */
export class ForkPast implements Past {
  readonly #exact = new Map<string, Entry>();
  /** In the order they came. */
  readonly #ofRole = new Map<string, Entry[]>();
  readonly #places = new Map<string, StepStarted>();
  readonly #starts = new Map<string, number>();
  readonly #tries = new Map<string, StepStarted>();
  readonly #used = new Set<number>();
  #difference: ForkDifference | undefined;

  /** Takes in an event of the parent. `at`: the last event that is shared. */
  learn(event: RunEvent, at: number): void {
    if (event.type === "act.started") this.#starts.set(event.act, event.at);
    if (event.type === "step.started") {
      this.#tries.set(nameOf(event), event);
      this.#places.set(placeOf(event), event);
    }
    if (event.type === "step.ended" && event.retry !== true) this.#keep(event, event.seq, at);
  }

  /** Takes in an event of the fork, when the fork goes on after a stop: what it has written down as its own is used up. */
  recall(event: RunEvent): void {
    if (event.type === "step.started") this.#tries.set(nameOf(event), event);
    if (event.type !== "step.ended") return;
    const reused = this.#tries.get(nameOf(event))?.reused;
    if (reused !== undefined) this.#used.add(reused);
  }

  /** Where the fork first left its parent. */
  get difference(): ForkDifference | undefined {
    return this.#difference;
  }

  startOf(act: string): number | undefined {
    return this.#starts.get(act);
  }

  answer(question: OpenQuestion): PastAnswer | undefined {
    const exact = this.#exact.get(nameOf(question));
    const entry = exact !== undefined && !this.#used.has(exact.seq) ? exact : this.#next(question);
    if (entry === undefined) this.#difference ??= this.#differenceAt(question);
    else this.#used.add(entry.seq);
    return entry;
  }

  #keep(event: StepEnded, seq: number, shared: number): void {
    const started = this.#tries.get(nameOf(event));
    this.#tries.delete(nameOf(event));
    if (started === undefined || seq <= shared) return;
    const { ok, value = null, error, at, cost } = event;
    const entry: Entry = { started, outcome: { ok, value, error, at }, seq, saved: event.saved ?? cost ?? 0 };
    this.#exact.set(nameOf(event), entry);
    if (!ok) return;
    const name = roleQuestion(roleNameIn(event.act), event.key);
    const known = this.#ofRole.get(name);
    if (known === undefined) this.#ofRole.set(name, [entry]);
    else known.push(entry);
  }

  #next({ role, key }: OpenQuestion): Entry | undefined {
    const entries = this.#ofRole.get(roleQuestion(role, key)) ?? [];
    while (entries[0] !== undefined && this.#used.has(entries[0].seq)) entries.shift();
    return entries[0];
  }

  #differenceAt({ act, name, request, asked, in: parent }: OpenQuestion): ForkDifference {
    const then = this.#places.get(placeOf({ act, asked, in: parent }));
    return { act, name, parent: then?.request ?? null, fork: request };
  }
}

function nameOf({ act, key }: { readonly act: string; readonly key: string }): string {
  return `${act} ${key}`;
}

function placeOf({
  act,
  asked,
  in: parent = "",
}: {
  readonly act: string;
  readonly asked: number;
  readonly in?: string | undefined;
}): string {
  return `${act} ${parent} ${asked}`;
}

/** What a role asked, wherever it did: the address without its occurrence. */
function roleQuestion(role: string, key: string): string {
  return `${role} ${key.slice(0, key.lastIndexOf("."))}`;
}
