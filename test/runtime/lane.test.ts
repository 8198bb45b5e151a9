import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../src/runtime/environment-options.ts";
import { stateText } from "./state-text.ts";

/** What a role does in an act, drawn from its random stream: `rare` says how often it does what is not plain. */
interface Habits {
  readonly kind: "step" | "steps" | "each round";
  readonly fan: number;
  readonly rare: number;
  readonly fails: number;
}

function person(habits: Habits, names: readonly string[], read: string[]): Role {
  const { kind, fan, rare, fails } = habits;
  const act = (
    state: { readonly coins: number; readonly mood: string },
    contents: readonly string[],
    out: Parameters<NonNullable<Role["steps"]>>[2],
  ) => {
    read.push(`${out.name} ${out.round} ${Object.is(state.coins, -0)} ${JSON.stringify(state)} ${contents.join()}`);
    expect(Object.isFrozen(state)).toBe(true);
    const own = Number(out.name.slice(1));
    const circle = [3, 1, 2].map((step) => names[(own + step) % names.length] ?? "p0");
    const some = (): string => names[Math.floor(out.random() * names.length)] ?? "p0";
    for (let count = 0; count < fan; count += 1) {
      if (out.random() < 0.3) continue;
      const draw = out.random();
      const sendTo = draw < 0.1 ? "<self>" : some();
      if (out.random() >= rare) read.push(JSON.stringify(out.say("coin", { sendTo: draw > 0.7 ? circle : sendTo })));
      else if (draw < 0.2) out.say("all");
      else if (draw < 0.3) out.say("lost", { sendTo: "nobody" });
      else if (draw < 0.35) out.say("two", { sendTo: [some(), some()] });
      else if (draw < 0.4) out.say("own", { sendTo: ["<self>", "nobody", some()] });
      else if (draw < 0.5) out.say("data", { sendTo, instructContent: { draw } });
      else if (draw < 0.6) out.after(3, "later", { sendTo });
      else if (draw < 0.7) out.say("key sk-abcdefghijklmnopqrstuvwxyz", { sendTo });
      else if (draw < 0.8) out.say("of", { sendTo, parents: ["x#1.1"], causeBy: "Other" });
      else if (draw < 0.9) out.say("urgent", { sendTo, priority: -1 });
      else out.say("group", { sendTo: "Town" });
    }
    if (out.random() < fails) throw new Error("breaks");
    const [coins, mood] = [state.coins + contents.length, out.random() < 0.5 ? "S" : "I"];
    const draw = out.random();
    if (draw < 0.2) return undefined;
    if (out.random() >= rare) return { coins, mood };
    const others = [
      { mood, coins },
      { coins: -0, mood },
      { coins, mood: "key sk-abcdefghijklmnopqrstuvwxyz" },
      { coins, mood, more: [{ coins }] },
      { coins },
      { coins: Number.NaN, mood },
      { coins, mood, [Symbol("no")]: 1 },
      Object.create({ coins, mood }) as object,
    ];
    return others[Math.floor(out.random() * others.length)] as { readonly coins: number; readonly mood: string };
  };
  const state = z.object({ coins: z.number().default(1), mood: z.string().default("S") });
  const parts = { name: kind, profile: "Town", watch: ["step", "steps", "each round"], state, onFailure: "skip" as const };
  if (kind === "step") return defineRole({ ...parts, step: (held, { content }, out) => act(held, [content], out) });
  const steps = (held: { readonly coins: number; readonly mood: string }, messages: readonly Message[], out: Parameters<typeof act>[2]) => {
    for (const message of messages) expect(Object.isFrozen(message)).toBe(true);
    return act(
      held,
      messages.map((message) => `${out.arrivedAt(message)} ${JSON.stringify(message)}`),
      out,
    );
  };
  return defineRole({ ...parts, steps, ...(kind === "each round" ? { acts: "each round" } : {}) });
}

const still = { now: () => 7, timer: () => () => {} } as unknown as NonNullable<EnvironmentOptions["clock"]>;

const namesOf = (size: number): string[] => Array.from({ length: size }, (_, index) => `p${index}`);

function townOf(size: number, habits: readonly Habits[], options: EnvironmentOptions, read: string[]): Environment {
  const environment = new Environment({ seed: 4, memory: false, clock: still, logger: quiet, ...options });
  const names = namesOf(size);
  const roles = habits.map((one) => person(one, names, read));
  for (const [index, name] of names.entries()) environment.addRole(roles[index % roles.length] as Role, { name });
  environment.publishMessage(createMessage("go", { id: "user#1", sendTo: names, timestamp: 0 }));
  return environment;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** Everything in a state, without the order in which roles became ready. */
function formOf({ state }: Environment): unknown {
  const { ready, ...rest } = JSON.parse(stateText(state)) as { ready: string[] };
  return { ...rest, ready: ready.toSorted() };
}

/** An observer of acts keeps a run out of the lane. */
function observed(environment: Environment): Environment {
  environment.on("act.ended", () => undefined);
  return environment;
}

const habits: fc.Arbitrary<Habits> = fc.record({
  kind: fc.constantFrom("step", "steps", "each round"),
  fan: fc.integer({ min: 0, max: 3 }),
  rare: fc.constantFrom(0, 0, 0.05, 0.5),
  fails: fc.constantFrom(0, 0, 0.05),
});

describe("the lane of step roles", () => {
  test("Lane.L1 Lane.L4 LaneOutbox.LO1 Mail.ML1 Mail.ML2 property: a run has the state and the mail read of one outside", async () => {
    const options = fc.record({
      limit: fc.constantFrom(undefined, 2, 5),
      overflow: fc.constantFrom("refuse" as const, "drop-oldest" as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(habits, { minLength: 1, maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
        options,
        async (size, kinds, stretches, { limit, overflow }) => {
          const mailbox = limit === undefined ? {} : { mailbox: { limit, overflow } };
          const [inLane, outside]: [string[], string[]] = [[], []];
          const [one, other] = [townOf(size, kinds, mailbox, inLane), observed(townOf(size, kinds, mailbox, outside))];
          for (const rounds of stretches) {
            const [a, b] = [await one.run({ rounds }), await other.run({ rounds })];
            expect(inLane).toEqual(outside);
            expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)));
            expect(formOf(one)).toEqual(formOf(other));
          }
        },
      ),
    );
  });

  const plain: Habits = { kind: "each round", fan: 2, rare: 0, fails: 0 };

  test("LaneOutbox.LO2 an outbox kept after its act refuses messages, and its numbers stay those of its act", async () => {
    const kept = await Promise.all(
      [(one: Environment) => one, observed].map(async (keep) => {
        const seen: unknown[] = [];
        let before: Parameters<NonNullable<Role["steps"]>>[2] | undefined;
        const role = defineRole({
          name: "P",
          watch: [],
          acts: "each round",
          steps(_state, _messages, out) {
            for (const call of [() => before?.say("late", { sendTo: "p0" }), () => before?.after(2, "late", { sendTo: "p0" })]) {
              try {
                seen.push(call());
              } catch (error) {
                seen.push((error as { readonly code?: string }).code);
              }
            }
            seen.push(before?.name, before?.random(), before?.stream("s")(), before?.now(), out.random());
            before = out;
          },
        });
        const environment = keep(new Environment({ seed: 3, memory: false, clock: still, logger: quiet }));
        for (const name of namesOf(3)) environment.addRole(role, { name });
        await environment.run({ rounds: 3 });
        return [seen, formOf(environment)];
      }),
    );
    expect(kept[0]).toEqual(kept[1]);
    expect(kept[0]?.[0]).toContain("CONTEXT_CLOSED");
  });

  test("a snapshot of any round continues, in the lane and outside of it", async () => {
    const both = [plain, { ...plain, kind: "steps" as const }].map((one) => person(one, namesOf(9), []));
    const whole = townOf(9, [plain, { ...plain, kind: "steps" }], {}, []);
    await whole.run({ rounds: 6 });
    for (let round = 0; round <= 6; round += 1) {
      const first = townOf(9, [plain, { ...plain, kind: "steps" }], {}, []);
      await first.run({ rounds: round });
      expect((await Environment.restore(await first.snapshot(), { roles: both, clock: still })).isIdle).toBe(first.isIdle);
      for (const keep of [(one: Environment) => one, observed]) {
        const again = keep(await Environment.restore(await first.snapshot(), { roles: both, clock: still, logger: quiet }));
        await again.run({ rounds: 6 - round });
        expect(formOf(again)).toEqual(formOf(whole));
      }
    }
  });

  test("Lane.L2 a stop in the middle of a round discards the act under way, and the run continues as if it had not stopped", async () => {
    const states = await Promise.all(
      [(one: Environment) => one, observed].map(async (keep) => {
        const abort = new AbortController();
        let acts = 0;
        const role = defineRole({
          name: "P",
          watch: [],
          acts: "each round",
          state: z.object({ heard: z.number().default(0) }),
          steps({ heard }, messages, out) {
            acts += 1;
            out.say("coin", { sendTo: `p${Math.floor(out.random() * 7)}` });
            if (acts === 17) abort.abort();
            return { heard: heard + messages.length };
          },
        });
        const environment = keep(new Environment({ seed: 2, memory: false, clock: still }));
        for (let index = 0; index < 7; index += 1) environment.addRole(role, { name: `p${index}` });
        const stopped = await environment.run({ rounds: 5, signal: abort.signal });
        const middle = formOf(environment);
        await environment.run({ rounds: 3 });
        return [stopped.status, middle, formOf(environment)];
      }),
    );
    expect(states[0]).toEqual(states[1]);
    expect(states[0]?.[0]).toBe("stopped");
  });

  test("Lane.L3 messages and hires that come between runs, or while a role acts, are found as outside of the lane", async () => {
    const forms = await Promise.all(
      [(one: Environment) => one, observed].map(async (keep) => {
        const read: string[] = [];
        const environment = keep(townOf(6, [{ ...plain, kind: "steps" }], {}, read));
        let calls = 0;
        const caller = defineRole({
          name: "Caller",
          watch: [],
          acts: "each round",
          steps() {
            calls += 1;
            if (calls === 2) environment.publishMessage(createMessage("now", { id: "u2", sendTo: ["p0", "p5"], timestamp: 0 }));
          },
        });
        environment.addRole(caller, { name: "caller" });
        await environment.run({ rounds: 2 });
        environment.publishMessage(createMessage("late", { id: "u3", sendTo: ["p1"], timestamp: 0 }));
        const inbox = environment.getRole("p1")?.inbox.map(({ content }) => content);
        environment.addRole(caller, { name: "other" });
        await environment.run({ rounds: 2 });
        environment.engine.team.retire("p2");
        await environment.run({ rounds: 2 });
        return [read, inbox, formOf(environment)];
      }),
    );
    expect(forms[0]).toEqual(forms[1]);
  });
});
