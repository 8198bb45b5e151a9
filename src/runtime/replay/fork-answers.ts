import type { Json } from "../../kernel/json.ts";
import { roleNameIn } from "../record/role-state.ts";
import type { ActEnded, ActFailed, RunEvent, StepEnded, StepStarted, SettledTry } from "../record/event.ts";
import { withoutAttempt } from "../steps/step-requests.ts";
import { BOARD_STEP } from "../board/board.ts";
import type { OpenQuestion, AnswerSource, SourcedStep } from "../steps/answer-source.ts";

/** The first step of a fork that its parent could not answer. */
export interface ForkDifference {
  /** `role#n~attempt` */
  readonly act: string;
  readonly name: string;
  /** The parent's request at that position; null: none. */
  readonly parent: Json;
  /** The fork's request. */
  readonly fork: Json;
}

type ParentStep = Omit<SourcedStep, "within">;

/**
 * Answers the steps of a fork from the run it came from. It owns the set of used answers.
 *
 * ForkAnswers.F1 (`#whole`) an answer is given once.
 * ForkAnswers.F2 (`answer`) the same step of the same activation has priority, even if it failed; otherwise the earliest unused good answer of
 * the same role to the same request is used.
 * ForkAnswers.F3 (`#keep`) shared steps are excluded: the fork has them in its own record.
 * ForkAnswers.F4 (`#endActivation`) activations that ended in the shared past are not kept.
 * ForkAnswers.F5 (`answer`) a step whose answer depends on more than its request gets no answer.
 * A step around a step of the board is such a step (`#deciding`).
 * ForkAnswers.F6 (`#keep`) no answer of an activation that is to be asked again is kept.
 */
export class ForkAnswers implements AnswerSource {
  readonly #exact = new Map<string, ParentStep>();
  readonly #ofRole = new Map<string, ParentStep[]>();
  readonly #within = new Map<string, ParentStep[]>();
  readonly #positions = new Map<string, Map<string, StepStarted>>();
  readonly #starts = new Map<string, number>();
  readonly #tries = new Map<string, StepStarted>();
  readonly #lost = new Map<string, number>();
  readonly #used = new Set<number>();
  /** Steps around steps of the board. */
  readonly #deciding = new Set<string>();
  readonly #again: ReadonlySet<string>;
  #difference: ForkDifference | undefined;

  /** @param again activations whose answers are not reused */
  constructor(again: readonly string[] = []) {
    this.#again = new Set(again.map(withoutAttempt));
  }

  learn(event: RunEvent, at: number): void {
    switch (event.type) {
      case "act.started":
        this.#starts.set(event.act, event.at);
        return;
      case "step.started":
        this.#tries.set(nameOf(event), event);
        this.#positionsOf(event.act).set(positionOf(event), event);
        if (event.kind === BOARD_STEP) this.#markAround(event);
        return;
      case "step.ended":
        this.#correct(event.settles, event.seq, at);
        if (event.retry === true) this.#lose(event, at, event.saved ?? event.cost ?? 0);
        else this.#keep(event, at);
        return;
      case "run.resumed":
        for (const { act, key, hold } of event.uncertain) this.#lose({ act, key, seq: event.seq }, at, hold);
        return;
      case "run.settled":
        return this.#correct(event.settles, event.seq, at);
      case "act.ended":
      case "act.failed":
        return this.#endActivation(event, at);
      default:
        return;
    }
  }

  /** Marks the answers in an event of a resumed fork as used. */
  recall(event: RunEvent): void {
    if (event.type === "step.started") this.#tries.set(nameOf(event), event);
    if (event.type !== "step.ended") return;
    const reused = this.#tries.get(nameOf(event))?.reused;
    if (reused !== undefined) this.#used.add(reused);
  }

  get hasAnswers(): boolean {
    return this.#exact.size > 0;
  }

  get difference(): ForkDifference | undefined {
    return this.#difference;
  }

  startOf(act: string): number | undefined {
    return this.#starts.get(act);
  }

  answer(question: OpenQuestion): SourcedStep | undefined {
    if (question.isFresh) return undefined;
    const exact = this.#exact.get(nameOf(question));
    const entry = exact !== undefined && !this.#used.has(exact.seq) ? exact : this.#next(question);
    if (entry !== undefined && this.#deciding.has(nameOf(entry.started))) return undefined;
    if (entry !== undefined) return this.#whole(entry, question.key);
    this.#difference ??= this.#differenceAt(question);
    return undefined;
  }

  #markAround({ act, in: key }: StepStarted): void {
    if (key === undefined) return;
    const name = nameOf({ act, key });
    this.#deciding.add(name);
    const around = this.#tries.get(name);
    if (around !== undefined) this.#markAround(around);
  }

  #whole(entry: ParentStep, key: string): SourcedStep {
    this.#used.add(entry.seq);
    const unused = this.#within.get(nameOf(entry.started))?.filter(({ seq }) => !this.#used.has(seq)) ?? [];
    const within = unused.map((inner) => this.#whole(inner, inner.started.key));
    if (entry.started.key === key) return { ...entry, within };
    return { ...entry, saved: sumOf([{ ...entry, within }]), within: [] };
  }

  #keep(event: StepEnded & { readonly seq: number }, shared: number): void {
    const name = nameOf(event);
    const started = this.#tries.get(name);
    const lost = this.#lost.get(name) ?? 0;
    this.#tries.delete(name);
    this.#lost.delete(name);
    if (started === undefined || event.seq <= shared || this.#again.has(withoutAttempt(event.act))) return;
    const { ok, value = null, error, at, cost, seq } = event;
    const late = event.byDeadline === true ? { byDeadline: true as const } : {};
    // The counts are those of the parent; the fork counts its own.
    const outcome = { ok, value, error, at, teamAt: 0, outsideAt: 0, ...late };
    const entry: ParentStep = { started, outcome, seq, saved: lost + (event.saved ?? cost ?? 0) };
    this.#exact.set(name, entry);
    if (started.in !== undefined) append(this.#within, nameOf({ act: event.act, key: started.in }), entry);
    if (ok) append(this.#ofRole, roleQuestion(roleNameIn(event.act), event.key), entry);
  }

  #correct(settles: readonly SettledTry[] = [], seq: number, shared: number): void {
    for (const { act, key, hold, cost } of settles) this.#lose({ act, key, seq }, shared, (cost ?? 0) - hold);
  }

  /** The record of the fork already has the cost of a shared try. */
  #lose(tried: { readonly act: string; readonly key: string; readonly seq: number }, shared: number, cost: number): void {
    if (tried.seq > shared) this.#lost.set(nameOf(tried), (this.#lost.get(nameOf(tried)) ?? 0) + cost);
  }

  #endActivation({ act, at, seq }: (ActEnded | ActFailed) & { readonly seq: number }, shared: number): void {
    if (seq <= shared) {
      this.#positions.delete(act);
      this.#starts.delete(act);
    } else if (at !== undefined) this.#starts.set(act, at);
  }

  #next({ role, key }: OpenQuestion): ParentStep | undefined {
    const entries = this.#ofRole.get(roleQuestion(role, key)) ?? [];
    while (entries[0] !== undefined && this.#used.has(entries[0].seq)) entries.shift();
    return entries[0];
  }

  #positionsOf(act: string): Map<string, StepStarted> {
    const positions = this.#positions.get(act) ?? new Map<string, StepStarted>();
    this.#positions.set(act, positions);
    return positions;
  }

  #differenceAt({ act, name, request, asked, in: parent }: OpenQuestion): ForkDifference {
    const then = this.#positions.get(act)?.get(positionOf({ asked, in: parent }));
    return { act, name, parent: then?.request ?? null, fork: request };
  }
}

function sumOf(steps: readonly SourcedStep[]): number {
  return steps.reduce((sum, { saved, within }) => sum + saved + sumOf(within), 0);
}

function append(lists: Map<string, ParentStep[]>, name: string, entry: ParentStep): void {
  lists.set(name, lists.get(name) ?? []);
  lists.get(name)?.push(entry);
}

function nameOf({ act, key }: { readonly act: string; readonly key: string }): string {
  return `${act} ${key}`;
}

function positionOf({ asked, in: parent = "" }: { readonly asked: number; readonly in?: string | undefined }): string {
  return `${parent} ${asked}`;
}

function roleQuestion(role: string, key: string): string {
  return `${role} ${key.slice(0, key.lastIndexOf("."))}`;
}
