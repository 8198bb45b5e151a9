import { TroupeError } from "./troupe-error.ts";

/**
 * An interruption, not a failure: the run stops, is out of money, or waits for a person. An activation in which one was thrown is
 * suspended: it is never recorded as done or failed, whatever its code catches.
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
 * The run or the caller asked to stop. Code: `ABORTED`. The run ends as `stopped` and can be resumed.
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

/** Another process owns the run, or may take it. Code: `MOVED`. The run ends here as `moved` and continues elsewhere. */
export class MovedError extends ControlError {
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

const ONE_CENT = 10_000;

/**
 * The next model call may cost more than the budget has left. Code: `BUDGET`. `data` holds `needed`, `left` and `budget` in micro-dollars,
 * and `of`: the owner of the budget, where it is not the run.
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
 * it. `data` holds `questionId`, `question` and `role`.
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
 * A replayed or resumed activation asked for something that its record lacks, or ended differently. Code: `DIFFERENCE`. The message shows
 * both sides.
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
