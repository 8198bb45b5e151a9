import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Environment } from "../../../src/runtime/environment.ts";
import { AbortedError } from "../../../src/kernel/errors.ts";
import { randomStream } from "../../../src/kernel/random.ts";
import { inMemoryStore } from "../../../src/memory/message-store.ts";
import { createMessage, type Message } from "../../../src/message/message.ts";
import { retry } from "../../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import type { StepOut, StepRoleOptions } from "../../../src/role/step-role.ts";
import type { ActEnded, RunEvent } from "../../../src/runtime/record/event.ts";
import { answering, contents, listener, town } from "../town.ts";

const Purse = z.object({ coins: z.number().default(10), log: z.array(z.string()).default([]) });

type Step = StepRoleOptions["step"];

function stepping(name: string, step: Step, options: Partial<StepRoleOptions> = {}): Role {
  return defineRole({ ...options, name, step });
}

function eventsOf<T extends RunEvent["type"]>(environment: Environment, type: T): (RunEvent & { readonly type: T })[] {
  const events: (RunEvent & { readonly type: T })[] = [];
  environment.on(type, (event) => void events.push(event as RunEvent & { readonly type: T }));
  return events;
}

/** Lets a role that is one function hear these messages together, and tells what it recorded. */
async function acted(role: Role, ...texts: readonly string[]): Promise<{ environment: Environment; ended: ActEnded[] }> {
  const environment = town([role]);
  const ended = eventsOf(environment, "act.ended");
  for (const text of texts) environment.publishMessage(text);
  await environment.run();
  return { environment, ended };
}

describe("a step function", () => {
  test("is called once for each message, in order, in one activation for all that wait", async () => {
    const heard: string[] = [];
    const { ended, environment } = await acted(
      stepping("Ann", (_state, message) => void heard.push(message.content)),
      "one",
      "two",
      "three",
    );
    expect(heard).toEqual(["one", "two", "three"]);
    expect(ended.map(({ act, take }) => [act, take])).toEqual([["Ann#0~1", 3]]);
    expect(environment.isIdle).toBe(true);
  });

  test("has the state that the one before came to, and its last one is the role's", async () => {
    const role = defineRole({
      name: "Ann",
      state: Purse,
      step: (state, message) => ({ coins: state.coins + Number(message.content), log: [...state.log, `${state.coins}`] }),
    });
    const { environment, ended } = await acted(role, "1", "2", "3");
    expect(environment.getRole("Ann")?.state).toEqual({ coins: 16, log: ["10", "11", "13"] });
    expect(ended[0]?.state).toEqual({ set: { coins: 16, log: ["10", "11", "13"] }, unset: [] });
  });

  test("remembers nothing, also where all others remember for longer than the run", async () => {
    const environment = town([stepping("Ann", () => ({ heard: true })), listener("Bob")], { memory: { store: inMemoryStore() } });
    environment.publishMessage("go");
    await environment.run();
    expect(["Ann", "Bob"].map((name) => environment.getRole(name)?.memory.size)).toEqual([0, 1]);
    expect(environment.getRole("Ann")?.workingMemory.size).toBe(0);
    expect(["Ann", "Bob"].map((name) => environment.memories.of(name) !== undefined)).toEqual([false, true]);
  });
});

describe("StepState.SS2 what a step function may not do with its state", () => {
  test.each<[string, Step]>([
    ["write a key", (state) => void ((state as { coins: number }).coins = 0)],
    ["take one away", (state) => void delete (state as { coins?: number }).coins],
    ["change what is in it", (state) => void (state["log"] as string[]).push("x")],
  ])("it cannot %s: that is an error, and nothing has changed", async (_what, step) => {
    const role = stepping("Ann", step, { state: Purse as never });
    for (const before of [[], ["first"]]) {
      const environment = town([role], { onFailure: "skip" });
      for (const text of [...before, "go"]) environment.publishMessage(text);
      const { deadLetters } = await environment.run();
      expect(deadLetters.at(-1)?.reason).toMatchObject({ kind: "failed", error: { name: "TypeError" } });
      expect(environment.getRole("Ann")?.state).toEqual({ coins: 10, log: [] });
    }
  });
});

describe("the state that a step function returns", () => {
  test.each<[string, unknown, RegExp]>([
    ["null", null, /next state or nothing, got null/],
    ["a list", [1], /next state or nothing, got \[1\]/],
    ["a text", "done", /next state or nothing, got "done"/],
    ["a number", 7, /got 7/],
    ["a promise", Promise.resolve({}), /synchronous, got a promise/],
    ["a thenable of no class", Object.assign(Object.create(null) as object, { then: () => {} }), /synchronous, got a promise/],
  ])("is a state, not %s", async (_what, given, message) => {
    const environment = town([stepping("Ann", () => given as never)]);
    environment.publishMessage("go");
    expect((await environment.run()).error).toMatchObject({ code: "STEP_RESULT", message: expect.stringMatching(message) });
  });
});

describe("the messages of a step function", () => {
  test("is caused by its role, sent by the name it was hired under, and answers the message at hand", async () => {
    const said: Message[] = [];
    const role = stepping("Ann", (_state, message, out) => {
      said.push(out.say(`${out.name} heard ${message.content} at ${out.now()}`, { sendTo: "Bob" }), out.say("more"));
    });
    const environment = town([], { clock: { now: () => 77, timer: () => () => {} } })
      .addRole(role, { name: "Eve" })
      .addRole(listener("Bob", { watch: [] }));
    const asked = ["one", "two"].map((text) => environment.publishMessage(createMessage(text, { id: text })).message);
    const { messages, outputs } = await environment.run();
    expect(
      said.map(({ id, content, causeBy, sentFrom, parents, timestamp, role: as }) => [
        id,
        content,
        causeBy,
        sentFrom,
        parents,
        timestamp,
        as,
      ]),
    ).toEqual([
      ["Eve#0.0", "Eve heard one at 77", "Ann", "Eve", ["one"], 77, "assistant"],
      ["Eve#0.1", "more", "Ann", "Eve", ["one"], 77, "assistant"],
      ["Eve#0.2", "Eve heard two at 77", "Ann", "Eve", ["two"], 77, "assistant"],
      ["Eve#0.3", "more", "Ann", "Eve", ["two"], 77, "assistant"],
    ]);
    expect(messages).toEqual([...asked, ...said]);
    expect(outputs).toEqual([said[1], said[3]]);
    expect(said.every((message) => Object.isFrozen(message))).toBe(true);
    environment.publishMessage("three");
    await environment.run();
    expect(said[4]?.id).toBe("Eve#1.0");
  });

  test.each([
    ["after one message", ["go"]],
    ["after several", ["go", "on"]],
    ["after one that failed", ["bomb"]],
    ["after several of which one failed", ["go", "bomb"]],
  ])("StepOutbox.S1 nothing is said when the activation is over: %s", async (_when, texts) => {
    let kept: StepOut | undefined;
    const role = stepping("Ann", (_state, message, out) => {
      kept = out;
      if (message.content === "bomb") throw new Error("it went off");
    });
    const { environment } = await acted(role, ...texts);
    expect(() => kept?.say("late")).toThrow(expect.objectContaining({ code: "CONTEXT_CLOSED" }));
    expect(() => kept?.say("late")).toThrow("activation Ann#0~1 had ended");
    expect(contents(environment.history)).toEqual(texts);
  });
});

describe("StepOutbox.S2 a step function's chance", () => {
  async function numbers(seed: string, name: string, rounds = 2, concurrency = 1): Promise<number[]> {
    const drawn: number[] = [];
    const role = stepping(name, (_state, message, out) => {
      drawn.push(out.random(), out.random());
      if (Number(message.content) > 1) out.say(String(Number(message.content) - 1), { sendTo: "<self>" });
    });
    const environment = town([stepping("Other", (_state, _message, out) => void out.random()), role], { seed, concurrency });
    environment.publishMessage(String(rounds));
    await environment.run();
    return drawn;
  }

  test("is of the seed, its name and how often it has acted", async () => {
    const ann = await numbers("s", "Ann", 3);
    expect(new Set(ann).size).toBe(6);
    expect(ann.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(await numbers("s", "Ann", 3, 64)).toEqual(ann);
    expect(await numbers("s", "Ann", 2)).toEqual(ann.slice(0, 4));
    for (const other of [await numbers("t", "Ann", 3), await numbers("s", "Anna", 3)])
      for (const number of other) expect(ann).not.toContain(number);
    expect(ann[0]).not.toBe(randomStream("s", "role", "Ann", 0)());
  });
});

describe("a step function that fails", () => {
  const bomb: Step = (state, message, out) => {
    out.say(`heard ${message.content}`);
    if (message.content === "bomb") throw new Error("it went off");
    return { ...state, [message.content]: true };
  };
  const likewise = (name: string): Role =>
    answering(name, (rc) => {
      for (const { content, id } of rc.news) {
        rc.publish(rc.message(`heard ${content}`, { parents: [id], causeBy: name }));
        if (content === "bomb") throw new Error("it went off");
        rc.state[content] = true;
      }
    });

  async function life(role: Role, onFailure: StepRoleOptions["onFailure"], texts = ["a", "bomb", "b"]): Promise<unknown> {
    const environment = town([role], onFailure === undefined ? {} : { onFailure, clock: { now: () => 5, timer: () => () => {} } });
    const failed = eventsOf(environment, "act.failed");
    const warnings: string[] = [];
    environment.on("warning", ({ text }) => void warnings.push(text));
    for (const text of texts) environment.publishMessage(createMessage(text, { id: text, timestamp: 1 }));
    const { status, error, deadLetters, messages } = await environment.run();
    const again = await environment.run();
    return {
      ends: [status, error?.code, error?.message, again.status],
      failed: failed.map(({ runId: _runId, time: _time, seq: _seq, ...event }) => event),
      warnings,
      deadLetters,
      messages: onFailure === undefined ? contents(messages) : messages,
      state: environment.getRole("Ann")?.state,
      inbox: contents(environment.getRole("Ann")?.inbox ?? []),
    };
  }

  test.each<[string, NonNullable<StepRoleOptions["onFailure"]>]>([
    ["stop", "stop"],
    ["skip", "skip"],
    ["retry", retry(2)],
    ["retry, then skip", retry(1, "skip")],
  ])("by the policy %s ends as any other role that does the same", async (_what, onFailure) => {
    for (const texts of [["a", "bomb", "b"], ["bomb"]]) {
      const stepped = await life(stepping("Ann", bomb), onFailure, texts);
      expect(stepped).toEqual(await life(likewise("Ann"), onFailure, texts));
      expect(stepped).toMatchObject({
        failed: expect.arrayContaining([expect.objectContaining({ error: expect.objectContaining({ code: "ACTION_FAILED" }) })]),
      });
    }
  });

  test("loses the message at fault and no other, and says nothing twice", async () => {
    expect(await life(stepping("Ann", bomb), "skip")).toMatchObject({
      ends: ["finished", undefined, undefined, "finished"],
      failed: [
        { take: 3, then: "isolate" },
        { take: 1, then: "dead" },
      ],
      state: { a: true, b: true },
      deadLetters: [{ message: { content: "bomb" } }],
      messages: [{ content: "a" }, { content: "bomb" }, { content: "b" }, { content: "heard a" }, { content: "heard b" }],
    });
  });

  test("by an interruption of its own is suspended, not failed", async () => {
    let isMended = false;
    const environment = town([
      stepping("Ann", (_state, _message, out) => {
        if (!isMended) throw new AbortedError();
        out.say("done");
      }),
    ]);
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("stopped");
    isMended = true;
    const { status, output } = await environment.run();
    expect([status, output?.content, output?.id]).toEqual(["finished", "done", "Ann#0.0"]);
  });
});
