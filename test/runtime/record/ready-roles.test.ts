import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ReadyRoles } from "../../../src/runtime/record/ready-roles.ts";
import { RoleState } from "../../../src/runtime/record/role-state.ts";

const hired = { fingerprint: "", traits: {}, state: {} };

function rolesOf(count: number): RoleState[] {
  return Array.from({ length: count }, (_, index) => new RoleState(`R${index}`, index, hired));
}

describe("the line of the roles with mail", () => {
  it("property: ReadyRoles.RR1 it is a set in the order of insertion, whatever comes and goes", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(5)), { maxLength: 400 }), (changes) => {
        const roles = rolesOf(6);
        const [line, set] = [new ReadyRoles(), new Set<RoleState>()];
        for (const [comes, place] of changes) {
          const role = roles[place] as RoleState;
          for (const one of [line, set]) {
            if (comes) one.add(role);
            else one.delete(role);
          }
          expect(line.has(role)).toBe(set.has(role));
        }
        expect([...line]).toEqual([...set]);
        expect(line.toArray()).toEqual([...set]);
        expect(line.size).toBe(set.size);
      }),
    );
  });

  it("ReadyRoles.RR2 a long run leaves no empty places behind that a look at the line would visit", () => {
    const [one, other] = rolesOf(2) as [RoleState, RoleState];
    const line = new ReadyRoles([one, other]);
    for (let k = 0; k < 10_000; k += 1) {
      line.delete(one);
      line.add(one);
      expect(one.readyAt).toBeLessThan(200);
    }
    expect(line.toArray()).toEqual([other, one]);
  });
});
