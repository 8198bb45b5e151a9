import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ReadyRoles } from "../../../src/runtime/record/ready-roles.ts";
import { RoleState } from "../../../src/runtime/record/role-state.ts";

const roles = Array.from({ length: 200 }, (_, index) => new RoleState(`r${index}`, index, { fingerprint: "", traits: {}, state: {} }));

describe("ReadyRoles", () => {
  test("property: a role is found by its index in the line and in the order of hiring, whenever the first look was", () => {
    const change = fc.record({ role: fc.nat(199), isAdded: fc.boolean(), looks: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
        const ready = new ReadyRoles();
        const line = new Set<RoleState>();
        for (const { role: index, isAdded, looks } of changes) {
          const role = roles[index] as RoleState;
          for (const set of [ready, line]) void (isAdded ? set.add(role) : set.delete(role));
          if (!looks) continue;
          expect([...line].map((_, at) => ready.at(at))).toEqual([...line]);
          expect(ready.at(line.size)).toBeUndefined();
          expect(ready.after(index)).toBe(roles.find((other) => other.index > index && line.has(other)));
        }
        expect([...ReadyRoles.of(ready)]).toEqual([...line]);
      }),
    );
  });
});
