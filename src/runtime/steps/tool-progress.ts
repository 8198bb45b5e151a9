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
 *
 * @param reporter returns what reports to the observers; undefined while there is none: then nothing is kept and no timer is set
 */
export function toolProgress(clock: Clock, reporter: () => ((text: string) => void) | undefined) {
  let waiting: string | undefined;
  let cancel: (() => void) | undefined;
  let hasEnded = false;
  const say = (text: string): void => {
    if (hasEnded) return;
    if (cancel !== undefined) return void (waiting = text);
    const report = reporter();
    if (report === undefined) return;
    cancel = clock.timer(GAP, () => {
      cancel = undefined;
      const next = waiting;
      waiting = undefined;
      if (next !== undefined) say(next);
    });
    report(text);
  };
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    cancel?.();
    if (waiting !== undefined) reporter()?.(waiting);
  };
  return { say, end };
}

/** Undefined for a step that is no call of a tool. */
export function progressOf(
  { tools, role, started }: RoleTurn,
  { key, spec: { kind, name: tool } }: AskedStep,
): ReturnType<typeof toolProgress> | undefined {
  if (kind !== "tool") return undefined;
  const { clock, host, mask } = tools;
  return toolProgress(clock, () => {
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
