import { TroupeError } from "./troupe-error.ts";

/**
 * An interruption, not a failure: the run stops, is out of money, or waits for a person. An activation in which one was thrown is
 * suspended: it is never recorded as done or failed, whatever its code catches.
 * @example
 * import { ControlError } from "troupe";
 *
 * export function fallback(error: unknown, text: string): string {
 *   if (error instanceof ControlError) throw error; // the run was stopped or is out of money: not a failure of the model
 *   return text;
 * }
 */
export class ControlError extends TroupeError {}

/**
 * The run or the caller asked to stop. Code: `ABORTED`. The run ends as `stopped` and can be resumed.
 * @example
 * import { AbortedError } from "troupe";
 *
 * console.log(new AbortedError("enough is said").message); // Stopped: enough is said.
 */
export class AbortedError extends ControlError {
  constructor(reason = "the run was asked to stop", cause?: unknown) {
    super("ABORTED", `Stopped: ${reason}.`, { cause });
  }
}

/**
 * A role or a tool reads the context of a run that was given none. Code: `CONTEXT_MISSING`. The run ends as `stopped`, and continues when it is
 * resumed with a context.
 */
export function contextMissing(who: string): ControlError {
  return new ControlError(
    "CONTEXT_MISSING",
    `Expected this run to have a context, because ${who} reads it, got none. A context is not recorded: give it again, with run, resume, fork or replay(..., { context }).`,
  );
}

/** Another process owns the run, or may take it. Code: `MOVED`. The run ends here as `moved` and continues elsewhere. */
export class MovedError extends ControlError {
  readonly isDrained: boolean;

  constructor(runId: string, { isDrained = false, cause }: { readonly isDrained?: boolean; readonly cause?: unknown } = {}) {
    const why = isDrained ? "was given back, so that another process continues it" : "has another owner now";
    super("MOVED", `Run ${runId} ${why}. Follow it there, or resume it here when that one is done.`, {
      cause,
      data: { runId, isDrained },
    });
    this.isDrained = isDrained;
  }
}

const ONE_CENT = 10_000;

/**
 * The next model call may cost more than the budget has left. Code: `BUDGET`. `data` holds `needed`, `left` and `budget` in micro-dollars,
 * and `of`: the owner of the budget, where it is not the run.
 * @example
 * import { BudgetError } from "troupe";
 *
 * console.log(new BudgetError({ needed: 30_000, left: 20_000, budget: 50_000 }).code); // BUDGET
 */
export class BudgetError extends ControlError {
  constructor(data: { readonly needed: number; readonly left: number; readonly budget: number; readonly of?: string }) {
    const { needed, left, budget, of } = data;
    const whose = of === undefined ? "" : ` in the ${of}`;
    super(
      "BUDGET",
      `The next model call may cost up to ${dollars(needed)}, but ${dollars(left)} of ${dollars(budget)} is left${whose}. Raise the budget to go on.${unitHint(budget)}`,
      { data },
    );
  }
}

function dollars(amount: number): string {
  return `$${(amount / 1_000_000).toFixed(6).replace(/0{1,4}$/, "")}`;
}

function unitHint(budget: number): string {
  if (budget <= 0 || budget >= ONE_CENT) return "";
  return ` A budget is in micro-dollars, so ${budget} is ${dollars(budget)}: for $${budget} write usd(${budget}).`;
}

/**
 * A person must answer and none is available. Code: `WAITING`. The run ends as `waiting`; `team.answer(runId, questionId, text)` resumes
 * it. `data` holds `questionId`, `question` and `role`, and for a role that sleeps or waits for a signal the name of the signal as `wait`.
 * @example
 * import { WaitingError } from "troupe";
 *
 * const { message } = new WaitingError({ questionId: "q1", question: "Publish it?", role: "Clara" });
 * console.log(message); // Clara waits for a human to answer: Publish it?
 */
export class WaitingError extends ControlError {
  constructor(data: { readonly questionId: string; readonly question: string; readonly role: string; readonly wait?: string }) {
    super("WAITING", data.wait === undefined ? `${data.role} waits for a human to answer: ${data.question}` : `${data.question}.`, {
      data,
    });
  }
}

/**
 * A replayed or resumed activation asked for something that its record lacks, or ended differently. Code: `DIFFERENCE`. The message shows
 * both sides.
 * @example
 * import { DifferenceError, type Team } from "troupe";
 *
 * export async function isEqual(team: Team, runId: string): Promise<boolean> {
 *   return !((await team.replay(runId).result).error instanceof DifferenceError);
 * }
 */
export class DifferenceError extends ControlError {}
