import type { EffectDoor } from "../../role/context.ts";
import type { BudgetPool } from "../../kernel/budget.ts";
import { lazyMembers } from "../../kernel/lazy-members.ts";
import type { StepDoor } from "../../kernel/step.ts";
import { budgetPool } from "../../model/budget-pool.ts";
import type { MicroUsd } from "../../model/money.ts";

/** The door of a step, with whom its effect may ask. The key and the signal are made when somebody asks for them. */
export class AskingDoor implements EffectDoor {
  declare readonly key: string;
  declare readonly signal: AbortSignal;
  declare readonly budget: BudgetPool;
  readonly ending: StepDoor["ending"];
  readonly mode: StepDoor["mode"];
  readonly attempts: StepDoor["attempts"];
  readonly step: StepDoor["step"];
  readonly ask: EffectDoor["ask"];
  readonly human: EffectDoor["human"];
  readonly #door: StepDoor;

  static readonly #withLazy = lazyMembers<AskingDoor>({
    key: (own) => own.#door.key,
    signal: (own) => own.#door.signal,
    budget: (own) => own.#door.attempts.budget ?? budgetPool(Number.MAX_SAFE_INTEGER as MicroUsd),
  });

  constructor(door: StepDoor, { ask, human }: Pick<EffectDoor, "ask" | "human">) {
    this.#door = door;
    this.mode = door.mode;
    this.ending = door.ending;
    this.attempts = door.attempts;
    this.step = door.step;
    this.ask = ask;
    this.human = human;
    AskingDoor.#withLazy(this);
  }
}
