// @module-tag fleet
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { canonical, memoryJournal } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { effectTeam, remoteEffects, startWorker } from "../../src/fleet/index.ts";
import { effectPortContract } from "../../src/testing/index.ts";
import { hasPostgres, type PostgresProcess, startPostgres } from "../adapters/postgres-process.ts";
import { type Child, startProgram } from "../adapters/program-process.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { asker, type Death, ideaOf, kinds, mayHappenTwice, type Part, points } from "./effect-child.ts";
import { figure } from "../long.ts";
import { eventsOf } from "../team/recorded.ts";

const RUNS = 12;
const program = await sourceProgram(fileURLToPath(new URL("effect-child.ts", import.meta.url)));

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

describe.runIf(hasPostgres)("effects over Postgres", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const url = server?.url ?? "";
  afterAll(() => server?.kill());
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
      timeout: 1_200_000,
    },
    async () => {
      const done = join(scratchFolder(), "done.txt");
      appendFileSync(done, "");
      const deaths = await killAtEveryPoint({ url, schema: "kills", done, runs: RUNS }, server);
      const journal = postgres({ url, schema: "kills" });
      const starts = await startsIn(journal);
      const times = countOf(readFileSync(done, "utf8").trim().split("\n"));
      let told = 0;
      for (let n = 0; n < RUNS; n += 1) {
        const idea = ideaOf(n);
        const events = await eventsOf(journal, `run-${n}`);
        const uncertain = events.filter((event) => event.type === "step.ended" && event.error?.code === "STEP_UNCERTAIN").length;
        const happened = times.get(idea) ?? 0;
        expect(happened).toBeLessThanOrEqual(starts.get(idea) ?? 0);
        // A person has looked once for each effect of uncertain end.
        if (mayHappenTwice(idea)) expect(happened).toBeGreaterThanOrEqual(1);
        else expect(happened).toBeLessThanOrEqual(1 + uncertain);
        told += uncertain;
        if (uncertain > 0) continue;
        const local = memoryJournal();
        await asker(local, idea).run(idea, { id: "r" }).result;
        expect(canonical(events)).toBe(canonical(await eventsOf(local, "r")));
      }
      const made = `${sum(times)} effects for ${sum(starts)} recorded starts, ${told} uncertain`;
      const deathsText = [...deaths].map(([place, count]) => `${count} ${place}`).join(", ");
      figure(`${RUNS} runs, ${sum(deaths)} deaths (${deathsText}); ${made}`);
      for (const kind of kinds) for (const point of points.worker) expect([...deaths.keys()]).toContain(`worker, ${kind}, ${point}`);
      for (const point of points.coordinator) expect([...deaths.keys()].join()).toMatch(new RegExp(`coordinator, \\w+, ${point}`));
      expect(told).toBeGreaterThan(0);
      await journal.close?.();
    },
  );
});

type Setting = Omit<Part, "role" | "dies">;

/** Lets coordinator and worker die at each of their points in turn, the database sometimes, and starts them again. @returns the deaths by place */
async function killAtEveryPoint(setting: Setting, server: PostgresProcess | undefined): Promise<ReadonlyMap<string, number>> {
  const deaths = new Map<string, number>();
  const count = (place: string): void => void deaths.set(place, (deaths.get(place) ?? 0) + 1);
  const begun = { coordinator: 0, worker: 0 };
  const start = (role: Part["role"]): Living => {
    // The points of one role have no common period with those of the other, so that each pair comes.
    const nth = Math.floor(begun[role] * (role === "worker" ? 1 : 1.25));
    const dies = begun[role] < 2 * setting.runs ? deathsOf[role][nth % deathsOf[role].length] : undefined;
    begun[role] += 1;
    const child = startProgram(program, { ...setting, role, ...(dies === undefined ? {} : { dies }) });
    const living: Living = { child, place: `${role}, ${dies?.kind}, ${dies?.point}`, end: undefined };
    void child.ended.then((end) => (living.end = end));
    return living;
  };
  const living = { coordinator: start("coordinator"), worker: start("worker") };
  for (let turn = 1; living.coordinator.end !== 0; turn += 1) {
    await pause(50);
    for (const role of ["coordinator", "worker"] as const) {
      const { place, end } = living[role];
      if (end === undefined || end === 0) continue;
      count(end === "SIGKILL" ? place : `${role}, of a fault`);
      living[role] = start(role);
    }
    if (turn % 150 > 0) continue;
    count("database");
    await server?.kill();
    await server?.restart();
  }
  living.worker.child.kill("SIGKILL");
  await living.worker.child.ended;
  return deaths;
}

interface Living {
  readonly child: Child;
  readonly place: string;
  /** The exit code or the signal that ended it. */
  end: number | string | undefined;
}

/** The deaths of each role in turn. */
const deathsOf = {
  coordinator: kinds.flatMap((kind) => points.coordinator.map((point): Death => ({ kind, point }))),
  worker: kinds.flatMap((kind) => points.worker.map((point): Death => ({ kind, point }))),
};

/** Returns how often the work of each effect has a recorded start. */
async function startsIn(journal: Journal): Promise<ReadonlyMap<string, number>> {
  const starts: string[] = [];
  for (const { runId } of await journal.runs()) {
    if (!runId.startsWith("effect-")) continue;
    for (const event of await eventsOf(journal, runId)) {
      if (event.type === "step.started") starts.push(workIn(event.request));
    }
  }
  return countOf(starts);
}

/** Returns what is worked on: a step tells it in its request, the call of a tool in its arguments. */
function workIn(request: unknown): string {
  const { of, args } = request as { readonly of?: string; readonly args?: { readonly of: string } };
  return of ?? args?.of ?? "";
}

function countOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((a, b) => a + b, 0);
}
