import { listOf, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import type { StepPort } from "../kernel/step.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import { toolFailure, toolOutput } from "../tool/tool-result.ts";
import {
  begunFork,
  type CheckedPlace,
  type Command,
  commandText,
  isCommand,
  placeOptions,
  settledWork,
  stepsOf,
  timeForChecks,
} from "./own-checks.ts";

/** Options of {@link checkedDoneTool}. */
export interface CheckedDoneOptions extends CheckedPlace {
  /** Commands, each a program and its arguments, that must end with code 0. At least one. */
  readonly checks: readonly Command[];
}

const doneOptions: Known<CheckedDoneOptions> = { ...placeOptions, checks: kinds.list(kinds.texts) };

const parameters = z.object({
  answer: z.string().min(1).max(100_000).describe("The answer to the task: what was done, and what came of it."),
});

/**
 * Makes the tool `done`, by which an agent ends its work: it runs the checks in the sandbox, and refuses the end while one fails. In a fork it also
 * merges the work into the project.
 *
 * @throws UsageError `OPTION_INVALID` without a check
 */
export function checkedDoneTool(options: CheckedDoneOptions): Tool<{ answer: string }> {
  checkGivenOptions("checkedDoneTool", options, doneOptions);
  const { checks, fork, ...place } = options;
  takes("checkedDoneTool", "checks", checks, listOf({ says: "a command", fits: isCommand }));
  if (checks.length === 0)
    throw new UsageError("OPTION_INVALID", "Expected at least one check, got none. Without checks an agent needs no such tool.");
  const tool = defineTool({
    name: "done",
    description: `Ends the work with its answer, once these commands succeed: ${checks.map(commandText).join("; ")}. It runs them itself, and reports what fails.`,
    parameters,
    permission: "allow",
    idempotent: true,
    parallel: false,
    ends: true,
    again: fork !== undefined,
    timeout: timeForChecks(checks.length, options),
    execute: async ({ answer }, ctx) => {
      const work = { commands: checks, steps: stepsOf(ctx), signal: ctx.signal, clock: ctx.clock, message: answer };
      const why = await settledWork({ ...place, fork }, work);
      if (why === undefined) return toolOutput("All checks succeed.", { data: { status: "success", answer } });
      return toolFailure("Expected all checks to succeed before the end. Repair what failed and call done again.", { output: why });
    },
  });
  return fork === undefined ? tool : Object.freeze({ ...tool, opens: async (steps: StepPort) => [await begunFork(steps, fork)] });
}
