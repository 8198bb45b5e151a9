import { TroupeError } from "./troupe-error.ts";

/**
 * An interruption, not a failure: the run stops, is out of money, or waits for a person. After one was thrown inside an activation, that
 * activation can only be suspended: it stays open and is never recorded as done or failed, whatever its code catches.
 *
 * @example
 * import { ControlError, defineAction } from "troupe";
 *
 * export const Summarise = defineAction({
 *   name: "Summarise",
 *   run: async (ctx) => {
 *     try {
 *       return await ctx.ask(`Summarise: ${ctx.text}`);
 *     } catch (error) {
 *       if (error instanceof ControlError) throw error; // the run was stopped or is out of money: not a failure of the model
 *       return ctx.text;
 *     }
 *   },
 * });
 */
export class ControlError extends TroupeError {}

/**
 * The run or the caller asked to stop. Code: `ABORTED`. The run ends with status `stopped` and can be resumed.
 *
 * @example
 * import { AbortedError, defineRole, Team } from "troupe";
 *
 * const stop = new AbortController();
 * const sleeper = defineRole({ name: "Sly", react: () => stop.abort() });
 * const { status, error } = await new Team({ roles: [sleeper] }).run("sleep", { signal: stop.signal }).result;
 * console.log(status, error instanceof AbortedError); // stopped true
 */
export class AbortedError extends ControlError {
  constructor(reason = "the run was asked to stop", cause?: unknown) {
    super("ABORTED", `Stopped: ${reason}.`, cause === undefined ? {} : { cause });
  }
}

/**
 * The run has another owner, or its owner gave it up so that another process can take it. Code: `MOVED`. The run ends here with status
 * `moved` and records nothing; it goes on elsewhere.
 */
export class MovedError extends ControlError {
  /** True where the owner gave the run back by itself. */
  readonly isDrained: boolean;

  constructor(runId: string, { isDrained = false, cause }: { readonly isDrained?: boolean; readonly cause?: unknown } = {}) {
    const why = isDrained ? "was given back, so that another process goes on with it" : "has another owner now";
    super("MOVED", `Run ${runId} ${why}. Follow it there, or resume it here when that one is done.`, {
      ...(cause === undefined ? {} : { cause }),
      data: { runId, isDrained },
    });
    this.isDrained = isDrained;
  }
}

/** Budgets below one cent are mostly dollars that were given as micro-dollars. */
const ONE_CENT = 10_000;

/**
 * The next model call may cost more than the budget has left. Code: `BUDGET`. `data` holds `needed`, `left` and `budget` in micro-dollars,
 * and `of` where the budget is not the run's own.
 *
 * @example
 * import { BudgetError, defineAction, defineRole, Team, usd } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const Draft = defineAction({ name: "Draft", prompt: (ctx) => ctx.text });
 * const model = scriptedModel(["A line."], { price: { input: 1, output: 10 } });
 * const team = new Team({ roles: [defineRole({ name: "Dora", actions: [Draft] })], model, budget: usd(0.01) });
 * const { status, error } = await team.run("a line").result;
 * console.log(status, error instanceof BudgetError); // budget true
 */
export class BudgetError extends ControlError {
  /** @param data `of`: the owner of the budget, where it is not the run */
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

/** Returns micro-dollars as dollars, with all digits. */
function dollars(amount: number): string {
  return `$${(amount / 1_000_000).toFixed(6).replace(/0{1,4}$/, "")}`;
}

function unitHint(budget: number): string {
  if (budget <= 0 || budget >= ONE_CENT) return "";
  return ` A budget is told in micro-dollars, so ${budget} is ${dollars(budget)}: for $${budget} write usd(${budget}).`;
}

/**
 * A person must answer and none is available. Code: `WAITING`. The run ends with status `waiting`; `team.answer(runId, questionId, text)`
 * resumes it. `data` holds `questionId`, `question` and `role`.
 *
 * @example
 * import { defineRole, Team, WaitingError } from "troupe";
 *
 * const clerk = defineRole({ name: "Clara", react: async (rc) => rc.message(await rc.human.ask("Publish it?")) });
 * const { status, error, questions } = await new Team({ roles: [clerk] }).run("a note").result;
 * console.log(status, error instanceof WaitingError); // waiting true
 * console.log(questions[0]?.text); // Publish it?
 */
export class WaitingError extends ControlError {
  constructor(data: { readonly questionId: string; readonly question: string; readonly role: string }) {
    super("WAITING", `${data.role} waits for a human to answer: ${data.question}`, { data });
  }
}

/**
 * A replayed or resumed activation asked for something that its record does not have, or ended in another way. Code: `DIFFERENCE`. The
 * message shows both sides.
 *
 * @example
 * import { defineAction, defineRole, DifferenceError, memoryJournal, Team } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const journal = memoryJournal();
 * function team(prompt: string): Team {
 *   const Draft = defineAction({ name: "Draft", prompt: () => prompt });
 *   return new Team({ roles: [defineRole({ name: "Dora", actions: [Draft] })], model: scriptedModel(["A line."]), journal });
 * }
 * await team("Write a line.").run("go", { id: "one" }).result;
 * const { error } = await team("Write two lines.").replay("one").result;
 * console.log(error instanceof DifferenceError); // true
 */
export class DifferenceError extends ControlError {}
