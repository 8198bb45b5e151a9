// @module-tag fleet
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { canonical, memoryJournal, type RunEvent, type Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { hasPostgres, startPostgres } from "../adapters/postgres-process.ts";
import { type Child, start } from "../cli/child.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { Member, troublesOf } from "./member.ts";
import { startProvider } from "./provider.ts";
import { deathsInARow, hasLastTry } from "./recorded-deaths.ts";
import { recordedStarts } from "./recorded-starts.ts";
import { figure } from "../long.ts";

const TEAMS = fileURLToPath(new URL("teams.mjs", import.meta.url));
const WORKERS = 3;
const RUNS = 200;
const KILLS = 60;
/** Milliseconds between two kills: a worker lives long enough to get a few answers. */
const APART = 1_500;
/** Milliseconds after which the fleet should have done everything. */
const LIMIT = 1_700_000;

/** Waits in real time: the fleet is other processes. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe.runIf(hasPostgres)("a fleet under kills", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const url = server?.url ?? "";
  const provider = await startProvider((question) => 30 + (question.length % 7) * 15);
  // Asked by the one process that the fleet is compared with.
  const reference = await startProvider(() => 0);
  const children: Child[] = [];
  afterAll(async () => {
    for (const child of children) child.process.kill("SIGKILL");
    await provider.close();
    await reference.close();
    await server?.kill();
  });

  async function alone(idea: string): Promise<string> {
    const journal = memoryJournal();
    const { writers } = (await import(TEAMS)) as { writers(means: { readonly journal: Journal }): Team };
    await writers({ journal }).run(idea, { id: "alone" }).result;
    return canonical(await eventsOf(journal, "alone"));
  }

  it(
    `GraphileSession.S2 does ${RUNS} runs on ${WORKERS} workers through ${KILLS} kills as one process does, and pays no recorded answer twice`,
    { timeout: 2 * LIMIT },
    async () => {
      const env = { TROUPE_JOURNAL: url, FLEET_PROVIDER: provider.url };
      const begin = (): Child => {
        const child = start(["worker", TEAMS, "--json", "--concurrency", "3"], { cwd: scratchFolder(), env });
        children.push(child);
        return child;
      };
      const driver = graphileDriver({ url });
      const journal = postgres({ url });
      let submitted = 0;
      const submit = async (count: number): Promise<void> => {
        for (let n = 0; n < count; n += 1) {
          submitted += 1;
          await driver.submit({ runId: `run-${submitted}`, team: "writers", idea: `poem ${submitted}` });
        }
      };
      await submit(RUNS);
      const began = performance.now();
      const members = Array.from({ length: WORKERS }, () => new Member(begin));
      let [workerKills, serverKills] = [0, 0];
      for (let turn = 0; workerKills + serverKills < KILLS; turn += 1) {
        expect(performance.now() - began).toBeLessThan(LIMIT);
        await pause(APART);
        if (turn % 6 === 5) {
          await server?.kill();
          serverKills += 1;
          await pause((turn * 131) % 900);
          await server?.restart();
        } else {
          const member = members[turn % WORKERS] as Member;
          if (await member.kill((log) => hasLastTry(journal, log))) workerKills += 1;
        }
        if ((await driver.list({ limit: 25 })).length < 25) await submit(10);
      }
      while ((await driver.list({ limit: 1 })).length > 0) {
        expect(performance.now() - began).toBeLessThan(LIMIT);
        await pause(250);
      }
      const seconds = (performance.now() - began) / 1000;
      const codes = await Promise.all(
        members.map(async (member) => {
          const code = await member.stop("SIGTERM");
          return code === 0 ? code : `${code}: ${member.log.slice(-4_000)}`;
        }),
      );
      expect({ codes, wrong: troublesOf(children) }).toEqual({ codes: members.map(() => 0), wrong: [] });

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
      const causes = [...all.values()].flat().flatMap((event) => (event.type === "run.resumed" ? [event.cause ?? "none"] : []));
      const calls = [...provider.calls.values()].reduce((sum, count) => sum + count, 0);
      const tally = [...new Set(causes)].map((cause) => `${causes.filter((one) => one === cause).length} ${cause}`);
      figure(
        `${submitted} runs, ${workerKills} kills of workers and ${serverKills} of the server, ${seconds.toFixed(0)} s; ${calls} calls for ${4 * submitted} answers; resumes: ${tally.join(", ")}; one, two and more deaths without an answer between them: ${deathsInARow(all.values()).join(", ")}`,
      );
      await driver.close();
      await journal.close();
    },
  );
});
