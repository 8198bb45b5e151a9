import { describe, expect, test } from "vitest";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { RoleContext } from "../../src/role/context.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { UserRequirement } from "../../src/message/address.ts";
import { defineRole, Role, type Said } from "../../src/role/role.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { contents, remembered, town } from "../runtime/town.ts";

const Speak = defineAction({ name: "Speak", run: (ctx) => `spoke of ${ctx.text}` });
const Sing = defineAction({ name: "Sing", run: (ctx) => `sang of ${ctx.text}` });

async function onGo(role: Role, ...texts: readonly string[]): Promise<RunResult> {
  const environment = town([role]);
  for (const text of texts.length === 0 ? ["go"] : texts) environment.publishMessage(text);
  return environment.run();
}

describe("observe", () => {
  test("overridden by a subclass: what it leaves out is consumed and not remembered", async () => {
    class Picky extends Role {
      override readonly actions = [Speak];
      override observe(rc: RoleContext): readonly Message[] {
        return rc.inbox.filter((message) => message.content !== "noise");
      }
    }
    const environment = town([new Picky()]);
    environment.publishMessage("noise");
    environment.publishMessage("signal");
    expect(contents((await environment.run()).outputs)).toEqual(["spoke of signal"]);
    expect(remembered(environment, "Picky")).toEqual(["signal", "spoke of signal"]);
    expect(environment.isIdle).toBe(true);
  });

  test("what it remembers already is no news, unless the role says so", async () => {
    const known = createMessage("again", { id: "known", sendTo: ["Ann"] });
    for (const [options, times] of [
      [{}, 1],
      [{ observe: (rc: RoleContext) => rc.inbox }, 2],
    ] as const) {
      const environment = town([defineRole({ ...options, name: "Ann", actions: [Speak] })]);
      environment.publishMessage(known);
      await environment.run();
      environment.publishMessage(known);
      expect((await environment.run()).outputs).toHaveLength(times);
    }
  });
});

describe("think", () => {
  test("overridden by a subclass", async () => {
    class Chooser extends Role {
      override readonly actions: readonly Action[] = [Speak, Sing];
      override think(rc: RoleContext): Action | undefined {
        return rc.memory.getByAction(Sing).length === 0 ? Sing : undefined;
      }
    }
    expect(contents((await onGo(new Chooser())).outputs)).toEqual(["sang of go"]);
  });

  test("overridden by defineRole, also beside reactions", async () => {
    const role = defineRole({
      name: "Ann",
      reactions: [{ on: UserRequirement, do: Speak }],
      actions: [Sing],
      think: (rc) => (rc.memory.getByAction(Sing).length < 2 ? Sing : undefined),
    });
    const environment = town([role]);
    environment.publishMessage("go");
    expect(contents((await environment.run()).outputs)).toEqual(["sang of go"]);
    expect(remembered(environment, "Ann")).toEqual(["go", "sang of go", "sang of go"]);
  });
});

describe("act", () => {
  test.each([
    ["a text", "spoke", (ctx: RoleContext) => `spoke of ${ctx.news[0]?.content}`],
    ["a message", "message", (ctx: RoleContext) => ctx.message("spoke of go")],
  ])("may be given a context made of its own, whose action gives back %s", async (_what, name, run) => {
    class Careful extends Role {
      override readonly actions = [defineAction({ name, run })];
      override act(rc: RoleContext, action: Action): ReturnType<Role["act"]> {
        const { memory, news, role } = rc;
        const mine = {
          name: rc.name,
          memory,
          news,
          role,
          actionStarted: undefined,
          message: rc.message.bind(rc),
          issue: rc.issue.bind(rc),
        };
        return super.act(Object.create(rc, Object.getOwnPropertyDescriptors(mine)) as RoleContext, action);
      }
    }
    expect(contents((await onGo(new Careful())).outputs)).toEqual(["spoke of go"]);
  });

  class Loud extends Role {
    override async act(rc: RoleContext, action: Action): Promise<Said> {
      const said = await super.act(rc, action);
      return said !== undefined && "content" in said ? rc.message(said.content.toUpperCase(), { causeBy: action }) : said;
    }
  }

  test("overridden by a subclass, in every mode that acts", async () => {
    class Simple extends Loud {
      override readonly actions = [Speak];
    }
    class Ordered extends Loud {
      override readonly actions = [Sing, Speak];
      override readonly reactMode = "by_order";
    }
    class ByCause extends Loud {
      override readonly reactions = [{ on: UserRequirement, do: Speak }];
    }
    for (const [role, said] of [
      [new Simple(), "SPOKE OF GO"],
      [new Ordered(), "SPOKE OF SANG OF GO"],
      [new ByCause(), "SPOKE OF GO"],
    ] as const) {
      const { outputs } = await onGo(role);
      expect(outputs.map(({ content, causeBy }) => [content, causeBy])).toEqual([[said, "Speak"]]);
    }
  });

  test("overridden in a plan, where the task at hand is the plan's current one", async () => {
    const done: string[] = [];
    const role = defineRole({
      name: "Ann",
      reactMode: "plan_and_act",
      actions: [Speak],
      planTasks: () => [
        { id: "1", instruction: "first" },
        { id: "2", instruction: "second" },
      ],
      act: (rc, action) => {
        done.push(`${action.name} ${rc.plan.currentTask?.id}`);
        return rc.message(`did ${rc.plan.currentTask?.instruction}`);
      },
    });
    expect((await onGo(role)).output?.content).toBe("did first\n\ndid second");
    expect(done).toEqual(["Speak 1", "Speak 2"]);
  });
});

describe("react", () => {
  test("overridden: what it returns is published, one or many or nothing", async () => {
    expect(contents((await onGo(defineRole({ name: "Ann", react: (rc) => rc.message("one") }))).outputs)).toEqual(["one"]);
    expect(contents((await onGo(defineRole({ name: "Ann", react: (rc) => [rc.message("one"), rc.message("two")] }))).outputs)).toEqual([
      "one",
      "two",
    ]);
    expect((await onGo(defineRole({ name: "Ann", react: () => undefined }))).outputs).toEqual([]);
    expect((await onGo(defineRole({ name: "Ann", react: () => null as unknown as undefined }))).status).toBe("finished");
  });

  test("what it says is caused by the role's own name, and sent by it", async () => {
    const { output } = await onGo(defineRole({ name: "Ann", react: (rc) => rc.message("one") }));
    expect(output).toMatchObject({ causeBy: "Ann", sentFrom: "Ann", parents: ["user#1"] });
  });
});
