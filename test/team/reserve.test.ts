import { describe, expect, test } from "vitest";
import { hiredRole } from "../../src/runtime/hired-roles.ts";
import { Reserve } from "../../src/team/roster.ts";
import { Team } from "../../src/team/team.ts";
import type { Role } from "../../src/role/role.ts";
import { listener } from "../runtime/town.ts";

const request = { runId: "r", signal: new AbortController().signal };
const noTeam = () => Promise.resolve([]);

describe("definitions of roles that runs hire on the way", () => {
  test("Reserve.V1 the run's own definition comes first, then the option, then the team", async () => {
    const [common, own, zoe] = [listener("Bob"), listener("Bob"), listener("Zoe")];
    const team = [["Bob", listener("Bob")] as const, ["Zora", zoe] as const];
    const reserve = new Reserve([common], () => Promise.resolve(team));
    reserve.keep("r", "Bert", own);
    reserve.inherit("fork", "r");
    const recorded = hiredRole(own, "Bert");
    const finds = await Promise.all(["r", "fork", "other"].map((runId) => reserve.of({ ...request, runId }, team)));
    expect(finds.map((find) => find(recorded))).toEqual([own, own, common]);
    expect(finds[0]?.(hiredRole(listener("Zoe"), "Zed"))).toBe(zoe);
    expect(finds[2]?.({ name: "Bert", traits: { card: { name: 7 } } })).toBeUndefined();
    expect(await Promise.all(["Bob", "Zora", "Zoe"].map((name) => reserve.named(name, request)))).toEqual([common, zoe, zoe]);
    await expect(new Reserve([], noTeam).named("Bob", request)).rejects.toThrow(/It has none/);
  });

  test("Reserve.V2 are kept for the last 1,000 runs that hired a role", async () => {
    const reserve = new Reserve([], noTeam);
    const bob = listener("Bob");
    for (let n = 0; n <= 1_000; n += 1) {
      reserve.keep(`r${n}`, "Bob", bob);
      if (n === 999) reserve.keep("r0", "Bob", bob);
    }
    const finds = await Promise.all(["r0", "r1", "r2", "r1000"].map((runId) => reserve.of({ ...request, runId }, [])));
    const kept = finds.map((find) => find(hiredRole(bob, "Bob")) !== undefined);
    expect(kept).toEqual([true, false, true, true]);
  });

  test("are refused unless they are roles of different names", () => {
    expect(() => new Reserve([listener("Bob"), listener("Bob")], noTeam)).toThrow(/a second "Bob"/);
    expect(() => new Team({ reserve: [{ name: "Bob" } as Role] })).toThrow(/role/);
    expect(() => new Team({ reserve: listener("Bob") as unknown as Role[] })).toThrow(/list of roles/);
  });
});
