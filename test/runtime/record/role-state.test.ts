import { describe, expect, test } from "vitest";
import { createMessage } from "../../../src/message/message.ts";
import { Plan } from "../../../src/role/plan.ts";
import { type HiredAs, NO_RETRY, RoleState } from "../../../src/runtime/record/role-state.ts";

const as: HiredAs = { fingerprint: "f", traits: { mode: "react" }, state: { seen: 0 }, memoryLimit: 2 };

function parts(role: RoleState): unknown {
  const { n, retry, open, custom, plan, joins, summary, waiting } = role;
  return { n, retry, open, custom, plan: plan.toJSON(), joins, waiting, summary };
}

describe("RoleState.R1 a role that was never used", () => {
  test("has empty parts", () => {
    const role = new RoleState("Ann", 0, as);
    expect(parts(role)).toMatchObject({ n: 0, retry: NO_RETRY, open: undefined, custom: { seen: 0 }, joins: {}, waiting: 0 });
    expect([role.mailbox.size, role.memory.size, role.workingMemory.size]).toEqual([0, 0, 0]);
  });

  test("keeps what is written, each part for itself", () => {
    const plan = new Plan({ goal: "g" });
    const open = { act: "Ann#0~1", attempt: 1, take: 1, at: 0, steps: new Map(), crashes: 0, deaths: 0, isUnderWay: true };
    const written = { custom: { seen: 5 }, plan, joins: { a: { b: "c" } }, open, retry: { ...NO_RETRY, failures: 1, strikes: 2 } };
    const role = Object.assign(new RoleState("Ann", 0, as), written);
    for (const [name, value] of Object.entries(written)) expect(Reflect.get(role, name)).toBe(value);
  });

  test("has its own mailbox and memories, and they stay the same", () => {
    const [ann, bob] = [new RoleState("Ann", 0, as), new RoleState("Bob", 1, as)];
    const message = createMessage("x");
    ann.mailbox.push(message);
    ann.memory.add(message);
    ann.workingMemory.add(message);
    expect([ann.waiting, ann.mailbox.size, ann.memory.size, ann.workingMemory.size]).toEqual([1, 1, 1, 1]);
    expect([bob.waiting, bob.mailbox.size, bob.memory.size, bob.workingMemory.size]).toEqual([0, 0, 0, 0]);
    expect(ann.news(0)).toEqual([]);
    expect(ann.news(5)).toEqual([message]);
    expect(bob.news()).toEqual([]);
  });
});

describe("RoleState.R2 a role that is hired again as another", () => {
  test("is told by what it is now, and keeps the state and the limit of memory it began with", () => {
    const role = new RoleState("Ann", 0, as);
    role.hireAgain({ fingerprint: "g", traits: { mode: "agent" }, state: { seen: 9 } });
    expect([role.fingerprint, role.traits]).toEqual(["g", { mode: "agent" }]);
    expect([role.custom, role.memory.limit]).toEqual([{ seen: 0 }, 2]);
  });
});

describe("the next activation of a role", () => {
  test("is named by the role, how often it has acted and which attempt it is", () => {
    const role = new RoleState("Ann", 0, as);
    expect(role.nextAct).toBe("Ann#0~1");
    role.retry = { ...NO_RETRY, failures: 1 };
    expect(role.nextAct).toBe("Ann#0~2");
    role.completeActivation();
    expect(role.nextAct).toBe("Ann#1~1");
  });

  test("forgets the failed attempts of the one before, and goes on with messages that are still to be tried alone", () => {
    const role = new RoleState("Ann", 0, as);
    const carry = new Map([["k", { ok: true, value: 1, error: undefined, at: 1, teamAt: 0 }]]);
    role.retry = { ...NO_RETRY, failures: 2, strikes: 1, isolated: 2, retake: 1, carry };
    role.completeActivation();
    expect([role.n, role.retry]).toEqual([1, { ...NO_RETRY, isolated: 1, retake: 1 }]);
    role.completeActivation();
    expect([role.n, role.retry]).toEqual([2, NO_RETRY]);
  });
});
