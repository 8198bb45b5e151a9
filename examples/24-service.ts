// A team as a service: it logs what happens, goes on at start with the runs that a former process left, and stops when the system says so.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAction, defineRole, type Logger, type Run, type RunEvent, Team } from "troupe";
import type { Journal } from "troupe/ports";
import { sqlite } from "troupe/sqlite";
import { scriptedModel } from "troupe/testing";

// #region team
const folder = mkdtempSync(join(tmpdir(), "troupe-"));
const path = join(folder, "runs.db");
const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Write a line about ${ctx.text}.` });
const Shorten = defineAction({ name: "Shorten", prompt: (ctx) => `Shorten this: ${ctx.text}` });
const roles = [defineRole({ name: "Wim", actions: [Draft] }), defineRole({ name: "Eda", watch: [Draft], actions: [Shorten] })];
const model = () => scriptedModel(["The sea is wide, and blue.", "The sea is wide."]);
// #endregion

// #region logging
/** One line of JSON for each entry. Give its text to the logger of your program instead. */
function log(level: string, text: string, facts: object = {}): void {
  console.log(JSON.stringify({ level, text, ...facts }));
}

const logger: Logger = {
  debug: () => undefined,
  info: (text) => log("info", text),
  warn: (text) => log("warn", text),
  error: (text) => log("error", text),
};

/** Logs what a run does. Messages may hold private text, so only their length is logged. */
function watch(run: Run): void {
  run.on("act.ended", ({ role, said }) => log("info", "said", { run: run.id, role, length: said[0]?.message.content.length }));
  run.on("act.failed", ({ role, error }) => log("error", error.message, { run: run.id, role, code: error.code }));
  run.on("warning", ({ role, text }) => log("warn", text, { run: run.id, role }));
  void run.result.then(({ status, cost, rounds }) => log("info", status, { run: run.id, cost: cost.known, rounds }));
}
// #endregion

// #region service
/** True when the journal says that the run was still going on, or was stopped. */
async function isOpen(journal: Journal, runId: string): Promise<boolean> {
  let last: RunEvent | undefined;
  for await (const event of journal.read(runId, 0)) last = event;
  return last?.type !== "run.ended" || last.status === "stopped";
}

async function startService() {
  const team = new Team({ roles, model: model(), journal: sqlite({ path }), logger });
  const runs = new Map<string, Run>();
  const begin = (run: Run): Promise<unknown> => {
    if (runs.has(run.id)) return run.result;
    runs.set(run.id, run);
    watch(run);
    return run.result.finally(() => runs.delete(run.id));
  };
  for (const { runId } of await team.journal.runs()) if (await isOpen(team.journal, runId)) void begin(team.resume(runId));
  return {
    run: (idea: string, id: string) => begin(team.run(idea, { id })), // the same id again gives the same run, not a second one
    stop: async () => {
      const ended = [...runs.values()].map((run) => run.result);
      for (const run of runs.values()) run.stop("the service stops");
      await Promise.all(ended);
      await team.journal.close();
    },
  };
}

const service = await startService();
process.once("SIGTERM", () => void service.stop());
// #endregion

await service.run("the sea", "order-1");
const second = service.run("the land", "order-2");
await service.stop();
await second;
const next = await startService(); // goes on with order-2, which the stop has interrupted
await next.run("the land", "order-2");
await next.stop();
process.removeAllListeners("SIGTERM");
rmSync(folder, { recursive: true });
