import type { CustomState, JoinMarks, RoleCard } from "../../role/context.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import { MemoryDraft } from "../../memory/memory-draft.ts";
import type { Plan } from "../../role/plan.ts";
import type { ReactLoop } from "../../role/react-loop.ts";
import type { RoleState } from "../record/role-state.ts";
import type { Asking } from "../steps/asking.ts";
import { PlanDraft } from "./plan-draft.ts";
import { StateDraft } from "./state-draft.ts";

/**
 * What only an activation has that does more than hear, remember and say. It owns the drafts of the role's state, plan, working memory and joins,
 * and counts ids and random numbers; each is made when it is first asked for.
 *
 * A1 ids and random numbers are functions of (seed, role, n). A5 what is made once it is closed can be looked at, and takes nothing.
 */
export class SideWork {
  card: RoleCard | undefined;
  loop: ReactLoop | undefined;
  asking: Asking | undefined;
  /** What an action threw last. */
  broken: { readonly action: string; readonly error: unknown } | undefined;
  /** Names of what each reaction consumed here, by the reaction's place. */
  joined: Record<string, Readonly<Record<string, string>>> | undefined;
  readonly #role: RoleState;
  readonly #act: string;
  #joins: JoinMarks | undefined;
  #custom: StateDraft | undefined;
  #working: MemoryDraft | undefined;
  #plan: PlanDraft | undefined;
  #random: Random | undefined;
  #ids = 0;
  #closed: boolean;

  constructor(role: RoleState, act: string, isClosed: boolean) {
    this.#role = role;
    this.#act = act;
    this.#closed = isClosed;
  }

  get joins(): JoinMarks {
    return (this.#joins ??= {
      consumed: (reaction) => this.joined?.[reaction] ?? this.#role.joins[reaction],
      consume: (reaction, inputs) => void ((this.joined ??= {})[reaction] = inputs),
    });
  }

  get state(): CustomState {
    return this.#customState.view;
  }

  set state(state: CustomState) {
    this.#customState.replace(state);
  }

  get plan(): Plan {
    return this.#planned.plan;
  }

  set plan(plan: Plan) {
    this.#planned.replace(plan);
  }

  get workingMemory(): MemoryDraft {
    return (this.#working ??= this.#closable(new MemoryDraft({ base: this.#role.workingMemory, by: { act: this.#act } })));
  }

  /** What was written, if anything may have been. */
  get written(): {
    readonly custom?: StateDraft | undefined;
    readonly working?: MemoryDraft | undefined;
    readonly plan?: PlanDraft | undefined;
  } {
    return { custom: this.#custom, working: this.#working, plan: this.#plan };
  }

  random(seed: string): number {
    this.#random ??= randomStream(seed, "role", this.#role.name, this.#role.n);
    return this.#random();
  }

  id(): string {
    this.#ids += 1;
    return `${this.#role.name}#${this.#role.n}:${this.#ids}`;
  }

  close(): void {
    this.#closed = true;
    this.#custom?.close();
    this.#working?.close();
    this.#plan?.close();
  }

  /** What it changed is the run's now. */
  settle(): void {
    this.#working?.settle();
  }

  get #customState(): StateDraft {
    return (this.#custom ??= this.#closable(new StateDraft(this.#role.custom, this.#act)));
  }

  get #planned(): PlanDraft {
    return (this.#plan ??= this.#closable(new PlanDraft(this.#role.plan, this.#act, this.#role.name)));
  }

  #closable<T extends { close(): void }>(made: T): T {
    if (this.#closed) made.close();
    return made;
  }
}
