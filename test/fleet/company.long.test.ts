// @module-tag fleet
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { fileObjects } from "../../src/adapters/objects.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { demoIdeas, demoModel } from "../../src/cli/demo-script.ts";
import { runFolder } from "../../src/fleet/run-workspaces.ts";
import { type RunDriver, runWorkspaces, startWorker } from "../../src/fleet/index.ts";
import { canonical, type ChatRequest, type ChatResponse, memoryJournal, type RunEvent, type Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryRunDriver } from "../../src/testing/index.ts";
import { fileWorkspace } from "../../src/workspace/index.ts";
import { runProcess } from "../../src/workspace/process.ts";
import { type Child, run, start } from "../cli/child.ts";
import { hasPostgres, startPostgres } from "../adapters/postgres-process.ts";
import { Member, troublesOf } from "./member.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { calculatorAnswer } from "../roles/calculator.ts";
import { startProvider } from "./provider.ts";
import { eventsOf } from "../team/recorded.ts";

const TEAMS = fileURLToPath(new URL("company-teams.mjs", import.meta.url));
const ideas = await demoIdeas();
const played = new Map(ideas.map((idea) => [idea.id, demoModel(idea)]));

async function answer(question: string): Promise<string> {
  const { idea, request } = JSON.parse(question) as { readonly idea: string; readonly request: ChatRequest };
  const reply = await played.get(idea)?.chat(request, { signal: AbortSignal.timeout(120_000) });
  return JSON.stringify(reply ?? calculated(request));
}

/** An answer for the product of size L, which engineers write side by side in forks of the project. */
function calculated({ messages }: ChatRequest): ChatResponse {
  const usage = { inputTokens: 100, outputTokens: 100 };
  const said = calculatorAnswer(messages as Parameters<typeof calculatorAnswer>[0]);
  if (typeof said === "string") return { content: said, toolCalls: [], finishReason: "stop", usage };
  const calls = (said.toolCalls ?? []).map(
    ({ id = "", name, arguments: given }) => ({ id, type: "function", function: { name, arguments: given } }) as const,
  );
  return { content: "", toolCalls: calls, finishReason: "tool_calls", usage };
}

const provider = await startProvider(() => 20, answer);
process.env["FLEET_PROVIDER"] = provider.url;
afterAll(() => provider.close());

/** The name of the product of size L, which is no bundled idea. */
const CALCULATOR = "calculator";

/** The idea of each team of the module. */
const IDEAS: Readonly<Record<string, string>> = { company: "shopping", waterfall: "life", crew: "shopping", large: CALCULATOR };

function ideaOf(team: string): string {
  return ideas.find(({ id }) => id === IDEAS[team])?.idea ?? "Calculate";
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

function isFinished(events: readonly RunEvent[]): boolean {
  const last = events.at(-1);
  return last?.type === "run.ended" && last.status === "finished";
}

interface Made {
  readonly project: unknown;
  /** The record without times. */
  readonly record: string;
}

/** The project and the record of each team, made by a run alone. */
async function madeAlone(): Promise<ReadonlyMap<string, Made>> {
  const [journal, folder] = [memoryJournal(), scratchFolder()];
  const projects = new Map<string, Made>();
  for (const team of await teamsWith({ journal, workspaces: { folderOf: (runId) => runFolder(folder, runId) } })) {
    const { status, output } = await team.run(ideaOf(team.name), { id: team.name }).result;
    expect([team.name, status, /: done$|^All \d+ tests passed/m.test(output?.content ?? "")]).toEqual([team.name, "finished", true]);
    const record = canonical(await eventsOf(journal, team.name));
    projects.set(team.name, { project: await projectAt(runFolder(folder, team.name)), record });
  }
  return projects;
}

it(
  "one worker does several companies and crews at once, and each run has a finished project of its own",
  { timeout: 1_700_000 },
  async () => {
    const [journal, driver, folder] = [memoryJournal(), memoryRunDriver(), scratchFolder()];
    const teams = await teamsWith({ journal, driver, workspaces: { folderOf: (runId) => runFolder(folder, runId) } });
    const alone = await madeAlone();
    const submitted = teams.flatMap((team) => ["a", "b"].map((mark) => ({ team, runId: `${team.name}-${mark}` })));
    for (const { team, runId } of submitted) await driver.submit({ runId, team: team.name, idea: ideaOf(team.name) });
    const worker = await startWorker({ driver, journal, teams });
    while ((await driver.list({ limit: 1 })).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await worker.drain();
    for (const { team, runId } of submitted) {
      const events = await eventsOf(journal, runId);
      const { project, record } = alone.get(team.name) ?? {};
      expect([runId, isFinished(events), await projectAt(runFolder(folder, runId))]).toEqual([runId, true, project]);
      expect(canonical(events)).toBe(record);
    }
  },
);

const MACHINES = 3;
/** Runs of each team. */
const EACH = 3;
const KILLS = 15;
/** Milliseconds between two kills: a worker lives long enough to do a few steps. */
const APART = 2_500;
const LIMIT = 1_700_000;

describe.runIf(hasPostgres)("companies on machines that die", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const url = server?.url ?? "";
  const children: Child[] = [];
  afterAll(async () => {
    for (const child of children) child.process.kill("SIGKILL");
    await server?.kill();
  });

  it(
    `${EACH} runs of each team on ${MACHINES} machines with folders of their own come through ${KILLS} kills to the projects of runs alone`,
    { timeout: 2 * LIMIT },
    async () => {
      const alone = await madeAlone();
      const [journal, driver, shared] = [postgres({ url }), graphileDriver({ url }), scratchFolder()];
      const runs: { readonly team: string; readonly runId: string }[] = [];
      const submit = async (): Promise<void> => {
        for (const team of Object.keys(IDEAS)) {
          const runId = `${team}-${runs.length}`;
          runs.push({ team, runId });
          await driver.submit({ runId, team, idea: ideaOf(team) });
        }
      };
      for (let n = 0; n < EACH; n += 1) await submit();
      const words = ["worker", TEAMS, "--json", "--concurrency", "2", "--workspaces", `file:${shared}`, "--folder", "projects"];
      const env = { TROUPE_JOURNAL: url, FLEET_PROVIDER: provider.url };
      // A machine that is killed as a whole comes back without its folders.
      const begin = (): Child => {
        const child = start(words, { cwd: scratchFolder(), env });
        children.push(child);
        return child;
      };
      const members = Array.from({ length: MACHINES }, () => new Member(begin));
      const began = performance.now();
      const isDone = async (): Promise<boolean> => (await driver.list({ limit: 1 })).length === 0;
      let kills = 0;
      for (let turn = 0; kills < KILLS; turn += 1) {
        expect(performance.now() - began).toBeLessThan(LIMIT);
        await pause(APART);
        if ((await members[turn % MACHINES]?.kill()) === true) kills += 1;
        if ((await driver.list({ limit: 5 })).length < 5) await submit();
      }
      while (!(await isDone())) {
        expect(performance.now() - began).toBeLessThan(LIMIT);
        await pause(250);
      }
      await Promise.all(members.map((member) => member.stop("SIGTERM")));
      expect(troublesOf(children)).toEqual([]);

      const resumes: string[] = [];
      const visitor = runWorkspaces({ objects: fileObjects({ dir: shared }), folder: scratchFolder() });
      for (const { team, runId } of runs) {
        const events = await eventsOf(journal, runId);
        const root = join(scratchFolder(), runId);
        await visitor.copy(runId, journal, root);
        const { project, record } = alone.get(team) ?? {};
        expect([runId, isFinished(events), await projectAt(root)]).toEqual([runId, true, project]);
        expect(canonical(events)).toBe(record);
        resumes.push(...events.flatMap((event) => (event.type === "run.resumed" ? [event.cause ?? "none"] : [])));
      }
      for (const team of Object.keys(IDEAS)) {
        const cwd = scratchFolder();
        const runId = runs.find((one) => one.team === team)?.runId ?? "";
        const { code, stderr } = await run(["bring", runId, "--workspaces", `file:${shared}`], { cwd, env });
        expect([code, stderr, await projectAt(join(cwd, runId))]).toEqual([0, expect.any(String), alone.get(team)?.project]);
      }
      const seconds = (performance.now() - began) / 1000;
      const tally = [...new Set(resumes)].map((cause) => `${resumes.filter((one) => one === cause).length} ${cause}`);
      process.stderr.write(`\n${runs.length} projects through ${kills} kills in ${seconds.toFixed(0)} s; resumes: ${tally.join(", ")}\n`);
      await driver.close();
      await journal.close();
    },
  );
});

/** Waits in real time: the machines are other processes. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
