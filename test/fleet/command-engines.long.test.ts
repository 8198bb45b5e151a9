// @module-tag fleet
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { postgres } from "../../src/adapters/postgres.ts";
import { canonical, memoryJournal, type Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { hasPostgres, startPostgres } from "../adapters/postgres-process.ts";
import { hasRestate, startRestate } from "../adapters/restate-process.ts";
import { type Child, run, start } from "../cli/child.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { answerTo, startProvider } from "./provider.ts";

const TEAMS = fileURLToPath(new URL("teams.mjs", import.meta.url));
const RUNS = 16;
/** Milliseconds of the call during which a new worker is deployed. */
const LONG = 3_000;
/** The question of that call ends with the name of the engine. */
const LONG_QUESTION = /^Plan: a long deploy on (\w+)$/m;

interface Engine {
  readonly name: string;
  readonly canRun: boolean;
  /** Starts what the engine needs beside the database. @returns the value of TROUPE_ENGINE */
  begin(): Promise<{ readonly engine: string; end(): Promise<void> }>;
}

const engines: readonly Engine[] = [
  { name: "graphile", canRun: hasPostgres, begin: async () => ({ engine: "graphile", end: async () => undefined }) },
  {
    name: "restate",
    canRun: hasPostgres && hasRestate,
    async begin() {
      const { ingress, admin, kill } = await startRestate();
      return { engine: `restate://${new URL(ingress).host}?admin=${admin}`, end: kill };
    },
  },
];

// The module of teams reads its address once.
/** Called when the old worker of an engine drains. */
const onDeploy = new Map<string, () => void>();
const deploys = new Map(engines.map(({ name }) => [name, new Promise<void>((resolve) => void onDeploy.set(name, resolve))]));

/** A long call ends after the deploy has begun, however long the start of the new worker takes. */
async function answer(question: string): Promise<string> {
  await deploys.get(LONG_QUESTION.exec(question)?.[1] ?? "");
  return answerTo(question);
}

const provider = await startProvider((question) => (LONG_QUESTION.test(question) ? LONG : question.includes("slow") ? 3_000 : 150), answer);
afterAll(() => provider.close());

const expectedBy = async (idea: string): Promise<string> => {
  const journal = memoryJournal();
  const { writers } = (await import(TEAMS)) as { writers(means: { readonly journal: Journal }): Team };
  await writers({ journal }).run(idea, { id: "alone" }).result;
  return canonical(await eventsOf(journal, "alone"));
};

describe.each(engines.filter(({ canRun }) => canRun))("the commands of a fleet on $name", async ({ name, begin }) => {
  const database = await startPostgres();
  const { engine, end } = await begin();
  const running: Child[] = [];
  afterAll(async () => {
    for (const child of running) child.process.kill("SIGKILL");
    await end();
    await database.kill();
  });
  const o = { cwd: scratchFolder(), env: { TROUPE_JOURNAL: database.url, TROUPE_ENGINE: engine, FLEET_PROVIDER: provider.url } };
  const troupe = (...words: readonly string[]): ReturnType<typeof run> => run(words, o);

  /** Runs a command that must end well. */
  async function succeeds(...words: readonly string[]): Promise<void> {
    const { code, stderr } = await troupe(...words);
    expect({ code, said: code === 0 ? "" : stderr }).toEqual({ code: 0, said: "" });
  }

  async function startWorker(...words: readonly string[]): Promise<Child> {
    const child = start(["worker", TEAMS, "--json", "--concurrency", "4", ...words], o);
    running.push(child);
    await child.until("stdout", /"type":"working"/);
    return child;
  }

  async function listed(type: "run" | "worker"): Promise<readonly { readonly [name: string]: unknown }[]> {
    const { stdout } = await troupe("ps", "--json");
    const rows = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { readonly [name: string]: unknown }]));
    return rows.filter((row) => row["type"] === type);
  }

  it("do all runs as one process does, while a worker is killed and another one drained", { timeout: 900_000 }, async () => {
    const ids = Array.from({ length: RUNS }, (_, n) => `run-${n}`);
    await Promise.all(ids.map((id) => troupe("submit", "--team", "writers", "--id", id, `poem ${id}`)));
    expect((await listed("run")).map(({ status }) => status)).toEqual(ids.map(() => "waits for a worker"));
    const [killed, drained] = [await startWorker(), await startWorker()];
    await killed.until("stderr", /A run begins/);
    process.kill(Number(/"pid":(\d+)/.exec(killed.said.stdout)?.[1]), "SIGKILL");
    await killed.until("stderr", /The worker died, and is started again/);
    await killed.until("stdout", /"type":"working"[^]*"type":"working"/);
    const workers = await listed("worker");
    expect(workers.length).toBe(2);
    const oldest = workers.toSorted((one, other) => Number(one["since"]) - Number(other["since"]))[0];
    await succeeds("drain", "--worker", String(oldest?.["id"]));
    expect(await drained.ended).toBe(0);
    expect(await troupe("drain", "--worker", String(oldest?.["id"]))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("WORKER_UNKNOWN"),
    });
    for (const id of ids) expect((await troupe("logs", "-f", id)).stdout).toMatch(/run\.ended +finished/);
    const journal = postgres({ url: database.url });
    process.env["FLEET_PROVIDER"] = provider.url;
    for (const id of ids) expect(canonical(await eventsOf(journal, id))).toBe(await expectedBy(`poem ${id}`));
    await journal.close();
    await succeeds("drain");
    expect(await killed.ended).toBe(0);
    expect(await listed("worker")).toEqual([]);
  });

  it(
    "WorkerParent.P3 deploy during a long call: it ends where it began, another worker continues, no answer is paid for twice",
    { timeout: LONG + 600_000 },
    async () => {
      const old = await startWorker("--grace", `${LONG / 1_000 + 120}s`);
      await troupe("submit", "--team", "writers", "--id", "three", `a long deploy on ${name}`);
      await old.until("stderr", /A run begins.*"three"/);
      const late = await startWorker();
      old.process.kill("SIGTERM");
      await old.until("stderr", /The worker drains/);
      onDeploy.get(name)?.();
      expect(await old.ended).toBe(0);
      expect((await troupe("logs", "-f", "three")).stdout).toMatch(/run\.ended +finished/);
      const calls = [...provider.calls].filter(([question]) => question.includes(`long deploy on ${name}`));
      expect(calls.map(([, count]) => count)).toEqual(calls.map(() => 1));
      await late.until("stderr", /A run ends.*"three".*"finished"/);
      late.process.kill("SIGTERM");
      expect(await late.ended).toBe(0);
    },
  );
});
