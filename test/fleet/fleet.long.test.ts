// @module-tag fleet
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { restateDriver } from "../../src/adapters/restate.ts";
import { canonical, memoryJournal, type RunEvent, type Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { FleetDriver } from "../../src/team/run-driver.ts";
import { hasPostgres, type PostgresProcess, startPostgres } from "../adapters/postgres-process.ts";
import { hasRestate, startRestate } from "../adapters/restate-process.ts";
import { kept, type Service } from "../adapters/service-start.ts";
import { type Child, start } from "../cli/child.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { Member, troublesOf } from "./member.ts";
import { startProvider } from "./provider.ts";
import { deathsInARow, hasLastTry } from "./recorded-deaths.ts";
import { recordedStarts } from "./recorded-starts.ts";
import { figure } from "../long.ts";

const WORKER = fileURLToPath(new URL("restate-worker.mjs", import.meta.url));
const TEAMS = fileURLToPath(new URL("teams.mjs", import.meta.url));
const WORKERS = 3;
const RUNS = 200;
const KILLS = 60;
/** Milliseconds after which the fleet should have done everything. */
const LIMIT = 1_700_000;

/** Waits in real time: the fleet is other processes. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A worker that is started again when it was killed. */
interface Killable {
  readonly log: string;
  /** @param isSpared asked with the log of the process, which is stopped meanwhile @returns whether it was killed */
  kill(isSpared: (log: string) => Promise<boolean>): Promise<boolean>;
  stop(signal: NodeJS.Signals): Promise<number | string>;
}

/** A worker as a program of a user starts one. */
class ProgramMember implements Killable {
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess;
  log = "";
  /** The index in the log at which the present process begins. */
  #fresh = 0;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.#child = this.#begin();
  }

  async stop(signal: NodeJS.Signals): Promise<number | string> {
    const child = this.#child;
    if (child.exitCode !== null) return child.exitCode;
    const ended = new Promise<number | string>((resolve) => child.once("close", (code, by) => resolve(code ?? by ?? "")));
    child.kill(signal);
    return ended;
  }

  async kill(isSpared: (log: string) => Promise<boolean>): Promise<boolean> {
    this.#child.kill("SIGSTOP");
    // Its last lines arrive.
    await pause(50);
    if (await isSpared(this.log.slice(this.#fresh))) {
      this.#child.kill("SIGCONT");
      return false;
    }
    const end = await this.stop("SIGKILL");
    if (end !== "SIGKILL") throw new Error(`Expected a worker that lives until it is killed, got ${end}: ${this.log.slice(-2000)}`);
    this.#fresh = this.log.length;
    this.#child = this.#begin();
    return true;
  }

  #begin(): ChildProcess {
    const child = kept(spawn(process.execPath, [WORKER], { env: { ...process.env, ...this.#env }, stdio: ["ignore", "pipe", "pipe"] }));
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (this.log += text));
    return child;
  }
}

interface Fleet {
  readonly driver: FleetDriver;
  readonly member: () => Killable;
  /** The service that is killed in a turn, and whether a worker is. */
  readonly victims: (turn: number) => { readonly service: Service | undefined; readonly isWorker: boolean };
  readonly troubles: () => readonly string[];
  readonly end: () => Promise<void>;
}

interface Engine {
  readonly name: string;
  readonly canRun: boolean;
  /** Milliseconds between two kills: a worker lives long enough to get a few answers. */
  readonly apart: number;
  begin(database: PostgresProcess, provider: string): Promise<Fleet>;
}

const graphile: Engine = {
  name: "GraphileSession.S2",
  canRun: hasPostgres,
  apart: 1_500,
  async begin(database, provider) {
    const children: Child[] = [];
    const env = { TROUPE_JOURNAL: database.url, FLEET_PROVIDER: provider };
    const begin = (): Child => {
      const child = start(["worker", TEAMS, "--json", "--concurrency", "3"], { cwd: scratchFolder(), env });
      children.push(child);
      return child;
    };
    return {
      driver: graphileDriver({ url: database.url }),
      member: () => new Member(begin),
      victims: (turn) => (turn % 6 === 5 ? { service: database, isWorker: false } : { service: undefined, isWorker: true }),
      troubles: () => troublesOf(children),
      end: async () => children.forEach((child) => child.process.kill("SIGKILL")),
    };
  },
};

const restate: Engine = {
  name: "Restate",
  canRun: hasPostgres && hasRestate,
  apart: 1_000,
  async begin(database, provider) {
    const server = await startRestate();
    const { ingress, admin } = server;
    const env = { FLEET_JOURNAL: database.url, FLEET_INGRESS: ingress, FLEET_ADMIN: admin, FLEET_PROVIDER: provider };
    const members: ProgramMember[] = [];
    return {
      driver: restateDriver({ ingress, admin, timeout: 60_000 }),
      member() {
        const member = new ProgramMember(env);
        members.push(member);
        return member;
      },
      // The worker may die while the server is away, too.
      victims: (turn) => {
        const service = turn % 4 === 3 ? server : turn % 8 === 5 ? database : undefined;
        return { service, isWorker: service === undefined || turn % 8 === 7 };
      },
      troubles: () => members.flatMap(({ log }) => log.split("\n").filter((line) => line.includes("given up"))),
      end: () => server.kill(),
    };
  },
};

async function alone(idea: string): Promise<string> {
  const journal = memoryJournal();
  const { writers } = (await import(TEAMS)) as { writers(means: { readonly journal: Journal }): Team };
  await writers({ journal }).run(idea, { id: "alone" }).result;
  return canonical(await eventsOf(journal, "alone"));
}

// Asked by the one process that the fleet is compared with.
const reference = await startProvider(() => 0);
process.env["FLEET_PROVIDER"] = reference.url;
afterAll(() => reference.close());

/** Each run has the record of a run alone, and no recorded answer twice. */
async function assertAsAlone(all: ReadonlyMap<string, readonly RunEvent[]>): Promise<void> {
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
}

describe.each([graphile, restate].filter(({ canRun }) => canRun))("a fleet under kills: $name", async ({ apart, begin }) => {
  const database = await startPostgres();
  const provider = await startProvider((question) => 30 + (question.length % 7) * 15);
  const { driver, member, victims, troubles, end } = await begin(database, provider.url);
  afterAll(async () => {
    await end();
    await provider.close();
    await database.kill();
  });

  it(
    `does ${RUNS} runs on ${WORKERS} workers through ${KILLS} kills as one process does, and pays no recorded answer twice`,
    { timeout: 2 * LIMIT },
    async () => {
      const journal = postgres({ url: database.url });
      let submitted = 0;
      const submit = async (count: number): Promise<void> => {
        for (let n = 0; n < count; n += 1) {
          submitted += 1;
          await driver.submit({ runId: `run-${submitted}`, team: "writers", idea: `poem ${submitted}` });
        }
      };
      const began = performance.now();
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
      const members = Array.from({ length: WORKERS }, member);
      let [workerKills, serviceKills] = [0, 0];
      for (let turn = 0; workerKills + serviceKills < KILLS; turn += 1) {
        expect(performance.now() - began).toBeLessThan(LIMIT);
        await pause(apart);
        const { service, isWorker } = victims(turn);
        await service?.kill();
        if (service !== undefined) serviceKills += 1;
        if (isWorker && (await members[turn % WORKERS]?.kill((log) => hasLastTry(journal, log))) === true) workerKills += 1;
        if (service !== undefined) await pause((turn * 131) % 900);
        await service?.restart();
        if ((await jobs(25)) < 25) await submit(10);
      }
      while ((await jobs(1)) > 0) {
        if (performance.now() - began > LIMIT) throw new Error(JSON.stringify(await driver.list({ limit: 9 })));
        await pause(250);
      }
      const seconds = (performance.now() - began) / 1000;
      const codes = await Promise.all(
        members.map(async (one) => {
          const code = await one.stop("SIGTERM");
          return code === 0 ? code : `${code}: ${one.log.slice(-4_000)}`;
        }),
      );
      expect({ codes, wrong: troubles() }).toEqual({ codes: members.map(() => 0), wrong: [] });

      const all = new Map<string, readonly RunEvent[]>();
      for (let n = 1; n <= submitted; n += 1) all.set(`run-${n}`, await eventsOf(journal, `run-${n}`));
      await assertAsAlone(all);
      const starts = recordedStarts(all.values());
      for (const [question, calls] of provider.calls) expect(calls).toBeLessThanOrEqual(starts.get(question) ?? 0);
      const causes = [...all.values()].flat().flatMap((event) => (event.type === "run.resumed" ? [event.cause ?? "none"] : []));
      const calls = [...provider.calls.values()].reduce((sum, count) => sum + count, 0);
      const tally = [...new Set(causes)].map((cause) => `${causes.filter((one) => one === cause).length} ${cause}`);
      figure(
        `${submitted} runs, ${workerKills} kills of workers and ${serviceKills} of services, ${seconds.toFixed(0)} s; ${calls} calls for ${4 * submitted} answers; resumes: ${tally.join(", ")}; one, two and more deaths without an answer between them: ${deathsInARow(all.values()).join(", ")}`,
      );
      await driver.close();
      await journal.close();
    },
  );
});
