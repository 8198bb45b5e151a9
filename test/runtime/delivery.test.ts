import { describe, expect, test } from "vitest";
import { createMessage, type Message } from "../../src/message/message.ts";
import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement } from "../../src/message/address.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { termsOf } from "../../src/runtime/schedulers/scheduler.ts";
import { RunState } from "../../src/runtime/record/run-state.ts";
import { answering, contents, listener, remembered, town } from "./town.ts";

const Report = defineAction({ name: "Report" });
const Gossip = defineAction({ name: "Gossip" });

describe("the history of a run holds one message of an id", () => {
  const speaker = (times: number): ReturnType<typeof answering> =>
    answering("Ann", (rc) => Array.from({ length: times }, (_, n) => rc.message(`said ${n}`, { sendTo: ROUTE_TO_NONE })));

  test.each([
    ["before the role says its own", ["chosen", "go"], ["chosen", "go", "said 0", "said 2"]],
    ["after it", ["go", "chosen"], ["go", "said 0", "said 1", "said 2"]],
  ])("also where somebody outside chose an id that a role gives: %s", async (_when, order, kept) => {
    const environment = town([speaker(3)]);
    for (const content of order) {
      const chosen = { id: "Ann#0.1", sendTo: ROUTE_TO_NONE };
      environment.publishMessage(content === "go" ? createMessage("go", { id: "go" }) : createMessage("chosen", chosen));
      await environment.run();
    }
    expect(contents(environment.history)).toEqual(kept);
    expect(environment.history.has("Ann#0.1")).toBe(true);
    expect(environment.history.has("Ann#0.3")).toBe(false);
  });

  test.each(["it twice", "a copy before it", "a copy after it"])("also where somebody publishes what was just made: %s", (order) => {
    const environment = town([listener("Ann", { watch: [UserRequirement] })]);
    const made = createMessage("made", { causeBy: UserRequirement });
    const copy = Object.freeze({ ...made, content: "copy" });
    const [first, second] = { "it twice": [made, made], "a copy before it": [copy, made], "a copy after it": [made, copy] }[order] ?? [];
    for (const message of [first, second, first]) environment.publishMessage(message as Message);
    expect([...environment.history]).toEqual([first]);
    expect(environment.getRole("Ann")?.inbox).toEqual([first]);
    environment.publishMessage(createMessage("another", { causeBy: UserRequirement }));
    environment.publishMessage(second as Message);
    expect([environment.history.size, environment.getRole("Ann")?.inbox.length]).toEqual([2, 2]);
  });
});

describe("the recipients of a message", () => {
  test("addressed by name: observed although nothing about it is watched", async () => {
    const environment = town([listener("Ann", { watch: [Report] }), listener("Bob", { watch: [Report] })]);
    const receipt = environment.publishMessage(createMessage("for Ann", { causeBy: Gossip, sendTo: "Ann" }));
    expect(receipt.recipients).toEqual(["Ann"]);
    await environment.run();
    expect(remembered(environment, "Ann")).toEqual(["for Ann"]);
    expect(remembered(environment, "Bob")).toEqual([]);
  });

  test("addressed by profile: everyone of that trade hears it", async () => {
    const environment = town([
      listener("Ann", { profile: "Smith" }),
      listener("Bob", { profile: "Smith" }),
      listener("Cid", { profile: "Baker" }),
    ]);
    expect(environment.publishMessage(createMessage("iron", { sendTo: "Smith" })).recipients).toEqual(["Ann", "Bob"]);
    await environment.run();
    expect(remembered(environment, "Bob")).toEqual(["iron"]);
    expect(remembered(environment, "Cid")).toEqual([]);
  });

  test("a broadcast is observed by those who watch its cause", async () => {
    const environment = town([
      listener("Ann", { watch: [Report] }),
      listener("Bob", { watch: [Gossip] }),
      listener("Cid", { watch: ["Report", Gossip] }),
    ]);
    expect(environment.publishMessage(createMessage("r", { causeBy: Report })).recipients).toEqual(["Ann", "Cid"]);
    expect(environment.publishMessage(createMessage("g", { causeBy: Gossip })).recipients).toEqual(["Bob", "Cid"]);
    await environment.run();
    expect(remembered(environment, "Cid")).toEqual(["r", "g"]);
    expect(remembered(environment, "Ann")).toEqual(["r"]);
  });

  test("without a watch list a role hears a user's requirement, and nothing else", () => {
    const environment = town([listener("Ann")]);
    expect(environment.publishMessage("build it").recipients).toEqual(["Ann"]);
    expect(environment.publishMessage(createMessage("r", { causeBy: Report })).recipients).toEqual([]);
  });

  test("observeAll hears every broadcast, but no letter to somebody else", () => {
    const environment = town([listener("Ann", { watch: [Report] }), listener("Spy", { observeAll: true, watch: [] })]);
    expect(environment.publishMessage(createMessage("r", { causeBy: Report })).recipients).toEqual(["Ann", "Spy"]);
    expect(environment.publishMessage(createMessage("g", { causeBy: Gossip })).recipients).toEqual(["Spy"]);
    expect(environment.publishMessage(createMessage("private", { sendTo: "Ann" })).recipients).toEqual(["Ann"]);
  });

  test("<none> is heard by nobody, kept in the history, and no mistake to warn about", () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
    const environment = town([listener("Spy", { observeAll: true })], { logger });
    const unheard: string[] = [];
    environment.on("message.unheard", ({ message }) => unheard.push(message.content));
    expect(environment.publishMessage(createMessage("a note", { sendTo: ROUTE_TO_NONE })).recipients).toEqual([]);
    expect(contents(environment.history)).toEqual(["a note"]);
    expect({ warnings, unheard }).toEqual({ warnings: [], unheard: [] });
  });

  test("a message from outside that nobody hears is told, and is no output", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
    const environment = town([listener("Ann", { watch: [Report] })], { logger });
    const unheard: string[] = [];
    environment.on("message.unheard", ({ message }) => unheard.push(message.content));
    environment.publishMessage("hello?");
    const result = await environment.run();
    expect(unheard).toEqual(["hello?"]);
    expect(warnings).toHaveLength(1);
    expect(result.outputs).toEqual([]);
    expect(result.status).toBe("finished");
  });
});

describe("messages that a role receives, and others", () => {
  test("its own broadcast", async () => {
    const ann = answering("Ann", (rc) => rc.message("echo", { causeBy: Report }), { watch: [UserRequirement, Report] });
    const environment = town([ann, listener("Bob", { watch: [Report] })]);
    environment.publishMessage("go");
    const result = await environment.run({ rounds: 5 });
    expect(result.status).toBe("finished");
    expect(remembered(environment, "Bob")).toEqual(["echo"]);
    expect(environment.getRole("Ann")?.memory.getByAction(Report)).toEqual([]);
  });

  test("<self> is heard by the sender, although it remembers having said it", async () => {
    const counting = answering("Ann", (rc) =>
      rc.news[0]?.content === "3" ? undefined : rc.message(String(rc.memory.size), { sendTo: ROUTE_TO_SELF }),
    );
    const environment = town([counting, listener("Spy", { observeAll: true })]);
    environment.publishMessage(createMessage("0", { sendTo: "Ann" }));
    await environment.run();
    expect(remembered(environment, "Ann")).toEqual(["0", "1", "2", "3"]);
    expect(remembered(environment, "Spy")).toEqual([]);
  });

  test("an action that answers <self> goes on with its own word as news", async () => {
    const Count = defineAction({
      name: "Count",
      run: (ctx) => (ctx.text.length === 3 ? "done" : `${ctx.text}i`),
      sendTo: (ctx) => (ctx.text.length === 3 ? [ROUTE_TO_ALL] : [ROUTE_TO_SELF]),
    });
    const environment = town([defineRole({ name: "Ann", actions: [Count] })]);
    environment.publishMessage("i");
    const result = await environment.run();
    expect(contents(result.messages)).toEqual(["i", "ii", "iii", "done"]);
  });
});

describe("dead letters and outputs", () => {
  test("an address that nobody has: a warning, a notice, and a place in the result; the rest is delivered", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
    const ann = answering("Ann", (rc) => rc.message("hi", { sendTo: ["Nobody", "Bob"] }));
    const environment = town([ann, listener("Bob", { watch: [] })], { logger });
    const dead: string[] = [];
    environment.on("message.dead", ({ address }) => dead.push(address));
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.deadLetters).toMatchObject([{ message: { content: "hi" }, reason: { kind: "no such address", address: "Nobody" } }]);
    expect(remembered(environment, "Bob")).toEqual(["hi"]);
    expect(dead).toEqual(["Nobody"]);
    expect(warnings.join()).toContain("Nobody");
    expect(result.outputs).toEqual([]);
    expect(result.status).toBe("finished");
  });

  test("a role's broadcast that nobody watches is an output, in order, and no warning", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
    const ann = answering("Ann", (rc) => [rc.message("one", { causeBy: Gossip }), rc.message("two", { causeBy: Report })]);
    const environment = town([ann], { logger });
    const told: string[] = [];
    environment.on("message.output", ({ message }) => told.push(message.content));
    environment.publishMessage("go");
    const result = await environment.run();
    expect(contents(result.outputs)).toEqual(["one", "two"]);
    expect(result.output?.content).toBe("two");
    expect(told).toEqual(["one", "two"]);
    expect(warnings).toEqual([]);
  });

  test("<none> from a role is neither", async () => {
    const environment = town([answering("Ann", (rc) => rc.message("note", { sendTo: ROUTE_TO_NONE }))]);
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.outputs).toEqual([]);
    expect(result.deadLetters).toEqual([]);
    expect(contents(result.messages)).toEqual(["go", "note"]);
  });
});

describe("receipts", () => {
  test("within an activation tell who will hear it, before anyone does", async () => {
    let seen: { recipients: readonly string[]; heardAlready: boolean } | undefined;
    const environment = town([
      listener("Bob", { watch: [Report] }),
      answering("Ann", (rc) => {
        const { recipients } = rc.publish(rc.message("r", { causeBy: Report }));
        seen = { recipients, heardAlready: (environment.getRole("Bob")?.inbox.length ?? 0) > 0 };
      }),
      listener("Cid", { watch: [Report] }),
    ]);
    environment.publishMessage(createMessage("go", { sendTo: "Ann" }));
    await environment.run();
    expect(seen).toEqual({ recipients: ["Bob", "Cid"], heardAlready: false });
    expect(remembered(environment, "Bob")).toEqual(["r"]);
  });

  test("Outbox.O1 publishing one message twice, or publishing and returning it, says it once", async () => {
    const ann = answering("Ann", (rc) => {
      const message = rc.message("once", { causeBy: Report });
      expect(rc.publish(message).recipients).toEqual(["Bob"]);
      expect(rc.publish(message).recipients).toEqual(["Bob"]);
      return message;
    });
    const environment = town([ann, listener("Bob", { watch: [Report] })]);
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.status).toBe("finished");
    expect(contents(result.messages)).toEqual(["go", "once"]);
  });
});

describe("a message to many", () => {
  const names = Array.from({ length: 50 }, (_, place) => `L${place}`);
  const hear = defineRole({
    name: "Listener",
    watch: [Report],
    react: (rc) => (rc.name === "L7" && rc.news[0]?.content === "one" ? rc.message("two", { causeBy: Report }) : undefined),
  });

  test.each(["rounds", "eager"] as const)("reaches each of them: %s", async (scheduler) => {
    const state = Object.assign(new RunState("r"), termsOf({ scheduler }), { seed: "s" });
    const environment = new Environment({ seed: "s" }, { state });
    const lists: (readonly string[])[] = [];
    environment.on("message", ({ to }) => lists.push(to));
    environment.on("act.ended", ({ said }) => lists.push(...said.map(({ to }) => to)));
    for (const name of names) environment.addRole(hear, { name });
    const { recipients } = environment.publishMessage(createMessage("one", { causeBy: Report }));
    await environment.run();
    expect(recipients).toEqual(names);
    for (const name of names) expect(remembered(environment, name)).toEqual(name === "L7" ? ["one"] : ["one", "two"]);
    const others = names.filter((name) => name !== "L7");
    expect(lists).toEqual([names, others]);
  });
});

test("a message that comes twice from outside is kept, and waits, once; also where one comes that has an id as roles give them", async () => {
  const heard: string[] = [];
  const environment = town([answering("Ann", (rc) => void heard.push(...contents(rc.news)))]);
  const first = createMessage("first", { id: "one" });
  const given = createMessage("given", { id: "Ann#0.0" });
  for (const message of [first, first, createMessage("other words", { id: "one" })]) environment.publishMessage(message);
  expect(environment.getRole("Ann")?.inbox.length).toBe(1);
  await environment.run();
  for (const message of [first, given, given, first]) environment.publishMessage(message);
  const { messages } = await environment.run();
  expect(contents(messages)).toEqual(["first", "given"]);
  expect(heard).toEqual(["first", "given"]);
});
