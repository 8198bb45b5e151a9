import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Memory } from "../../../src/memory/memory.ts";
import { Plan } from "../../../src/role/plan.ts";
import { createMessage, type Message } from "../../../src/message/message.ts";
import { MessageQueue } from "../../../src/message/message-queue.ts";
import { nothing } from "../../../src/runtime/record/role-life.ts";
import { type HiredAs, RoleState } from "../../../src/runtime/record/role-state.ts";

const as: HiredAs = { fingerprint: "f", traits: { mode: "react" }, state: { seen: 0 }, memoryLimit: 2 };

function parts(role: RoleState): unknown {
  const { n, failures, strikes, isolated, retake, open, carry, custom, plan, joins, summary, waiting } = role;
  return { n, failures, strikes, isolated, retake, open, carry: [...carry], custom, plan: plan.toJSON(), joins, waiting, summary };
}

function pictureOf(value: unknown): unknown {
  if (value instanceof Plan) return value.toJSON();
  return value instanceof Map ? [...(value as Map<string, unknown>)] : value;
}

describe("RS1 RS2 a role that was never used", () => {
  test("reads like one whose parts are all empty, also when it is told that they are", () => {
    const fresh = parts(new RoleState("Ann", 0, as));
    const told = new RoleState("Ann", 0, as);
    told.open = undefined;
    told.failures = 0;
    told.strikes = 0;
    told.isolated = 0;
    told.carry = nothing.carry;
    told.retake = undefined;
    expect(parts(told)).toEqual(fresh);
    expect(fresh).toMatchObject({ n: 0, failures: 0, strikes: 0, isolated: 0, carry: [], custom: { seen: 0 }, joins: {}, waiting: 0 });
    expect([told.mailbox.size, told.memory.size, told.workingMemory.size]).toEqual([0, 0, 0]);
  });

  test("keeps what is written, each part for itself, and gives it back when it is as at first", () => {
    const role = new RoleState("Ann", 0, as);
    const plan = new Plan({ goal: "g" });
    const carry = new Map([["k", { ok: true, value: 1, error: undefined, at: 1 }]]);
    const open = { act: "Ann#0~1", attempt: 1, take: 1, at: 0, steps: new Map(), crashes: 0, deaths: 0, isUnderWay: true };
    const written = { failures: 1, strikes: 2, isolated: 3, retake: 4, custom: { seen: 5 }, plan, joins: { a: { b: "c" } }, carry, open };
    for (const [name, value] of Object.entries(written)) {
      Object.assign(role, { [name]: value });
      const other = Object.assign(new RoleState("Bob", 1, as), { [name]: value });
      const fresh = parts(new RoleState("Bob", 1, as)) as object;
      expect(parts(other)).toEqual({ ...fresh, [name]: pictureOf(value) });
    }
    for (const [name, value] of Object.entries(written)) expect(Reflect.get(role, name)).toBe(value);
    Object.assign(role, { failures: 0, strikes: 0, isolated: 0, retake: undefined, carry: nothing.carry, open: undefined });
    expect([role.failures, role.strikes, role.isolated, role.retake, role.carry.size, role.open]).toEqual([
      0,
      0,
      0,
      undefined,
      0,
      undefined,
    ]);
  });

  test("has its own mailbox and memories, and they stay the same", () => {
    const [ann, bob] = [new RoleState("Ann", 0, as), new RoleState("Bob", 1, as)];
    const message = createMessage("x");
    ann.mailbox.push(message);
    ann.memory.add(message);
    ann.workingMemory.add(message);
    expect([ann.waiting, ann.mailbox.size, ann.memory.size, ann.workingMemory.size]).toEqual([1, 1, 1, 1]);
    expect([bob.waiting, bob.mailbox.size, bob.memory.size, bob.workingMemory.size]).toEqual([0, 0, 0, 0]);
  });
});

describe("RS1 what a role has heard", () => {
  test("property: waits in its line, Q1 Q2 as in any other, whether somebody looks at the line or not", () => {
    const messages = Array.from({ length: 4 }, (_, place) => createMessage(`${place}`, { id: `m${place}` }));
    const deed = fc.constantFrom("hear", "hear", "take", "take away", "look", "news");
    fc.assert(
      fc.property(fc.array(fc.tuple(deed, fc.nat(3)), { maxLength: 30 }), (deeds) => {
        const role = new RoleState("Ann", 0, as);
        const line = new MessageQueue();
        for (const [what, place] of deeds) {
          const message = messages[place] as (typeof messages)[number];
          // Where it is known to be new, it may be told so.
          if (what === "hear") expect(role.hear(message, place % 2 === 0 && !line.has(message.id))).toBe(line.push(message));
          else if (what === "take") expect(role.takeNext()).toBe(line.pop());
          else if (what === "take away") {
            const left = line.size - place;
            expect(role.takeAway(place)).toBe(left);
            for (let taken = 0; taken < place && left >= 0; taken += 1) line.pop();
          } else if (what === "look") expect(role.mailbox.toJSON()).toEqual(line.toJSON());
          else expect(role.news(place)).toEqual(line.peek(place));
          expect([role.waiting, role.news()]).toEqual([line.size, line.peek(9)]);
        }
      }),
    );
  });
});

describe("RS3 a role that is hired again as another", () => {
  test("is told by what it is now, and keeps the state and the limit of memory it began with", () => {
    const role = new RoleState("Ann", 0, as);
    role.hireAgain({ fingerprint: "g", traits: { mode: "agent" }, state: { seen: 9 } });
    expect([role.fingerprint, role.traits]).toEqual(["g", { mode: "agent" }]);
    expect([role.custom, role.memory.limit]).toEqual([{ seen: 0 }, 2]);
  });
});

describe("what a role does next", () => {
  test("is named by its name, how often it has acted and which attempt it is, whoever was named before", () => {
    const role = new RoleState("Ann", 0, as);
    expect([role.nextAct, role.nextAct]).toEqual(["Ann#0~1", "Ann#0~1"]);
    role.failures = 1;
    expect(role.nextAct).toBe("Ann#0~2");
    role.passOn();
    expect(role.nextAct).toBe("Ann#1~1");
    const bob = new RoleState("Bob", 1, as);
    expect([bob.nextAct, role.nextAct, bob.nextAct]).toEqual(["Bob#0~1", "Ann#1~1", "Bob#0~1"]);
    bob.passOn();
    expect([bob.nextAct, role.nextAct]).toEqual(["Bob#1~1", "Ann#1~1"]);
  });

  test("RS2 forgets the attempts of what is over, and goes on with who is still to be tried alone", () => {
    const role = new RoleState("Ann", 0, as);
    Object.assign(role, { failures: 2, strikes: 1, isolated: 2, retake: 1, carry: new Map([["k", 1]]) });
    role.passOn();
    expect(parts(role)).toMatchObject({ n: 1, failures: 0, strikes: 0, isolated: 1, retake: 1, carry: [] });
    role.passOn();
    expect(parts(role)).toMatchObject({ n: 2, isolated: 0, retake: undefined });
  });
});

describe("RS1 RS2 RS4 what a role remembers", () => {
  test("property: is what a memory of its limit would hold, whenever somebody looks", () => {
    const [one, two, three] = ["one", "two", "three"].map((id) => createMessage(id, { id }));
    const some = fc.array(fc.constantFrom(one, two, three) as fc.Arbitrary<Message>, { minLength: 1, maxLength: 2 });
    const words = fc.array(fc.tuple(some, fc.boolean()), { maxLength: 6 });
    fc.assert(
      fc.property(words, fc.constantFrom(undefined, 1, 2), (heard, limit) => {
        const { memoryLimit: _limit, ...unlimited } = as;
        const role = new RoleState("Ann", 0, limit === undefined ? unlimited : { ...as, memoryLimit: limit });
        const memory = new Memory({ limit });
        expect(role.recalled).toBe(role);
        const known = new Set<Message>();
        let isFresh = true;
        for (const [messages, looks] of heard) {
          for (const message of messages) {
            const isNew = !known.has(message);
            isFresh &&= isNew;
            role.hear(message, isNew);
            role.takeNext();
            known.add(message);
          }
          expect(role.hearsOnlyNews).toBe(isFresh && limit === undefined);
          role.remember(messages);
          memory.addBatch(messages);
          if (!looks) continue;
          // Whoever has it may write into it.
          isFresh = false;
          expect(role.recalled).toBe(role.memory);
          expect(role.memory.get()).toEqual(memory.get());
        }
        expect(role.memory.toJSON()).toEqual(memory.toJSON());
        expect(role.memory).toBe(role.memory);
      }),
    );
  });
});
