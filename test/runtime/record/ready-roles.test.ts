import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Line, ListedRoles, ReadyRoles } from "../../../src/runtime/record/ready-roles.ts";
import type { RoleState } from "../../../src/runtime/record/role-state.ts";
import { addRoleState, RunState } from "../../../src/runtime/record/run-state.ts";

function rolesNamed(names: readonly string[]): readonly RoleState[] {
  const state = new RunState("run");
  return names.map((name) => addRoleState(state, name, { fingerprint: "", traits: {}, state: {} }));
}

function namesIn(ready: ReadyRoles): readonly string[] {
  return ready.those(() => true).map(({ name }) => name);
}

function* walk(line: Line): Iterable<RoleState> {
  line.begin();
  for (let role = line.next(); role !== undefined; role = line.next()) yield role;
}

describe("ReadyRoles", () => {
  it("RR1 property: is a line that each role stands in once, in the order in which it last joined", () => {
    const names = ["a", "b", "c", "d", "e"];
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(names.length - 1)), { maxLength: 300 }), (steps) => {
        const roles = rolesNamed(names);
        const ready = new ReadyRoles();
        const expected = new Set<string>();
        for (const [joins, which] of steps) {
          const role = roles[which] as RoleState;
          if (joins) ready.add(role);
          else ready.delete(role);
          if (joins) expected.add(role.name);
          else expected.delete(role.name);
          expect(namesIn(ready)).toEqual([...expected]);
          expect(ready.size).toBe(expected.size);
          expect(roles.filter((one) => ready.has(one)).map(({ name }) => name)).toEqual(names.filter((name) => expected.has(name)));
        }
      }),
    );
  });

  it("RR1 tells those of the line who are meant, in their order, past who has left", () => {
    const roles = rolesNamed(["a", "b", "c", "d", "e"]);
    const ready = new ReadyRoles();
    for (const role of roles.toReversed()) ready.add(role);
    ready.delete(roles[2] as RoleState);
    expect(ready.those(({ index }) => index !== 1).map(({ name }) => name)).toEqual(["e", "d", "a"]);
    expect(namesIn(ready)).toEqual(["e", "d", "b", "a"]);
  });

  it("RR2 leaves nothing behind in who comes and goes while another waits", () => {
    const [waits, goes, comes] = rolesNamed(["waits", "goes", "comes"]) as [RoleState, RoleState, RoleState];
    const ready = new ReadyRoles();
    ready.add(waits);
    ready.add(goes);
    for (let k = 0; k < 10; k += 1) {
      ready.add(k % 2 === 0 ? comes : goes);
      ready.delete(k % 2 === 0 ? goes : comes);
    }
    expect(namesIn(ready)).toEqual(["waits", "goes"]);
    const behind = [waits, goes, comes].map(({ readyBefore, readyBehind }) => [readyBefore?.name, readyBehind?.name]);
    expect(behind).toEqual([
      [undefined, "goes"],
      ["waits", undefined],
      [undefined, undefined],
    ]);
  });

  it("RR3 a walk goes on behind who stays, and sees who joins behind it", () => {
    const [stays, leaves, joins] = rolesNamed(["stays", "leaves", "joins"]) as [RoleState, RoleState, RoleState];
    const ready = new ReadyRoles();
    ready.add(stays);
    ready.add(leaves);
    const seen: string[] = [];
    for (const role of walk(ready)) {
      seen.push(role.name);
      if (role === leaves) {
        ready.delete(leaves);
        ready.add(joins);
      }
    }
    expect(seen).toEqual(["stays", "leaves", "joins"]);
  });

  it("RR3 a walk meets who joined first first, also where those before them have left and the line has become shorter", () => {
    const names = ["slow", "a", "b", "c", "d", "e", "f", "g"];
    const roles = rolesNamed(names);
    const [slow, ...others] = roles as [RoleState, ...RoleState[]];
    const ready = new ReadyRoles();
    for (const role of [slow, ...others.slice(0, 3)]) ready.add(role);
    const seen: string[] = [];
    for (const role of walk(ready)) {
      seen.push(role.name);
      if (role === slow) continue;
      ready.delete(role);
      if (role.name === "c") for (const one of others.slice(3)) ready.add(one);
    }
    expect(seen).toEqual(names);
  });

  it("RR3 a walk meets all others in their order, also where the line is closed up on the way", () => {
    const names = Array.from({ length: 100 }, (_, n) => `r${n}`);
    const roles = rolesNamed(names);
    const ready = new ReadyRoles();
    for (const role of roles.slice(0, 40)) ready.add(role);
    const seen: string[] = [];
    for (const role of walk(ready)) {
      if (seen.includes(role.name)) continue;
      seen.push(role.name);
      if (role === roles[0]) continue;
      ready.delete(role);
      if (role.name === "r33") for (const one of roles.slice(40)) ready.add(one);
    }
    expect(seen).toEqual(names);
  });

  it("RR3 a walk meets who left and joined again before who joined after it, wherever they stand", () => {
    const [again, after] = rolesNamed(["again", "after"]) as [RoleState, RoleState];
    const ready = new ReadyRoles();
    ready.add(again);
    const seen: string[] = [];
    for (const role of walk(ready)) {
      seen.push(role.name);
      ready.delete(role);
      if (seen.length > 1) continue;
      ready.add(again);
      ready.add(after);
    }
    expect(seen).toEqual(["again", "again", "after"]);
  });

  it("RR3 of two walks the one that was begun last goes on", () => {
    const roles = rolesNamed(["a", "b", "c"]);
    const ready = new ReadyRoles();
    for (const role of roles) ready.add(role);
    for (let times = 0; times < 2; times += 1) {
      ready.begin();
      expect([ready.next(), ready.next()]).toEqual([roles[0], roles[1]]);
    }
    ready.delete(roles[2] as RoleState);
    expect(ready.next()).toBeUndefined();
    ready.add(roles[2] as RoleState);
    expect([ready.next(), ready.next()]).toEqual([roles[2], undefined]);
  });

  it("those who are listed are told as they stood, whoever has left", () => {
    const roles = rolesNamed(["a", "b"]);
    const listed = new ListedRoles(roles);
    for (let times = 0; times < 2; times += 1) expect([...walk(listed)]).toEqual(roles);
    expect([listed.size, new ListedRoles([]).next()]).toEqual([2, undefined]);
  });

  it("RR4 property: a line that says it is in hire order is, and one that everybody joined so says it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(4)), { maxLength: 30 }), (steps) => {
        const roles = rolesNamed(["a", "b", "c", "d", "e"]);
        const ready = new ReadyRoles();
        const stands = (): readonly number[] => ready.those(() => true).map(({ index }) => index);
        let isSo = true;
        for (const [joins, which] of steps) {
          const role = roles[which] as RoleState;
          const last = stands().at(-1);
          if (joins && !ready.has(role)) isSo = last === undefined || (isSo && last < which);
          if (joins) ready.add(role);
          else ready.delete(role);
          expect(ready.isInHireOrder).toBe(ready.size === 0 ? ready.isInHireOrder : isSo);
          if (ready.isInHireOrder) expect(stands()).toEqual(stands().toSorted((a, b) => a - b));
        }
      }),
    );
  });
});
