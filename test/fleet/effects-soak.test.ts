import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { canonical, type Journal, memoryJournal, type RunEvent } from "../../src/index.ts";
import { effectTeam, remoteEffects, startWorker } from "../../src/fleet/index.ts";
import { effectPortContract } from "../../src/testing/index.ts";
import { hasPostgres, type PostgresProcess, startPostgres } from "../adapters/postgres-process.ts";
import { tries } from "../effort.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { asker, type Part, points } from "./effect-child.ts";
import { type EffectProcess, startEffectProcess } from "./effect-process.ts";

const RUNS = tries(0, 12, 30);

async function eventsOf(journal: Journal, runId: string): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of journal.read(runId, 0)) events.push(event);
  return events;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe.runIf(hasPostgres)("effects over Postgres", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const url = server?.url ?? "";
  const children: EffectProcess[] = [];
  afterAll(async () => {
    for (const child of children) await child.kill();
    await server?.kill();
  });
  let schemas = 0;

  effectPortContract(
    { describe, it, expect },
    {
      name: "a worker of a queue in Postgres",
      findsAgain: true,
      async make(effect) {
        schemas += 1;
        const schema = `effects_${schemas}`;
        const [journal, driver] = [postgres({ url, schema }), graphileDriver({ url, schema })];
        const team = effectTeam("action:work", (request, { signal }) => effect(request, signal), { journal });
        const worker = await startWorker({ driver, journal, teams: [team] });
        return {
          open: () => remoteEffects({ driver, journal, effects: ["action:work"] }),
          async close() {
            await worker.drain();
            await driver.close();
            await journal.close?.();
          },
        };
      },
    },
  );

  it(
    `${RUNS} runs of which every process dies at every point are those of one process, and nothing happens twice in silence`,
    {
      timeout: 600_000,
    },
    async () => {
      const done = join(scratchFolder(), "done.txt");
      appendFileSync(done, "");
      const kills = await killAtEveryPoint({ url, schema: "kills", done, runs: RUNS }, server, children);
      const journal = postgres({ url, schema: "kills" });
      const starts = await startsIn(journal);
      const times = countOf(readFileSync(done, "utf8").trim().split("\n"));
      let told = 0;
      for (let n = 0; n < RUNS; n += 1) {
        const idea = `${n % 2 === 0 ? "iron" : "gold"} ${n}`;
        const events = await eventsOf(journal, `run-${n}`);
        const uncertain = events.filter((event) => event.type === "step.ended" && event.error?.code === "STEP_UNCERTAIN").length;
        const happened = times.get(idea) ?? 0;
        expect(happened).toBeLessThanOrEqual(starts.get(idea) ?? 0);
        // A person has looked once for each effect of uncertain end.
        if (n % 2 === 1) expect(happened).toBeLessThanOrEqual(1 + uncertain);
        else expect(happened).toBeGreaterThanOrEqual(1);
        told += uncertain;
        if (uncertain > 0) continue;
        const local = memoryJournal();
        await asker(local).run(idea, { id: "r" }).result;
        expect(canonical(events)).toBe(canonical(await eventsOf(local, "r")));
      }
      process.stderr.write(`${RUNS} runs, ${kills} kills, ${sum(times)} effects for ${sum(starts)} recorded starts, ${told} uncertain\n`);
      expect(told).toBeGreaterThan(0);
      await journal.close?.();
    },
  );
});

type Setting = Omit<Part, "role" | "dies">;

/** Lets coordinator and worker die at each of their points in turn, the database sometimes, and starts them again. @returns the deaths */
async function killAtEveryPoint(setting: Setting, server: PostgresProcess | undefined, children: EffectProcess[]): Promise<number> {
  const deaths = { coordinator: 0, worker: 0, server: 0 };
  const start = (role: Part["role"]): EffectProcess => {
    // The points of one role have no common period with those of the other, so that each pair comes.
    const nth = Math.floor(deaths[role] * (role === "worker" ? 1 : 1.25));
    const dies = deaths[role] < 2 * setting.runs ? points[role][nth % points[role].length] : undefined;
    const child = startEffectProcess({ ...setting, role, ...(dies === undefined ? {} : { dies }) });
    children.push(child);
    return child;
  };
  const living = { coordinator: start("coordinator"), worker: start("worker") };
  for (let turn = 1; !living.coordinator.isDone; turn += 1) {
    await pause(50);
    for (const role of ["coordinator", "worker"] as const) {
      if (!living[role].hasEnded || living[role].isDone) continue;
      deaths[role] += 1;
      living[role] = start(role);
    }
    if (turn % 150 > 0) continue;
    deaths.server += 1;
    await server?.kill();
    await server?.restart();
  }
  await living.worker.kill();
  expect(Math.min(deaths.coordinator, deaths.worker)).toBeGreaterThanOrEqual(points.worker.length);
  return deaths.coordinator + deaths.worker + deaths.server;
}

/** Returns how often the work of each effect has a recorded start. */
async function startsIn(journal: Journal): Promise<ReadonlyMap<string, number>> {
  const starts: string[] = [];
  for (const { runId } of await journal.runs()) {
    if (!runId.startsWith("effect-")) continue;
    for (const event of await eventsOf(journal, runId)) {
      if (event.type === "step.started") starts.push((event.request as { readonly of: string }).of);
    }
  }
  return countOf(starts);
}

function countOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((a, b) => a + b, 0);
}
