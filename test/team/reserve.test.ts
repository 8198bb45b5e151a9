import { describe, expect, test } from "vitest";
import { hiredRole } from "../../src/runtime/hired-roles.ts";
import { Reserve } from "../../src/team/reserve.ts";
import { Team } from "../../src/team/team.ts";
import type { Role } from "../../src/role/role.ts";
import { listener } from "../runtime/town.ts";

describe("the definitions of roles that runs hire on the way", () => {
  test("Reserve.V1 are those that the run was given, else those of the option by their own names", () => {
    const [common, own] = [listener("Bob"), listener("Bob")];
    const reserve = new Reserve([common, listener("Cid")]);
    reserve.keep("r", "Bert", own);
    const recorded = hiredRole(own, "Bert");
    expect(reserve.find("r", recorded)).toBe(own);
    expect(reserve.find("other", recorded)).toBe(common);
    expect(reserve.find("r", hiredRole(listener("Zoe"), "Bob"))).toBeUndefined();
    reserve.inherit("fork", "r");
    expect(reserve.find("fork", recorded)).toBe(own);
    expect(reserve.find("r", { name: "Bert", traits: {} })).toBe(own);
    expect(reserve.find("other", { name: "Bert", traits: { card: { name: 7 } } })).toBeUndefined();
  });

  test("Reserve.V1 are at last those of the team, by their own names or by their names there", () => {
    const [bob, zoe] = [listener("Bob"), listener("Zoe")];
    const reserve = new Reserve([bob], () => [
      ["Bob", listener("Bob")],
      ["Zora", zoe],
    ]);
    expect(reserve.find("r", hiredRole(listener("Zoe"), "Zed"))).toBe(zoe);
    expect([reserve.named("Bob"), reserve.named("Zora"), reserve.named("Zoe")]).toEqual([bob, zoe, zoe]);
    expect(() => new Reserve([]).named("Bob")).toThrow(/It has none/);
  });

  test("Reserve.V2 are kept for the last 1,000 runs that hired a role", () => {
    const reserve = new Reserve([]);
    const bob = listener("Bob");
    for (let n = 0; n <= 1_000; n += 1) {
      reserve.keep(`r${n}`, "Bob", bob);
      if (n === 999) reserve.keep("r0", "Bob", bob);
    }
    const kept = ["r0", "r1", "r2", "r1000"].map((id) => reserve.find(id, hiredRole(bob, "Bob")) !== undefined);
    expect(kept).toEqual([true, false, true, true]);
  });

  test("are refused where they are no roles, and where two have one name", () => {
    expect(() => new Reserve([listener("Bob"), listener("Bob")])).toThrow(/a second "Bob"/);
    expect(() => new Team({ reserve: [{ name: "Bob" } as Role] })).toThrow(/role/);
    expect(() => new Team({ reserve: listener("Bob") as unknown as Role[] })).toThrow(/list of roles/);
  });
});
