// @module-tag fleet
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { postgres } from "../../src/adapters/postgres.ts";
import { restateDriver } from "../../src/adapters/restate.ts";
import { canonical, memoryJournal, type RunEvent, type Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { hasPostgres, startPostgres } from "../adapters/postgres-process.ts";
import { hasRestate, startRestate } from "../adapters/restate-process.ts";
import { eventsOf } from "../team/recorded.ts";
import { startProvider } from "./provider.ts";
import { deathsInARow, hasLastTry } from "./recorded-deaths.ts";
import { recordedStarts } from "./recorded-starts.ts";
import { figure } from "../long.ts";

const WORKER = fileURLToPath(new URL("restate-worker.mjs", import.meta.url));
const TEAMS = fileURLToPath(new URL("teams.mjs", import.meta.url));
const WORKERS = 3;
const RUNS = 200;
const KILLS = 60;
/** Milliseconds between two kills: a worker lives long enough to get a few answers. */
const APART = 1_000;
/** Milliseconds after which the fleet should have done everything. */
const LIMIT = 1_700_000;

/** Waits in real time: the fleet is other processes. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A worker that is started again when it was killed. */
class Member {
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess;
  log = "";
  /** The place in the log at which the present process begins. */
  #fresh = 0;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.#child = this.#begin();
  }

  /** The end of the process: its code, or the signal. */
  async #killed(signal: NodeJS.Signals): Promise<number | string> {
    const child = this.#child;
    if (child.exitCode !== null) return child.exitCode;
    const ended = new Promise<number | string>((resolve) => child.once("close", (code, by) => resolve(code ?? by ?? "")));
    child.kill(signal);
    return ended;
  }

  /** @param isSpared asked with the log of the process, which stands still meanwhile @returns whether it was killed */
  async kill(isSpared: (log: string) => Promise<boolean>): Promise<boolean> {
    this.#child.kill("SIGSTOP");
    // Its last lines arrive.
    await pause(50);
    if (await isSpared(this.log.slice(this.#fresh))) {
      this.#child.kill("SIGCONT");
      return false;
    }
    const end = await this.#killed("SIGKILL");
    if (end !== "SIGKILL")
      throw new Error(`Expected a worker that lives until it is killed, got an end with ${end}: ${this.log.slice(-2000)}`);
    this.#fresh = this.log.length;
    this.#child = this.#begin();
    return true;
  }

  stop(signal: NodeJS.Signals): Promise<number | string> {
    return this.#killed(signal);
  }

  #begin(): ChildProcess {
    const child = spawn(process.execPath, [WORKER], { env: { ...process.env, ...this.#env }, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (this.log += text));
    return child;
  }
}

describe.runIf(hasPostgres && hasRestate)("a fleet on Restate under kills", async () => {
  const database = hasPostgres && hasRestate ? await startPostgres() : undefined;
  const server = hasPostgres && hasRestate ? await startRestate() : undefined;
  const { ingress = "", admin = "" } = server ?? {};
  const url = database?.url ?? "";
  const provider = await startProvider((question) => 30 + (question.length % 7) * 15);
  // Asked by the one process that the fleet is compared with.
  const reference = await startProvider(() => 0);
  const members: Member[] = [];
  afterAll(async () => {
    for (const member of members) await member.stop("SIGKILL");
    await provider.close();
    await reference.close();
    await server?.kill();
    await database?.kill();
  });

  async function alone(idea: string): Promise<string> {
    const journal = memoryJournal();
    const { writers } = (await import(TEAMS)) as { writers(means: { readonly journal: Journal }): Team };
    await writers({ journal }).run(idea, { id: "alone" }).result;
    return canonical(await eventsOf(journal, "alone"));
  }

  it(`does ${RUNS} runs on ${WORKERS} workers through ${KILLS} kills of workers, server and database`, { timeout: 2 * LIMIT }, async () => {
    const driver = restateDriver({ ingress, admin, timeout: 60_000 });
    const journal = postgres({ url });
    let submitted = 0;
    const submit = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) {
        submitted += 1;
        await driver.submit({ runId: `run-${submitted}`, team: "writers", idea: `poem ${submitted}` });
      }
    };
    /** A server that was just started may answer calls before it answers queries. */
    const jobs = async (limit: number): Promise<number> => {
      for (;;) {
        try {
          return (await driver.list({ limit })).length;
        } catch (error) {
          if (performance.now() - began > LIMIT) throw error;
          await pause(250);
        }
      }
    };
    await submit(RUNS);
    const began = performance.now();
    const env = { FLEET_JOURNAL: url, FLEET_INGRESS: ingress, FLEET_ADMIN: admin, FLEET_PROVIDER: provider.url };
    for (let n = 0; n < WORKERS; n += 1) members.push(new Member(env));
    let [workerKills, serverKills, databaseKills] = [0, 0, 0];
    const killWorker = async (turn: number): Promise<void> => {
      const member = members[turn % WORKERS] as Member;
      if (await member.kill((log) => hasLastTry(journal, log))) workerKills += 1;
    };
    for (let turn = 0; workerKills + serverKills + databaseKills < KILLS; turn += 1) {
      expect(performance.now() - began).toBeLessThan(LIMIT);
      await pause(APART);
      if (turn % 4 === 3) {
        await server?.kill();
        serverKills += 1;
        // The worker may die while the server is away, too.
        if (turn % 8 === 7) await killWorker(turn);
        await pause((turn * 131) % 900);
        await server?.restart();
      } else if (turn % 8 === 5) {
        await database?.kill();
        databaseKills += 1;
        await pause((turn * 131) % 900);
        await database?.restart();
      } else {
        await killWorker(turn);
      }
      if ((await jobs(25)) < 25) await submit(10);
    }
    while ((await jobs(1)) > 0) {
      if (performance.now() - began > LIMIT) throw new Error(JSON.stringify(await driver.list({ limit: 9 })));
      await pause(250);
    }
    const seconds = (performance.now() - began) / 1000;
    expect(await Promise.all(members.map((member) => member.stop("SIGTERM")))).toEqual(members.map(() => 0));
    expect(members.flatMap(({ log }) => log.split("\n").filter((line) => line.includes("given up")))).toEqual([]);

    process.env["FLEET_PROVIDER"] = reference.url;
    const all = new Map<string, readonly RunEvent[]>();
    for (let n = 1; n <= submitted; n += 1) all.set(`run-${n}`, await eventsOf(journal, `run-${n}`));
    const ends = [...all].flatMap(([runId, events]) => {
      const end = events.at(-1);
      return end?.type === "run.ended" && end.status === "finished" ? [] : [{ runId, end }];
    });
    expect(JSON.stringify(ends)).toBe("[]");
    for (const [runId, events] of all) {
      expect(canonical(events)).toBe(await alone(`poem ${runId.slice(4)}`));
      expect(events.filter((event) => event.type === "act.failed")).toEqual([]);
      const answered = events.flatMap((event) => (event.type === "step.ended" && event.ok ? [`${event.act} ${event.key}`] : []));
      expect(new Set(answered).size).toBe(answered.length);
    }
    const starts = recordedStarts(all.values());
    for (const [question, calls] of provider.calls) expect(calls).toBeLessThanOrEqual(starts.get(question) ?? 0);
    const calls = [...provider.calls.values()].reduce((sum, count) => sum + count, 0);
    const causes = [...all.values()].flat().flatMap((event) => (event.type === "run.resumed" ? [event.cause ?? "none"] : []));
    const tally = [...new Set(causes)].map((cause) => `${causes.filter((one) => one === cause).length} ${cause}`);
    const shares = members.map(({ log }) => log.split("A run begins").length - 1).join(", ");
    figure(
      `${submitted} runs, ${workerKills} kills of workers, ${serverKills} of the server and ${databaseKills} of the database, ${seconds.toFixed(0)} s; ${calls} calls for ${4 * submitted} answers; resumes: ${tally.join(", ")}; one, two and more deaths without an answer between them: ${deathsInARow(all.values()).join(", ")}; runs begun by worker: ${shares}`,
    );
    await driver.close();
    await journal.close();
  });
});
