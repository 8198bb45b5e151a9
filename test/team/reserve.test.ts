import { describe, expect, test } from "vitest";
import { hiredRole } from "../../src/runtime/hired-roles.ts";
import { Reserve } from "../../src/team/reserve.ts";
import { Team } from "../../src/team/team.ts";
import type { Role } from "../../src/role/role.ts";
import { listener } from "../runtime/town.ts";

const { signal } = new AbortController();

describe("the definitions of roles that runs hire on the way", () => {
  test("Reserve.V1 are those that the run was given, else those of the option by their own names", async () => {
    const [common, own] = [listener("Bob"), listener("Bob")];
    const reserve = new Reserve([common, listener("Cid")]);
    reserve.keep("r", "Bert", own);
    const recorded = hiredRole(own, "Bert");
    const find = async (runId: string, hired: Parameters<Awaited<ReturnType<Reserve["of"]>>>[0]) =>
      (await reserve.of({ runId, signal }, []))(hired);
    expect(await find("r", recorded)).toBe(own);
    expect(await find("other", recorded)).toBe(common);
    expect(await find("r", hiredRole(listener("Zoe"), "Bob"))).toBeUndefined();
    reserve.inherit("fork", "r");
    expect(await find("fork", recorded)).toBe(own);
    expect(await find("r", { name: "Bert", traits: {} })).toBe(own);
    expect(await find("other", { name: "Bert", traits: { card: { name: 7 } } })).toBeUndefined();
  });

  test("Reserve.V1 are at last those of the team, by their own names or by their names there", async () => {
    const [bob, zoe] = [listener("Bob"), listener("Zoe")];
    const team = [["Bob", listener("Bob")] as const, ["Zora", zoe] as const];
    const reserve = new Reserve([bob], () => Promise.resolve(team));
    const request = { runId: "r", signal };
    expect((await reserve.of(request, team))(hiredRole(listener("Zoe"), "Zed"))).toBe(zoe);
    expect(await Promise.all(["Bob", "Zora", "Zoe"].map((name) => reserve.named(name, request)))).toEqual([bob, zoe, zoe]);
    await expect(new Reserve([]).named("Bob", request)).rejects.toThrow(/It has none/);
  });

  test("Reserve.V2 are kept for the last 1,000 runs that hired a role", async () => {
    const reserve = new Reserve([]);
    const bob = listener("Bob");
    for (let n = 0; n <= 1_000; n += 1) {
      reserve.keep(`r${n}`, "Bob", bob);
      if (n === 999) reserve.keep("r0", "Bob", bob);
    }
    const finds = await Promise.all(["r0", "r1", "r2", "r1000"].map((runId) => reserve.of({ runId, signal }, [])));
    const kept = finds.map((find) => find(hiredRole(bob, "Bob")) !== undefined);
    expect(kept).toEqual([true, false, true, true]);
  });

  test("are refused where they are no roles, and where two have one name", () => {
    expect(() => new Reserve([listener("Bob"), listener("Bob")])).toThrow(/a second "Bob"/);
    expect(() => new Team({ reserve: [{ name: "Bob" } as Role] })).toThrow(/role/);
    expect(() => new Team({ reserve: listener("Bob") as unknown as Role[] })).toThrow(/list of roles/);
  });
});
