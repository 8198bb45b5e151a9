// Teams whose runs are driven by workers: the same teams in one process, and the module of `troupe worker`.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { defineAction, defineRole, defineTool, memoryJournal, Team, usd } from "troupe";
import type { Journal } from "troupe/ports";
import {
  effectTeam,
  jsonLogger,
  remoteEffects,
  type RunDriver,
  type RunWorkspaces,
  runWorkspaces,
  servedTool,
  startWorker,
  type Worker,
} from "troupe/fleet";
import { fileObjects } from "troupe/objects";
import { postgresBudget, postgresLimits } from "troupe/postgres";
import { softwareCompany } from "troupe/roles";
import { memoryRunDriver, scriptedModel } from "troupe/testing";
import { chooseSandbox, fileWorkspace } from "troupe/workspace";
import { z } from "zod";

// #region teams
const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Draft: ${ctx.text}` });
const Polish = defineAction({ name: "Polish", prompt: (ctx) => `Polish: ${ctx.text}` });
const model = scriptedModel(({ messages }) => (String(messages.at(-1)?.content).startsWith("Draft") ? "rain" : "Rain on tin roofs."));

export const poets = ({ journal, driver }: { readonly journal: Journal; readonly driver: RunDriver }): Team =>
  new Team({
    name: "poets",
    roles: [defineRole({ name: "Dora", actions: [Draft] }), defineRole({ name: "Paul", watch: [Draft], actions: [Polish] })],
    model,
    journal,
    driver,
  });
// #endregion

// #region shared
const url = process.env["TROUPE_JOURNAL"] ?? "postgres://troupe@127.0.0.1:5432/troupe";
const budget = postgresBudget({ url, name: "acme", amount: usd(1) });
const limits = postgresLimits({ url, name: "provider", requestsPerSecond: 10 });

export const press = ({ journal, driver }: { readonly journal: Journal; readonly driver: RunDriver }): Team =>
  new Team({ name: "press", roles: [defineRole({ name: "Dora", actions: [Draft] })], model, journal, driver, budget, limits });
// #endregion

// #region effects
// The module of the worker that renders. Another module has the teams that ask.
export const renderer = ({ journal }: { readonly journal: Journal }): Team =>
  effectTeam("step:render", (request) => `a picture for ${JSON.stringify(request)}`, { journal });

const Draw = defineAction({ name: "Draw", run: (ctx) => ctx.step("render", { of: ctx.text }, () => Promise.resolve("drawn here")) });

export const painters = ({ journal, driver }: { readonly journal: Journal; readonly driver: RunDriver }): Team =>
  new Team({
    name: "painters",
    roles: [defineRole({ name: "Pia", actions: [Draw] })],
    journal,
    driver,
    effects: remoteEffects({ driver, journal, effects: ["step:render"] }),
  });
// #endregion

// #region tool
// Calls the tool once, and says what it was told.
const reader = scriptedModel(({ messages }) => {
  const told = messages.find(({ role }) => role === "tool");
  if (told !== undefined) return `There are ${String(told.content)}.`;
  const call = { id: "call_1", type: "function", function: { name: "search", arguments: '{"words":"rain"}' } } as const;
  return { content: "", toolCalls: [call], finishReason: "tool_calls" };
});

const search = defineTool({
  name: "search",
  description: "Searches the archive.",
  effect: "read",
  parameters: z.object({ words: z.string() }),
  execute: ({ words }) => `three poems about ${words}`,
});

// The module of the worker that has the archive. The team that asks has the tool too, which is not run there.
export const archive = ({ journal }: { readonly journal: Journal }): Team => effectTeam("tool:search", servedTool(search), { journal });

export const readers = ({ journal, driver }: { readonly journal: Journal; readonly driver: RunDriver }): Team =>
  new Team({
    name: "readers",
    roles: [defineRole({ name: "Rob", reactMode: "agent", tools: [search] })],
    model: reader,
    journal,
    driver,
    effects: remoteEffects({ driver, journal, effects: ["tool:search"] }),
  });
// #endregion

// #region company
// A scripted model stands for a real one. The product manager alone has words here: it decides what a product must do.
const brief = { speech: "It is small.", name: "shop", size: "S", stack: "node", assumptions: [], questions: [] };
const check = { kind: "command", steps: [{ run: ["node", "shop.js"] }] };
const criterion = { id: "A1", priority: "P0", given: "a shop", when: "it opens", then: "it sells", check };
const builder = scriptedModel(() => JSON.stringify({ ...brief, criteria: [criterion] }));

const sandbox = await chooseSandbox("auto");

interface WorkerMeans {
  readonly journal: Journal;
  readonly driver: RunDriver;
  readonly workspaces: Pick<RunWorkspaces, "folderOf">;
}

export const company = ({ journal, driver, workspaces }: WorkerMeans): Team =>
  new Team({
    name: "company",
    roles: ({ runId }) => softwareCompany({ workspace: fileWorkspace({ root: workspaces.folderOf(runId) }), sandbox }),
    model: builder,
    journal,
    driver,
  });
// #endregion

// #region worker
const journal = memoryJournal();
const driver = memoryRunDriver();

async function startFleet(): Promise<Worker> {
  const worker = await startWorker({
    driver,
    journal,
    teams: [poets({ journal, driver })],
    concurrency: 8,
    logger: jsonLogger({ level: "warn" }),
  });
  process.once("SIGTERM", () => void worker.drain()); // gives its runs back
  return worker;
}
// #endregion

// #region workspaces
async function startWithFolders(): Promise<Worker> {
  const objects = fileObjects({ dir: "/mnt/shared/troupe" });
  const workspaces = runWorkspaces({ objects, folder: "/var/lib/troupe/workspaces" });
  return startWorker({ driver, journal, teams: [poets({ journal, driver })], workspaces });
}
// #endregion

const worker = await (process.argv.includes("--folders") ? startWithFolders() : startFleet());

// #region submit
const team = poets({ journal, driver });
const runId = await team.submit("a poem about rain", { id: "order-17" }); // in any process
// #endregion

while ((await driver.list({ limit: 1 })).length > 0) await setTimeout(5);
for await (const event of journal.read(runId, 0)) {
  if (event.type === "act.ended" && event.role === "Paul") console.log(event.said[0]?.message.content);
  if (event.type === "run.ended") console.log(event.status);
}
await worker.drain();

const far = await startWorker({ driver, journal, teams: [renderer({ journal })] });
const { output } = await painters({ journal, driver }).run("a house").result;
console.log(output?.content);
await far.drain();

const shelf = await startWorker({ driver, journal, teams: [archive({ journal })] });
console.log((await readers({ journal, driver }).run("poems").result).output?.content);
await shelf.drain();

const root = mkdtempSync(join(tmpdir(), "troupe-fleet-"));
const shops = company({ journal, driver, workspaces: { folderOf: (id) => join(root, id) } });
await Promise.all(["tea", "ink"].map((id) => shops.run(`A shop for ${id}`, { id, rounds: 1 }).result));
for (const id of ["tea", "ink"]) console.log(id, readdirSync(join(root, id, "docs")).join(", "));
rmSync(root, { recursive: true });
await driver.close();
