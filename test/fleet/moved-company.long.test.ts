// @module-tag fleet
import { rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { waterfallCompany } from "../../roles/index.ts";
import { fileObjects } from "../../src/adapters/objects.ts";
import { demoIdeas, demoModel } from "../../src/cli/demo-script.ts";
import { runWorkspaces } from "../../src/fleet/index.ts";
import { type Journal, memoryJournal, type Run, Team } from "../../src/index.ts";
import { simulatedProcesses } from "../../src/testing/index.ts";
import { chooseSandbox, fileWorkspace, runProcess } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const [first] = await demoIdeas();
if (first === undefined) throw new Error("Expected an idea.");
const game = first;
const sandbox = await chooseSandbox("none");

function companyIn(root: string, journal: Journal): Team {
  return new Team({ roles: waterfallCompany({ workspace: fileWorkspace({ root }), sandbox }), model: demoModel(game), journal, seed: 7 });
}

/** Files with their contents, the history, and what is not committed. */
async function projectAt(root: string): Promise<unknown> {
  const workspace = fileWorkspace({ root, git: false });
  const files: [string, string | undefined][] = [];
  for (const path of await workspace.list()) files.push([path, await workspace.read(path)]);
  const asked = ["log", "--format=%an %s"] as const;
  const [log, status] = await Promise.all([asked, ["status", "--short"]].map((args) => runProcess({ file: "git", args, cwd: root })));
  return { files, log, status };
}

/** Lets a run go on until it has so many events, or its end. */
function eventsReached(run: Run, count: number): Promise<void> {
  return new Promise((resolve) => {
    for (const type of ["step.ended", "act.ended", "round.ended", "run.ended"] as const)
      run.on(type, ({ seq }) => seq >= count && resolve());
  });
}

it(
  "a company whose machine dies goes on on another one, and comes to the project of an undisturbed run",
  { timeout: 1_200_000 },
  async () => {
    const quiet = memoryJournal();
    const whole = scratchFolder();
    expect((await companyIn(whole, quiet).run(game.idea, { id: "r", rounds: 30 }).result).status).toBe("finished");
    let length = 0;
    for await (const { seq } of quiet.read("r", 0)) length = seq;
    const expected = await projectAt(whole);
    for (const isBundled of [true, false]) {
      for (const share of [0.2, 0.4, 0.6, 0.8, 0.95]) {
        const journal = memoryJournal();
        const processes = simulatedProcesses(journal);
        const objects = fileObjects({ dir: scratchFolder() });
        const [a, b] = [runWorkspaces({ objects, folder: scratchFolder() }), runWorkspaces({ objects, folder: scratchFolder() })];
        const dying = processes.start();
        await a.fetch("r", dying.journal);
        const run = companyIn(a.folderOf("r"), dying.journal).run(game.idea, { id: "r", rounds: 30 });
        const puts: Promise<unknown>[] = [];
        let isStoring = isBundled;
        run.on("round.ended", ({ seq }) => void (isStoring && puts.push(a.put("r", seq))));
        await eventsReached(run, Math.floor(length * share));
        isStoring = false;
        await Promise.all(puts);
        dying.kill();
        // The simulated process goes on with the effect that it has begun, and git may still write there.
        await rm(a.folderOf("r"), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
        const second = processes.start();
        await b.fetch("r", second.journal);
        const { status } = await companyIn(b.folderOf("r"), second.journal).run(game.idea, { id: "r", rounds: 30 }).result;
        expect([share, isBundled, status, await projectAt(b.folderOf("r"))]).toEqual([share, isBundled, "finished", expected]);
      }
    }
  },
);
