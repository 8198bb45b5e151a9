import { expect } from "vitest";
import { type Delivery, softwareCompany } from "../../roles/index.ts";
import type { SoftwareCompanyOptions } from "../../roles/company/software-company.ts";
import { VerificationCache } from "../../src/checks/verification-cache.ts";
import type { Verifier } from "../../src/checks/index.ts";
import { memoryJournal, type RunResult, Team } from "../../src/index.ts";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { chooseSandbox, type FileWorkspace, fileWorkspace, openWorkspace, type Sandbox } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { accepted, adding, around, brief, roleModel, type RoleScript, test as written } from "./adder.ts";

const isolated = await chooseSandbox("auto");
/** The sandbox of the trials: one that isolates, where there is one. */
export const sandbox: Sandbox = isolated.kind === "bubblewrap" ? isolated : await chooseSandbox("none");

const seen = new VerificationCache(sandbox);

/**
 * Verifies what no trial has verified before, and takes the rest from it, red or green: the same few projects are what all companies of the
 * trials come to.
 */
const verifyOnce: Verifier = ({ sandbox: _sandbox, ...request }) => seen.verify(request, () => true);

/** A company that has worked. */
export interface Tried {
  readonly result: RunResult;
  readonly delivery: Delivery;
  readonly workspace: FileWorkspace;
  readonly calls: ReturnType<typeof roleModel>["calls"];
  readonly model: ScriptedModel;
  readonly team: Team;
}

/** A person who says one thing after another. */
function saying(says: readonly string[]): () => string {
  let count = 0;
  return () => says[count++] ?? "";
}

/** Lets a company work, and replays its run into an empty folder. */
export async function work(
  script: RoleScript,
  options: Partial<SoftwareCompanyOptions> = {},
  idea = "A command that adds two numbers",
  says: readonly string[] = [],
): Promise<Tried> {
  // Commits take most of the time, and are the matter of other tests.
  const workspace = await openWorkspace({ root: scratchFolder(), git: false });
  const model = roleModel(script);
  const journal = memoryJournal();
  const team = new Team({
    roles: softwareCompany({ workspace, sandbox, verify: verifyOnce, ...options }),
    model,
    journal,
    seed: 1,
    human: saying(says),
  });
  const result = await team.run(idea, { id: "run" }).result;
  const replayed = new Team({
    roles: softwareCompany({ workspace: fileWorkspace({ root: scratchFolder(), git: false }), sandbox, ...options }),
    model: roleModel({}),
    journal,
    seed: 1,
  });
  expect((await replayed.replay("run").result).status).toBe(result.status);
  return { result, delivery: result.output?.instructContent as Delivery, workspace, calls: model.calls, model, team };
}

/** A call of the tool `done`. */
export const done = ["done", { summary: "An adder." }] as const;
/** A call that writes files. */
export const files = (...own: readonly { path: string; content: string }[]) => ["write_files", { files: own }] as const;
/** A call that writes the whole adder. */
export const whole = (body: string) => files(...around, adding(body), written);
/** The replies of the others for a small product. */
export const rest = { Alice: [brief("S")], Vera: [accepted] };
