import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../src/role/context.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { type Company, expectSameEnd, live, type Lived } from "./lives.ts";
import { type Latency, Outside, shuffled, stepLabel } from "./outside.ts";
import { tries } from "../long.ts";

/** A program of steps for the body of an activation. */
type Program =
  | { readonly kind: "step"; readonly fails: boolean }
  | { readonly kind: "one after another" | "all" | "all settled" | "race" | "any"; readonly parts: readonly Program[] }
  | { readonly kind: "left alone"; readonly part: Program };

const { program } = fc.letrec<{ program: Program }>((tie) => {
  const parts = fc.array(tie("program"), { minLength: 1, maxLength: 4 });
  const several = fc.constantFrom("one after another" as const, "all" as const, "all settled" as const, "race" as const, "any" as const);
  return {
    program: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("step" as const), fails: fc.nat(5).map((n) => n === 0) }) },
      { weight: 4, arbitrary: fc.record({ kind: several, parts }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("left alone" as const), part: tie("program") }) },
    ),
  };
});

/** Plays a program. What it asks and gets, in its order, is the trace; between the two it also waits for promises that are no steps. */
async function play(doing: Program, path: string, rc: RoleContext, outside: Outside, trace: string[]): Promise<string> {
  if (doing.kind === "step") return playStep(doing.fails, path, rc, outside, trace);
  const start = (part: Program, nth: number): Promise<string> => play(part, `${path}.${nth}`, rc, outside, trace);
  switch (doing.kind) {
    case "left alone":
      start(doing.part, 0).catch(() => {});
      return "left";
    case "one after another": {
      const got: string[] = [];
      for (const [nth, part] of doing.parts.entries()) got.push(await start(part, nth));
      return got.join(",");
    }
    case "all":
      return (await Promise.all(doing.parts.map(start))).join(",");
    case "all settled":
      return (await Promise.allSettled(doing.parts.map(start))).map((settled) => settled.status).join(",");
    case "race":
      return Promise.race(doing.parts.map(start));
    case "any":
      return Promise.any(doing.parts.map(start));
  }
}

async function playStep(fails: boolean, path: string, rc: RoleContext, outside: Outside, trace: string[]): Promise<string> {
  trace.push(`ask ${path}`);
  try {
    const got = await outside.step(rc, "do", { path, tick: trace.length }, () => {
      if (fails) throw new Error(path);
      return path;
    });
    for (let i = 0; i < path.length % 3; i += 1) await Promise.resolve();
    return got;
  } finally {
    trace.push(`got ${path}`);
  }
}

/** A role whose body plays the program, and says how it went. */
function player(doing: Program, traces: string[][]): Company["roles"] {
  return (outside): Role[] => [
    defineRole({
      name: "Player",
      react: async (rc) => {
        const trace: string[] = [];
        traces.push(trace);
        const result = await play(doing, "p", rc, outside, trace).catch((error: Error) => `failed: ${error.message}`);
        rc.state["trace"] = [...trace];
        return rc.message(result);
      },
    }),
  ];
}

/** Pipelines side by side in one activation, which keeps the order in which their steps were answered. */
function pipelines(outside: Outside, width: number, length: number): Role {
  return defineRole({
    name: "Plumber",
    react: async (rc) => {
      const order: string[] = [];
      const pipeline = async (nth: number): Promise<void> => {
        for (let stage = 0; stage < length; stage += 1) {
          const name = `${nth}.${stage}`;
          const answer = await rc.step(name, {}, async (door) => {
            if (stage === 1) await outside.inner(door, `in ${name}`, {}, () => null);
            return outside.happen(stepLabel(name, {}), () => name);
          });
          order.push(answer);
        }
      };
      await Promise.all(Array.from({ length: width }, (_, nth) => pipeline(nth)));
      rc.state["order"] = order;
    },
  });
}

describe("ActivationSteps.D2 the order in which an activation asks and gets its steps", () => {
  test("of any program, is the same for all latencies, and from the record after a kill anywhere", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(program, fc.nat(), async (doing, seed) => {
        const traces: string[][] = [];
        const company: Company = { roles: player(doing, traces) };
        const lives = [
          await live(company, [], () => 0),
          await live(company, [], shuffled(seed, 12)),
          await live(company, [], shuffled(seed + 1, 3)),
        ];
        const [first] = lives;
        fc.pre((first?.events.length ?? 0) < 60);
        for (const [nth, life] of lives.entries()) {
          expect(traces[nth]).toEqual(traces[0]);
          expect(life.canonical).toBe(first?.canonical);
        }
        for (let cut = 2; cut < (first?.events.length ?? 0) - 3; cut += 1) {
          const life = await live(company, lives[1]?.events.slice(0, cut), shuffled(seed + cut));
          expect(traces.at(-1), `cut after ${cut} events`).toEqual(traces[0]);
          expect(life.canonical).toBe(first?.canonical);
        }
      }),
      { numRuns: tries(8, 200) },
    );
  });

  test("eight pipelines of three steps, a third of which ask another inside: the same order, whatever the answers' order", async () => {
    const company: Company = { roles: (outside) => [pipelines(outside, 8, 3)] };
    const lives = await Promise.all(Array.from({ length: 12 }, (_, nth) => live(company, [], shuffled(nth, 9))));
    const [first] = lives as [Lived];
    const orders = lives.map(({ events }) =>
      events.flatMap((event) => (event.type === "step.started" && event.in === undefined ? [event.name] : [])),
    );
    expect(orders[0]).toHaveLength(8 * 3);
    expect(new Set(orders.map((order) => order.join())).size).toBe(1);
    const answered = lives.map(({ events }) =>
      events.flatMap((event) => (event.type === "step.ended" ? [JSON.stringify(event.value)] : [])),
    );
    expect(new Set(answered.map((order) => order.join())).size, "the answers must have come in other orders").toBeGreaterThan(6);
    expect(new Set(lives.map((life) => life.canonical)).size).toBe(1);
    for (let cut = 0; cut <= first.events.length; cut += 1) await expectSameEnd(company, first, first.events.slice(0, cut));
  });

  test("a slow step holds back what follows from later ones, but not their calls", async () => {
    let endSlow = (): void => {};
    const slow = new Promise<void>((resolve) => (endSlow = resolve));
    const begun: string[] = [];
    const ended: string[] = [];
    const followed: string[] = [];
    const roles = (): Role[] => [
      defineRole({
        name: "Player",
        react: async (rc) => {
          const pipeline = async (name: string): Promise<void> => {
            for (const part of ["a", "b"]) {
              await rc.step(`${name}${part}`, {}, async () => {
                begun.push(`${name}${part}`);
                if (`${name}${part}` === "0a") await slow;
                ended.push(`${name}${part}`);
                return null;
              });
              followed.push(`${name}${part}`);
            }
          };
          await Promise.all(["0", "1", "2", "3"].map(pipeline));
        },
      }),
    ];
    const run = live({ roles });
    for (let i = 0; i < 50; i += 1) await nextMacrotask();
    expect([begun, ended, followed]).toEqual([["0a", "1a", "2a", "3a"], ["1a", "2a", "3a"], []]);
    endSlow();
    expect((await run).result.status).toBe("finished");
    expect(followed).toEqual(["0a", "1a", "2a", "3a", "0b", "1b", "2b", "3b"]);
    expect(begun).toEqual(followed);
  });

  test.each([
    ["between steps the first one asked wins", false, "slow"],
    ["inside one step the fastest wins", true, "fast"],
  ])("a race: %s", async (_what, inside, winner) => {
    const latency: Latency[] = [() => 20, () => 0];
    const roles = (): Role[] => [
      defineRole({
        name: "Player",
        react: async (rc) => {
          const runners = ["slow", "fast"].map((name, nth) => ({ name, run: () => new Outside(latency[nth]).happen(name, () => name) }));
          const race = inside
            ? rc.step("race", {}, (door) =>
                Promise.race(runners.map(({ name, run }) => door.step({ kind: "step", name, request: {} }, run))),
              )
            : Promise.race(runners.map(({ name, run }) => rc.step(name, {}, run)));
          return rc.message(await race);
        },
      }),
    ];
    const { result, events } = await live({ roles });
    expect(result.output?.content).toBe(winner);
    expect(
      events.filter((event) => event.type === "step.ended" && event.ok).map((event) => (event.type === "step.ended" ? event.value : "")),
    ).toContain("fast");
  });
});
