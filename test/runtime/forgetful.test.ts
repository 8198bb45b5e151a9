import { describe, expect, test } from "vitest";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { ActionContext, RoleContext } from "../../src/role/context.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { answering, contents, remembered, town } from "./town.ts";

const HOPS = 6;
const forgetful = { memory: false } as const;

/** Passes a count on to the other, and tells what it remembers meanwhile. */
function player(name: string, other: string, seen: string[] = []): Role {
  const pass = defineAction({
    name: `Pass${name}`,
    run(ctx) {
      seen.push(contents(ctx.memory).join(" "));
      return Number(ctx.text) < HOPS ? ctx.message(`${Number(ctx.text) + 1}`, { sendTo: other }) : "over";
    },
  });
  return defineRole({ name, watch: [], actions: [pass] });
}

describe.each(["rounds", "eager"] as const)("an environment with memory: false, %s", (scheduler) => {
  test("keeps nothing that was said but what it says to the outside, and who acts has its news", async () => {
    const seen: string[] = [];
    const environment = town([player("Ann", "Bob", seen), player("Bob", "Ann", seen)], { ...forgetful, scheduler });
    environment.publishMessage(createMessage("0", { sendTo: "Ann" }));
    const { status, messages, outputs, output } = await environment.run();
    expect([status, messages, contents(outputs), output?.content]).toEqual(["finished", [], ["over"], "over"]);
    expect([environment.history.size, remembered(environment, "Ann"), remembered(environment, "Bob")]).toEqual([0, [], []]);
    expect(seen).toEqual(["0", "1", "2", "3", "4", "5", "6"]);
  });

  test("tells the same of what was said, and of memories that nothing was remembered", async () => {
    const toldBy = async (options: { readonly memory?: false }): Promise<unknown[][]> => {
      const environment = town([player("Ann", "Bob"), player("Bob", "Ann")], { ...options, scheduler, clock: simulatedClock() });
      const told: unknown[][] = [];
      environment.on("act.ended", ({ act, said, memory }) => told.push([act, JSON.stringify(said), memory.length]));
      environment.publishMessage(createMessage("0", { id: "first", timestamp: 0, sendTo: "Ann" }));
      await environment.run();
      return told;
    };
    const kept = await toldBy({});
    const forgotten = await toldBy(forgetful);
    expect(forgotten.map((told) => told.slice(0, 2))).toEqual(kept.map((told) => told.slice(0, 2)));
    expect([kept.map((told) => told[2]), forgotten.map((told) => told[2])]).toEqual([Array(HOPS + 1).fill(2), Array(HOPS + 1).fill(0)]);
  });

  test("forgets what was written into a memory by hand, and keeps working memory and state", async () => {
    const noting = answering("Ann", (rc) => {
      rc.memory.add(createMessage(`note on ${rc.news[0]?.content}`));
      rc.workingMemory.add(rc.message(`work on ${rc.news[0]?.content}`));
      return rc.message(`${contents(rc.memory).join(", ")}; ${contents(rc.workingMemory).join(", ")}`);
    });
    const environment = town([noting], { ...forgetful, scheduler });
    for (const text of ["one", "two"]) {
      environment.publishMessage(text);
      await environment.run();
    }
    const { outputs } = await environment.run();
    expect(contents(outputs)).toEqual(["one, note on one; work on one", "two, note on two; work on one, work on two"]);
    expect(remembered(environment, "Ann")).toEqual([]);
  });

  test("tells no message of a run that failed before they were heard, and lets them be heard when it goes on", async () => {
    let fails = true;
    const say = answering("Ann", (rc) => rc.message("hello", { sendTo: "Cid" }));
    const fail = answering("Bob", () => {
      if (fails) throw new Error("not yet");
    });
    const environment = town([say, fail, answering("Cid", (rc) => rc.message("heard"), { watch: [] })], { ...forgetful, scheduler });
    environment.publishMessage("go");
    const failed = await environment.run();
    fails = false;
    const { status, outputs, messages } = await environment.run();
    expect([failed.status, failed.messages, status, contents(outputs), messages]).toEqual(["failed", [], "finished", ["heard"], []]);
  });
});

describe("a role that keeps its memory", () => {
  const write = defineAction({ name: "Write", run: () => "written" });
  const check = defineAction({ name: "Check", run: () => "checked" });
  const publish = defineAction({ name: "Publish", needs: [write, check], run: ({ inputs }) => contents(inputs).join(" and ") });
  const hands = [defineRole({ name: "Writer", actions: [write] }), defineRole({ name: "Checker", watch: [write], actions: [check] })];
  const press = (more: object): Role => defineRole({ name: "Press", reactions: [{ on: [write, check], do: publish }], ...more });

  test("says so with a memory of its own, and waits for what comes later", async () => {
    const environment = town([...hands, press({ memory: {} })], forgetful);
    environment.publishMessage("go");
    const { outputs } = await environment.run();
    expect([contents(outputs), remembered(environment, "Press"), environment.history.size]).toEqual([
      ["written and checked"],
      ["written", "checked", "written and checked"],
      0,
    ]);
  });

  test.each(["rounds", "eager"] as const)(
    "RoleMemories.R1 stores all it heard, however little it remembers in the run, %s",
    async (scheduler) => {
      const store = inMemoryStore();
      const react = async (rc: RoleContext): Promise<void> => {
        if (rc.news[0]?.content === "three") await rc.step("look", {}, async () => "seen");
      };
      const environment = town([answering("Ann", react, { memory: { store }, memoryLimit: 1 })], { ...forgetful, scheduler });
      for (const pair of [
        ["one", "two"],
        ["three", "four"],
      ]) {
        for (const text of pair) environment.publishMessage(text);
        await environment.run();
      }
      const stored: Message[] = [];
      for await (const page of store.read("Ann", 0)) stored.push(...page.map(({ message }) => message));
      expect([contents(stored), remembered(environment, "Ann")]).toEqual([["one", "two", "three", "four"], ["four"]]);
    },
  );

  test("is refused where it would wait for ever, and nothing of it stays", () => {
    const environment = town(hands, forgetful);
    expect(() => environment.addRole(press({}))).toThrow(expect.objectContaining({ code: "ROLE_INVALID" }));
    expect(() => environment.addRole(press({ memory: false }))).toThrow(/Press.*needs Write, Check.*memory: \{\}/);
    expect(environment.roleNames).toEqual(["Writer", "Checker"]);
  });

  test("is not refused where its action needs what triggers it alone", async () => {
    const print = defineAction({ name: "Print", needs: [write], run: ({ inputs: [written] }) => `print of ${written.content}` });
    const reading = (on: readonly Action[]): Role => defineRole({ name: "Press", reactions: [{ on, do: print }] });
    const environment = town(hands.slice(0, 1), forgetful).addRole(reading([write]));
    for (let time = 0; time < 2; time += 1) {
      environment.publishMessage("go");
      await environment.run();
    }
    expect(contents((await environment.run()).outputs)).toEqual(["print of written", "print of written"]);
    expect(() => town(hands, forgetful).addRole(reading([write, check]))).toThrow(expect.objectContaining({ code: "ROLE_INVALID" }));
  });
});

test("Activation.A3 a context that is kept shows nothing when its activation has ended", async () => {
  let kept: ActionContext | undefined;
  const act = defineAction({ name: "Act", run: (ctx) => void (kept = ctx) });
  const environment = town([defineRole({ name: "Ann", actions: [act] })], forgetful);
  environment.publishMessage("go");
  await environment.run();
  expect(contents(kept?.memory ?? [createMessage("none")])).toEqual([]);
});
