// @module-tag science
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineRole, type Role } from "../../../src/index.ts";
import { explore } from "../../../src/research/index.ts";
import { tries } from "../../long.ts";
import { type SearchedFaults, searchStates } from "./state-search.ts";
import { worldOf } from "./worlds.ts";

const names = ["A", "B", "C", "D"];

interface Rule {
  /** The next state, by state. */
  readonly next: readonly number[];
  /** The messages that are said, by state: the recipient and the kind. */
  readonly says: readonly (readonly (readonly [to: number, kind: number])[])[];
}

/** A net of roles with three states. A message carries its number of hops, so each net ends. */
const nets = fc.record({
  size: fc.integer({ min: 2, max: 4 }),
  first: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 }),
  rules: fc.array(
    fc.record({
      next: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 3, maxLength: 3 }),
      says: fc.array(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1 })), { maxLength: 2 }), {
        minLength: 3,
        maxLength: 3,
      }),
    }),
    { minLength: 8, maxLength: 8 },
  ),
  hops: fc.integer({ min: 1, max: 2 }),
});

const faultPlans: fc.Arbitrary<SearchedFaults> = fc.constantFrom(
  {},
  { crash: ["A"] },
  { crash: ["A", "B"], most: 2 },
  { lose: true },
  { copy: true },
  { crash: ["B"], lose: true, most: 2 },
);

function rolesOf({
  size,
  rules,
  hops,
}: {
  readonly size: number;
  readonly rules: readonly Rule[];
  readonly hops: number;
}): readonly Role[] {
  return names.slice(0, size).map((name, index) =>
    defineRole({
      name,
      watch: [],
      state: z.object({ is: z.number().default(0) }),
      step({ is }, { content }, out) {
        const [kind, hop] = content === "begin" ? [0, 0] : content.split(" ").map(Number);
        const rule = rules[index * 2 + (kind ?? 0)] as Rule;
        if ((hop ?? 0) < hops)
          for (const [to, said] of rule.says[is] ?? []) out.say(`${said} ${(hop ?? 0) + 1}`, { sendTo: names[to % size] as string });
        return { is: rule.next[is] ?? 0 };
      },
    }),
  );
}

function faultsFor({ crash = [], lose, copy, most }: SearchedFaults, size: number) {
  return {
    crash: crash.filter((name) => names.indexOf(name) < size),
    ...(lose === true ? { lose: ["*->*"] } : {}),
    ...(copy === true ? { copy: ["*->*"] } : {}),
    ...(most === undefined ? {} : { most }),
  };
}

const SMALL = 800;

describe("the ends of the explored orders", () => {
  it("Orders.O1 Orders.O2 property: are those of all states, with crashes, losses and copies", async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(nets, faultPlans, async (net, plan) => {
        const roles = rolesOf(net);
        const firstTo = [...new Set(net.first.map((one) => names[one % net.size] as string))];
        const faults = faultsFor(plan, net.size);
        const searched = searchStates(roles, firstTo, { ...plan, crash: faults.crash });
        fc.pre(searched.worlds < SMALL);
        const ends = new Set<string>();
        const report = await explore(worldOf(roles, firstTo), {
          faults,
          done: ({ state }) => ends.add(JSON.stringify(Object.fromEntries(roles.map(({ name }) => [name, state(name)])))) !== undefined,
          schedules: 4_000,
          ms: 3_600_000,
        });
        fc.pre(report.isComplete);
        compared += 1;
        expect([...ends].toSorted()).toEqual([...searched.ends].toSorted());
      }),
      { numRuns: tries(40, 200), seed: 36 },
    );
    expect(compared).toBeGreaterThan(tries(15, 80));
  });

  it("property: a state of two roles is found where it can be, by its shortest schedule", async () => {
    await fc.assert(
      fc.asyncProperty(nets, fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 2 }), async (net, one, other) => {
        const roles = rolesOf(net);
        const firstTo = [...new Set(net.first.map((index) => names[index % net.size] as string))];
        const searched = searchStates(roles, firstTo);
        fc.pre(searched.worlds < SMALL);
        const isBad = (a: unknown, b: unknown): boolean => a === one && b === other;
        const depths = [...searched.depths].flatMap(([text, depth]) => {
          const states = JSON.parse(text) as Record<string, { readonly is: number }>;
          return isBad(states["A"]?.is, states["B"]?.is) ? [depth] : [];
        });
        const report = await explore(worldOf(roles, firstTo), {
          property: ({ state }) => !isBad(state("A")["is"], state("B")["is"]),
          schedules: 4_000,
          ms: 3_600_000,
        });
        fc.pre(report.isComplete);
        const found = report.findings.filter(({ kind }) => kind === "violation").map(({ schedule }) => schedule.length);
        expect(found).toEqual(depths.length === 0 ? [] : [Math.min(...depths)]);
      }),
      { numRuns: tries(40, 200), seed: 36 },
    );
  });
});
