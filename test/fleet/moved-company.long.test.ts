// @module-tag fleet
import { rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { waterfallCompany } from "../../roles/index.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { fileObjects } from "../../src/adapters/objects.ts";
import { demoIdeas, demoModel } from "../../src/cli/demo-script.ts";
import { runWorkspaces } from "../../src/fleet/index.ts";
import { memoryJournal, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { simulatedProcesses, type SimulatedProcess } from "../simulated-processes.ts";
import { chooseSandbox, fileWorkspace, type Workspace } from "../../src/workspace/index.ts";
import { runProcess } from "../../src/workspace/process.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const [first] = await demoIdeas();
if (first === undefined) throw new Error("Expected an idea.");
const game = first;
const sandbox = await chooseSandbox("none");

function companyIn(workspace: Workspace, journal: Journal): Team {
  return new Team({ roles: waterfallCompany({ workspace, sandbox }), model: demoModel(game), journal, seed: 7 });
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

/** A journal that gets the events before `cut`; then its process dies. */
function dyingAt(cut: number, { journal, kill }: SimulatedProcess, died: () => void): Journal {
  const append: Journal["append"] = async (runId, epoch, seq, batch) => {
    if (seq + batch.length <= cut) return journal.append(runId, epoch, seq, batch);
    if (seq < cut) await journal.append(runId, epoch, seq, batch.slice(0, cut - seq));
    kill();
    died();
    return journal.append(runId, epoch, cut, batch);
  };
  return { ...journal, append };
}

it(
  "a company whose machine dies continues on another one, and comes to the project of an undisturbed run",
  { timeout: 1_200_000 },
  async () => {
    const quiet = memoryJournal();
    const whole = scratchFolder();
    expect((await companyIn(fileWorkspace({ root: whole }), quiet).run(game.idea, { id: "r", rounds: 30 }).result).status).toBe("finished");
    const { length } = await eventsOf(quiet, "r");
    const expected = await projectAt(whole);
    for (const isBundled of [true, false]) {
      for (const share of [0.2, 0.4, 0.6, 0.8, 0.95]) {
        const journal = memoryJournal();
        const processes = simulatedProcesses(journal);
        const objects = fileObjects({ dir: scratchFolder() });
        const [a, b] = [runWorkspaces({ objects, folder: scratchFolder() }), runWorkspaces({ objects, folder: scratchFolder() })];
        const dying = processes.start();
        await a.fetch("r", dying.journal);
        const workspace = fileWorkspace({ root: a.folderOf("r") });
        const cut = Math.floor(length * share);
        await new Promise<void>((died) => {
          companyIn(workspace, dyingAt(cut, dying, died)).run(game.idea, { id: "r", rounds: 30 });
        });
        // Work in flight ends. The bundle has all that is in the folder, and the number of the first round, as if it had been very slow.
        await nextMacrotask();
        await workspace.prepareGit();
        const round = (await eventsOf(journal, "r")).find(({ type }) => type === "round.ended");
        if (isBundled) expect(await a.put("r", round?.seq ?? 0)).toBe(true);
        await rm(a.folderOf("r"), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
        const second = processes.start();
        await b.fetch("r", second.journal);
        const root = b.folderOf("r");
        const { status } = await companyIn(fileWorkspace({ root }), second.journal).run(game.idea, { id: "r", rounds: 30 }).result;
        expect([share, isBundled, status, await projectAt(root)]).toEqual([share, isBundled, "finished", expected]);
      }
    }
  },
);
