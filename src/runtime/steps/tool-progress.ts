import type { Clock } from "../../kernel/clock.ts";
import type { StepDoor } from "../../kernel/step.ts";
import type { RoleTurn } from "../turn/turn.ts";
import type { AskedStep } from "./tries.ts";

const GAP = 100;

/**
 * The progress of one call of a tool for the observers of a run. It owns the string that waits for its turn.
 *
 * ToolProgress.P1 (`say`) a string that comes sooner than 100 ms after the last is reported when the time is up, unless a newer one comes.
 * ToolProgress.P2 (`end`) the newest string is reported before the call has its answer, and none after.
 */
export class ToolProgress {
  readonly #clock: Clock;
  readonly #reporter: () => ((text: string) => void) | undefined;
  #waiting: string | undefined;
  #cancel: (() => void) | undefined;
  #hasEnded = false;

  /** @param reporter returns what reports to the observers; undefined while there is none: then nothing is kept and no timer is set */
  constructor(clock: Clock, reporter: () => ((text: string) => void) | undefined) {
    this.#clock = clock;
    this.#reporter = reporter;
  }

  readonly say = (text: string): void => {
    if (this.#hasEnded) return;
    if (this.#cancel !== undefined) {
      this.#waiting = text;
      return;
    }
    const report = this.#reporter();
    if (report === undefined) return;
    this.#cancel = this.#clock.timer(GAP, () => {
      this.#cancel = undefined;
      this.#next();
    });
    report(text);
  };

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancel?.();
    if (this.#waiting !== undefined) this.#reporter()?.(this.#waiting);
  }

  #next(): void {
    const text = this.#waiting;
    this.#waiting = undefined;
    if (text !== undefined) this.say(text);
  }
}

/** Undefined for a step that is no call of a tool. */
export function progressOf({ tools, role, started }: RoleTurn, { key, spec: { kind, name: tool } }: AskedStep): ToolProgress | undefined {
  if (kind !== "tool") return undefined;
  const { clock, host, mask } = tools;
  return new ToolProgress(clock, () => {
    const emit = host.tell("tool.progress");
    return emit && ((text) => emit({ type: "tool.progress", role: role.name, act: started.act, step: key, tool, text: mask(text) }));
  });
}

export function bothProgress(own: StepDoor["progress"], above: StepDoor["progress"]): StepDoor["progress"] {
  if (own === undefined || above === undefined) return own;
  return (text) => {
    own(text);
    above(text);
  };
}
