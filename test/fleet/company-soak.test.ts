import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { demoIdeas, demoModel } from "../../src/cli/demo-script.ts";
import { runFolder } from "../../src/fleet/run-folder.ts";
import { type RunDriver, startWorker } from "../../src/fleet/index.ts";
import { type ChatRequest, type Journal, memoryJournal, type Team } from "../../src/index.ts";
import { memoryRunDriver } from "../../src/testing/index.ts";
import { fileWorkspace, runProcess } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { startProvider } from "./provider.ts";

const TEAMS = fileURLToPath(new URL("company-teams.mjs", import.meta.url));
const ideas = await demoIdeas();
const played = new Map(ideas.map((idea) => [idea.id, demoModel(idea)]));

async function answer(question: string): Promise<string> {
  const { idea, request } = JSON.parse(question) as { readonly idea: string; readonly request: ChatRequest };
  const reply = await played.get(idea)?.chat(request, { signal: AbortSignal.timeout(10_000) });
  return JSON.stringify(reply);
}

const provider = await startProvider(() => 20, answer);
process.env["FLEET_PROVIDER"] = provider.url;
afterAll(() => provider.close());

/** The idea of each team of the module. */
const IDEAS: Readonly<Record<string, string>> = { company: "shopping", waterfall: "life", crew: "shopping" };

function ideaOf(team: string): string {
  return ideas.find(({ id }) => id === IDEAS[team])?.idea ?? "";
}

interface Means {
  readonly journal: Journal;
  readonly driver?: RunDriver;
  readonly workspaces: { folderOf(runId: string): string };
}

async function teamsWith(means: Means): Promise<readonly Team[]> {
  const module = (await import(TEAMS)) as Readonly<Record<string, (means: Means) => Team>>;
  return Object.values(module).map((make) => make(means));
}

/** Files with their contents, the history, and what is not committed. */
async function projectAt(root: string): Promise<unknown> {
  const workspace = fileWorkspace({ root, git: false });
  const files: [string, string | undefined][] = [];
  for (const path of await workspace.list()) files.push([path, await workspace.read(path)]);
  const asked = [
    ["log", "--format=%an %s"],
    ["status", "--short"],
  ];
  const [log, status] = await Promise.all(asked.map((args) => runProcess({ file: "git", args, cwd: root })));
  return { files, log, status };
}

async function outcomeOf(journal: Journal, runId: string): Promise<unknown> {
  let last: unknown;
  for await (const event of journal.read(runId, 0)) if (event.type === "run.ended") last = event.status;
  return last;
}

/** The project of each team, made by a run alone. */
async function projectsAlone(): Promise<ReadonlyMap<string, unknown>> {
  const [journal, folder] = [memoryJournal(), scratchFolder()];
  const projects = new Map<string, unknown>();
  for (const team of await teamsWith({ journal, workspaces: { folderOf: (runId) => runFolder(folder, runId) } })) {
    const { status, output } = await team.run(ideaOf(team.name), { id: team.name }).result;
    expect([team.name, status, /: done$|^All \d+ tests passed/m.test(output?.content ?? "")]).toEqual([team.name, "finished", true]);
    projects.set(team.name, await projectAt(runFolder(folder, team.name)));
  }
  return projects;
}

it(
  "one worker does several companies and crews at once, and each run has a finished project of its own",
  { timeout: 300_000 },
  async () => {
    const [journal, driver, folder] = [memoryJournal(), memoryRunDriver(), scratchFolder()];
    const teams = await teamsWith({ journal, driver, workspaces: { folderOf: (runId) => runFolder(folder, runId) } });
    const alone = await projectsAlone();
    const submitted = teams.flatMap((team) => ["a", "b"].map((mark) => ({ team, runId: `${team.name}-${mark}` })));
    for (const { team, runId } of submitted) await driver.submit({ runId, team: team.name, idea: ideaOf(team.name) });
    const worker = await startWorker({ driver, journal, teams });
    while ((await driver.list({ limit: 1 })).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await worker.drain();
    for (const { team, runId } of submitted) {
      expect([runId, await outcomeOf(journal, runId)]).toEqual([runId, "finished"]);
      expect([runId, await projectAt(runFolder(folder, runId))]).toEqual([runId, alone.get(team.name)]);
    }
  },
);
