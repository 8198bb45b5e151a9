import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../../src/role/context.ts";
import { ContextClosedError } from "../../../src/kernel/errors.ts";
import { Plan } from "../../../src/role/plan.ts";
import { createMessage, type Message } from "../../../src/message/message.ts";
import { defineRole } from "../../../src/role/role.ts";
import type { Environment } from "../../../src/runtime/environment.ts";
import { scriptedModel } from "../../../src/testing/scripted-model.ts";
import { answering, contents, listener, remembered, town } from "../town.ts";

/** Everything a role can change in an activation, changed. */
function changeAll(rc: RoleContext, note: Message): void {
  rc.memory.add(note);
  rc.memory.delete("old");
  rc.workingMemory.add(note);
  rc.state["count"] = 1;
  rc.plan = new Plan({ goal: "g", tasks: [{ id: "t", instruction: "i" }] });
  rc.joins.consume(0, { Need: "id" });
  rc.publish(rc.message("said", { sendTo: ["Bob", "Nobody"] }));
}

function snapshot(environment: Environment): unknown {
  const ann = environment.getRole("Ann");
  return {
    memory: contents(ann?.memory ?? []),
    working: contents(ann?.workingMemory ?? []),
    state: ann?.state,
    plan: ann?.plan.toJSON(),
    bob: contents(environment.getRole("Bob")?.inbox ?? []),
    history: contents(environment.history),
  };
}

describe("Activation.A1 an activation is atomic", () => {
  const old = createMessage("old news", { id: "old", sendTo: "Ann" });
  const note = createMessage("note", { id: "note" });

  async function afterSecond(
    second: (rc: RoleContext) => void | Promise<void>,
  ): Promise<{ before: unknown; after: unknown; inbox: string[] }> {
    const ann = defineRole({
      name: "Ann",
      react: async (rc) => {
        if (rc.news[0]?.id === "old") return;
        await second(rc);
      },
    });
    const environment = town([ann, listener("Bob", { watch: [] })]);
    environment.publishMessage(old);
    await environment.run();
    environment.publishMessage("go");
    const before = snapshot(environment);
    await environment.run();
    return { before, after: snapshot(environment), inbox: contents(environment.getRole("Ann")?.inbox ?? []) };
  }

  test("one that throws after it has changed everything has changed nothing, and has its messages still", async () => {
    const { before, after, inbox } = await afterSecond((rc) => {
      changeAll(rc, note);
      throw new Error("at the very end");
    });
    expect(after).toEqual(before);
    expect(inbox).toEqual(["go"]);
  });

  test("one that ends well has changed everything at once", async () => {
    const { after, inbox } = await afterSecond((rc) => changeAll(rc, note));
    expect(after).toMatchObject({
      memory: ["go", "note"],
      working: ["note"],
      state: { count: 1 },
      plan: { goal: "g" },
      bob: [],
      history: ["old news", "go", "said"],
    });
    expect(inbox).toEqual([]);
  });

  test("one that replaces its memory fails alone, and the run goes on", async () => {
    const replacing = defineRole({
      name: "Ann",
      onFailure: "skip",
      react: (rc) => {
        (rc as { memory: unknown }).memory = {};
      },
    });
    const environment = town([replacing]);
    environment.publishMessage("go");
    const { status, deadLetters } = await environment.run();
    expect([status, deadLetters.length]).toEqual(["finished", 1]);
  });

  test("while it lives nobody sees anything of it", async () => {
    let during: unknown;
    const environment = town([
      answering("Ann", async (rc) => {
        changeAll(rc, note);
        await rc.step("look", {}, () => Promise.resolve(null));
        during = snapshot(environment);
      }),
      listener("Bob", { watch: [] }),
    ]);
    environment.publishMessage(createMessage("go", { sendTo: "Ann" }));
    await environment.run();
    expect(during).toMatchObject({ memory: [], working: [], state: {}, plan: { goal: "" }, bob: [], history: ["go"] });
  });
});

describe("Drafts.D1 Activation.A2 what an activation makes is a function of its seed, its role and its number", () => {
  async function made(seed: string, others: number): Promise<string> {
    const ann = answering("Ann", (rc) => rc.message(JSON.stringify([rc.random(), rc.random(), rc.id(), rc.id(), rc.message("x").id])));
    const environment = town([...Array.from({ length: others }, (_, i) => answering(`o${i}`, (rc) => void rc.random())), ann], { seed });
    environment.publishMessage("one");
    await environment.run();
    environment.publishMessage("two");
    return contents((await environment.run()).outputs).join(" ");
  }

  test("the same again, and other roles do not move it", async () => {
    const alone = await made("s", 0);
    expect(await made("s", 0)).toBe(alone);
    expect(await made("s", 3)).toBe(alone);
    expect(await made("t", 0)).not.toBe(alone);
  });

  test("each activation draws anew, and ids are its own", async () => {
    const [first, second] = (await made("s", 0)).split(" ").map((text) => JSON.parse(text) as [number, number, string, string, string]);
    expect(first?.[0]).not.toBe(second?.[0]);
    expect(first?.slice(2)).toEqual(["Ann#0:1", "Ann#0:2", "Ann#0.0"]);
    expect(second?.slice(2)).toEqual(["Ann#1:1", "Ann#1:2", "Ann#1.0"]);
  });

  test("now() stands still until an answer is released, and never goes back", async () => {
    let time = 100;
    const clock = { now: () => (time += 10), timer: () => () => {} };
    const seen: number[] = [];
    const environment = town(
      [
        answering("Ann", async (rc) => {
          seen.push(rc.now(), rc.now());
          await rc.step("a", {}, () => Promise.resolve(1));
          seen.push(rc.now(), rc.now(), rc.message("x").timestamp);
        }),
      ],
      { clock },
    );
    environment.publishMessage("go");
    await environment.run();
    expect(seen[0]).toBe(seen[1]);
    expect(seen[2]).toBeGreaterThan(seen[1] as number);
    expect(seen.slice(3)).toEqual([seen[2], seen[2]]);
  });
});

describe.each([
  ["that waited", true],
  ["that was over at once", false],
])("Activation.A3 a closed context of an activation %s", (_kind, waits) => {
  /** Returns the context that a role kept after its activation. */
  async function keptAfter(
    live: (rc: RoleContext) => void | Promise<void> = () => {},
  ): Promise<{ rc: RoleContext; environment: Environment }> {
    let kept: RoleContext | undefined;
    const environment = town([
      answering("Ann", (rc) => {
        kept = rc;
        const lived = live(rc);
        return lived !== undefined || waits ? Promise.resolve(lived) : undefined;
      }),
    ]);
    environment.publishMessage("go");
    await environment.run();
    return { rc: kept as RoleContext, environment };
  }

  test.each<[string, (rc: RoleContext) => unknown]>([
    ["publish", (rc) => rc.publish(createMessage("late"))],
    ["message", (rc) => rc.message("late")],
    ["memory.add", (rc) => rc.memory.add(createMessage("late"))],
    ["memory.clear", (rc) => rc.memory.clear()],
    ["workingMemory.add", (rc) => rc.workingMemory.add(createMessage("late"))],
    ["a state key", (rc) => (rc.state["x"] = 1)],
    ["deleting a state key", (rc) => delete rc.state["x"]],
    ["a whole state", (rc) => (rc.state = {})],
    ["a plan", (rc) => (rc.plan = new Plan({ goal: "late" }))],
  ])("%s throws ContextClosedError", async (_what, late) => {
    const { rc, environment } = await keptAfter();
    const before = JSON.stringify(environment.toJSON());
    expect(() => late(rc)).toThrow(ContextClosedError);
    expect(() => late(rc)).toThrow("activation Ann#0~1 had ended");
    expect(JSON.stringify(environment.toJSON())).toBe(before);
  });

  test.each<[string, (rc: RoleContext) => Promise<unknown>]>([
    ["step", (rc) => rc.step("late", {}, () => Promise.resolve(1))],
    ["ask", (rc) => rc.ask("late", { model: scriptedModel(["never"]) })],
    ["human.ask", (rc) => rc.human.ask("late")],
  ])("%s rejects with ContextClosedError", async (_what, late) => {
    const { rc } = await keptAfter();
    await expect(late(rc)).rejects.toThrow(ContextClosedError);
  });

  test("it can be read, and shows what the role has now", async () => {
    const { rc } = await keptAfter((open) => {
      open.memory.add(createMessage("kept", { id: "kept" }));
      open.state["x"] = 1;
    });
    expect(contents(rc.memory)).toEqual(["go", "kept"]);
    expect(rc.memory.size).toBe(2);
    expect(contents(rc.inbox)).toEqual(["go"]);
  });

  test("Drafts.D2 StateDraft.C3 what an action does after it has ended takes no effect, whatever it still waits for", async () => {
    const errors: unknown[] = [];
    const { environment } = await keptAfter((rc) => {
      const later = async (): Promise<void> => {
        await rc.step("slow", {}, () => Promise.resolve(1));
        rc.state["late"] = true;
      };
      void later().catch((error: unknown) => errors.push(error));
      const other = async (): Promise<void> => {
        await rc.step("slow too", {}, () => Promise.resolve(1));
        rc.memory.add(createMessage("late"));
      };
      void other().catch((error: unknown) => errors.push(error));
      const list = (rc.state["list"] = [1]);
      void rc.step("third", {}, () => Promise.resolve(1)).then(() => list.push(2));
    });
    expect(environment.getRole("Ann")?.state).toEqual({ list: [1] });
    expect(remembered(environment, "Ann")).toEqual(["go"]);
    expect(errors).toHaveLength(2);
    expect(errors.every((error) => error instanceof ContextClosedError)).toBe(true);
  });
});

describe("the size of what is said", () => {
  test("is bounded for a message made, issued or published", async () => {
    for (const say of [
      (rc: RoleContext) => rc.message("x".repeat(11)),
      (rc: RoleContext) => rc.issue(createMessage("x".repeat(11))),
      (rc: RoleContext) => void rc.publish(createMessage("x".repeat(11))),
    ]) {
      const environment = town([answering("Ann", say)], { messageLimit: 10 });
      environment.publishMessage("go");
      expect((await environment.run()).error).toMatchObject({ code: "MESSAGE_TOO_LONG" });
    }
  });
});
