import type { Ending } from "../../kernel/lifetime.ts";
import { lazyMembers } from "../../kernel/lazy-members.ts";
import type { StepDoor } from "../../kernel/step.ts";

/** What the effect of a recorded step is given. Its key and its signal are made when somebody asks for them: models do not. */
export class RecordedDoor implements StepDoor {
  declare readonly key: string;
  declare readonly signal: AbortSignal;
  readonly mode: StepDoor["mode"];
  readonly ending: Ending;
  readonly attempts: StepDoor["attempts"];
  readonly step: StepDoor["step"];
  readonly #name: () => string;
  #named: string | undefined;

  static readonly #withLazy = lazyMembers<RecordedDoor>({
    key: (door) => (door.#named ??= door.#name()),
    signal: (door) => door.ending.signal,
  });

  /** @param name gives the key */
  constructor(
    name: () => string,
    { mode, ending, attempts, step }: Pick<StepDoor, "mode" | "attempts" | "step"> & { readonly ending: Ending },
  ) {
    this.#name = name;
    this.mode = mode;
    this.ending = ending;
    this.attempts = attempts;
    this.step = step;
    RecordedDoor.#withLazy(this);
  }
}
