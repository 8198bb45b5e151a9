import { waterfallCompany } from "../../roles/index.ts";
import { type RunEvent, type RunOptions, type RunResult, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { type MemoryWorkspace, memoryWorkspace } from "../../src/workspace/index.ts";
import { replies } from "../actions/greeter.ts";
import { folderWithTests, pretendSandbox, rootedAt } from "../actions/pretend-sandbox.ts";
import { type TaskReplies, taskModel } from "../actions/task-script.ts";

/** The replies besides those of the small project, and what else differs from the plain case. */
export interface Trial extends Partial<Parameters<typeof waterfallCompany>[0]> {
  readonly replies?: TaskReplies;
  readonly model?: ScriptedModel;
  readonly journal?: Journal;
  readonly scheduler?: "rounds" | "eager";
  readonly run?: RunOptions;
}

/** A company at work on the small project. */
export interface Tried {
  readonly team: Team;
  readonly model: ScriptedModel;
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
}

/** The workspace in memory that tests use; its root is a folder in which the test runner finds the small project's test. */
export function smallWorkspace(): MemoryWorkspace {
  return rootedAt(memoryWorkspace(), folderWithTests());
}

/** The team of a trial, not yet at work. */
export function companyOf(trial: Trial): { readonly team: Team; readonly model: ScriptedModel } {
  const { replies: given = {}, model = taskModel({ ...replies, ...given }), journal, scheduler, run: _run, ...options } = trial;
  const roles = waterfallCompany({ workspace: smallWorkspace(), sandbox: pretendSandbox(() => "passed"), ...options });
  const team = new Team({
    roles,
    model,
    seed: 7,
    ...(journal === undefined ? {} : { journal }),
    ...(scheduler === undefined ? {} : { scheduler }),
  });
  return { team, model };
}

/** Lets a company do its work. */
export async function work(trial: Trial): Promise<Tried> {
  const { team, model } = companyOf(trial);
  const run = team.run("Greet me", { rounds: 30, ...trial.run });
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return { team, model, events, result: await run.result };
}
