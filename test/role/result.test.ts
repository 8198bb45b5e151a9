import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Action, type ActionOptions, defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import type { Address } from "../../src/message/address.ts";
import { defineRole } from "../../src/role/role.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { contents, remembered, town } from "../runtime/town.ts";

/** The fate of an action's result when one role does it on "go". */
async function whenDone<S extends z.ZodType>(options: Omit<ActionOptions<S, readonly Address[]>, "name">): Promise<RunResult> {
  return whenRun(defineAction<S, readonly Address[]>({ ...options, name: "Work" }));
}

async function whenRun(action: Action): Promise<RunResult> {
  const environment = town([defineRole({ name: "Ann", profile: "Worker", actions: [action] })]);
  environment.publishMessage("go");
  return environment.run();
}

const Point = z.object({ x: z.number(), y: z.number().default(7) });

describe("what an action gives back becomes a message", () => {
  test("a text", async () => {
    const { output } = await whenDone({ run: () => "done" });
    expect(output).toMatchObject({
      content: "done",
      causeBy: "Work",
      sentFrom: "Ann",
      sendTo: ["<all>"],
      role: "assistant",
      id: "Ann#0.0",
    });
    expect(output?.parents).toEqual(["user#1"]);
    expect(Object.isFrozen(output)).toBe(true);
  });

  test("nothing publishes nothing and remembers nothing", async () => {
    const environment = town([defineRole({ name: "Ann", actions: [defineAction({ name: "Work", run: () => undefined })] })]);
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.status).toBe("finished");
    expect(contents(result.messages)).toEqual(["go"]);
    expect(remembered(environment, "Ann")).toEqual(["go"]);
  });

  test("a typed output: checked, filled up by the schema, and rendered as canonical JSON", async () => {
    const { output } = await whenDone({ output: Point, run: () => ({ y: 2, x: 1 }) });
    expect(output).toMatchObject({ content: '{"x":1,"y":2}', instructContent: { x: 1, y: 2 } });
    const filled = await whenDone({ output: Point, run: () => ({ x: 1 }) as z.infer<typeof Point> });
    expect(filled.output?.instructContent).toEqual({ x: 1, y: 7 });
  });

  test("several messages", async () => {
    const { outputs } = await whenDone({ run: (ctx) => [ctx.message("one"), ctx.message("two", { causeBy: "Other" })] });
    expect(outputs.map(({ content, causeBy, id }) => [content, causeBy, id])).toEqual([
      ["one", "Work", "Ann#0.0"],
      ["two", "Other", "Ann#0.1"],
    ]);
  });

  test("the action says who shall hear it, also by what came out", async () => {
    const { deadLetters } = await whenDone({
      output: Point,
      run: () => ({ x: 5, y: 0 }),
      sendTo: (_ctx, output) => [`floor-${output?.x}`],
    });
    expect(deadLetters).toMatchObject([{ reason: { address: "floor-5" } }]);
  });

  test.each<[string, unknown]>([
    ["a number", 42],
    ["a list of texts", ["a", "b"]],
    ["an object", { x: 1 }],
    ["a function", () => 1],
    ["false", false],
  ])("%s without an output schema is refused, and says what to do", async (_what, result) => {
    const { status, error, outputs } = await whenDone({ run: () => result as string });
    expect(status).toBe("failed");
    expect(error).toMatchObject({ code: "ACTION_RESULT" });
    expect(error?.message).toContain("Work");
    expect(outputs).toEqual([]);
  });

  test("a typed output that does not fit is refused", async () => {
    const { status, error } = await whenDone({ output: Point, run: () => ({ x: "one" }) as unknown as z.infer<typeof Point> });
    expect([status, error?.code]).toEqual(["failed", "ACTION_RESULT"]);
  });

  test("a message in the action's name without the payload its schema promises is refused, however it was made", async () => {
    for (const run of [(ctx: ActionContext) => ctx.message("no payload"), () => createMessage("no payload")]) {
      const { status, error } = await whenDone({ output: Point, run: run as () => Message<z.infer<typeof Point>> });
      expect([status, error?.code]).toEqual(["failed", "ACTION_RESULT"]);
    }
  });

  test("a huge text is refused, and nothing of it is kept", async () => {
    const { status, error, messages } = await whenDone({ run: () => "x".repeat(1_000_001) });
    expect(status).toBe("failed");
    expect(error).toMatchObject({ code: "MESSAGE_TOO_LONG" });
    expect(contents(messages)).toEqual(["go"]);
  });

  test("a text just as long as allowed is said", async () => {
    const action = defineAction({ name: "Work", run: () => "x".repeat(10) });
    const environment = town([defineRole({ name: "Ann", actions: [action] })], { messageLimit: 10 });
    environment.publishMessage("go");
    expect((await environment.run()).outputs).toHaveLength(1);
  });
});

/** Schemas that do not read what they give: checking twice would refuse it, or change it again. */
const Split = z.object({ list: z.string().transform((text) => text.split(",")) });

async function whenModelSays<S extends z.ZodType>(
  reply: string,
  options: Omit<ActionOptions<S, readonly Address[]>, "name">,
): Promise<RunResult> {
  const action = defineAction<S, readonly Address[]>({ ...options, name: "Work" });
  const environment = town([defineRole({ name: "Ann", actions: [action] })], { model: scriptedModel([reply]) });
  environment.publishMessage("go");
  return environment.run();
}

describe("what a model gave for the output schema is checked once", () => {
  test("by the default run", async () => {
    const { error, output } = await whenModelSays('{"list":"a,b"}', { output: Split });
    expect(error).toBeUndefined();
    expect(output).toMatchObject({ content: '{"list":["a","b"]}', instructContent: { list: ["a", "b"] } });
  });

  test("by a run of its own, also after a change in place", async () => {
    const { output } = await whenModelSays('{"list":"b,a"}', {
      output: Split,
      run: async (ctx) => {
        const answer = await ctx.ask("split", { schema: Split });
        answer.list.sort();
        return answer;
      },
    });
    expect(output?.instructContent).toEqual({ list: ["a", "b"] });
  });

  test.each<[string, (ctx: ActionContext, payload: { list: string[] }) => Message<{ list: string[] }>]>([
    ["the activation's", (ctx, payload) => ctx.message("split", { instructContent: payload })],
    ["made elsewhere", (_ctx, payload) => createMessage("split", { instructContent: payload })],
  ])("as the payload of a message, %s", async (_what, say) => {
    const { error, output } = await whenModelSays('{"list":"a,b"}', {
      output: Split,
      run: async (ctx) => say(ctx, await ctx.ask("x", { schema: Split })),
    });
    expect(error).toBeUndefined();
    expect(output).toMatchObject({ content: "split", instructContent: { list: ["a", "b"] } });
  });
});

describe("a message in the action's name carries the payload its schema makes", () => {
  const Filled = z.object({ a: z.number().default(1) });
  const empty = {} as z.infer<typeof Filled>;

  test.each<[string, (ctx: ActionContext) => Message<z.infer<typeof Filled>>]>([
    ["the activation's", (ctx) => ctx.message("text", { instructContent: empty, sendTo: "Zoe", metadata: { m: 1 } })],
    ["made elsewhere", () => createMessage("text", { instructContent: empty, sendTo: "Zoe", metadata: { m: 1 } })],
  ])("%s: all else stays", async (_what, run) => {
    const { deadLetters, messages } = await whenDone({ output: Filled, run });
    const { message } = deadLetters[0] ?? {};
    expect(message).toMatchObject({ content: "text", instructContent: { a: 1 }, causeBy: "Work", sentFrom: "Ann", metadata: { m: 1 } });
    expect(message?.parents).toEqual([messages[0]?.id]);
  });
});

describe("messages made elsewhere are issued again", () => {
  test("under the activation's id, time, parents and sender; the cause left open becomes the action", async () => {
    const foreign = createMessage("from afar", { id: "my-own-id", timestamp: 1 });
    const { outputs, messages } = await whenDone({ run: () => foreign });
    expect(outputs).toMatchObject([{ id: "Ann#0.0", causeBy: "Work", sentFrom: "Ann", content: "from afar", parents: [messages[0]?.id] }]);
    expect(outputs[0]?.timestamp).toBeGreaterThan(1);
    expect(foreign).toMatchObject({ id: "my-own-id", timestamp: 1, causeBy: "UserRequirement" });
  });

  test("with an explicit cause and sender kept, also a cause that is the user's", async () => {
    const kept = await whenDone({ run: () => createMessage("x", { causeBy: "Gossip", sentFrom: "Bob" }) });
    expect(kept.outputs).toMatchObject([{ id: "Ann#0.0", causeBy: "Gossip", sentFrom: "Bob" }]);
    const users = await whenDone({ run: () => createMessage("x", { causeBy: "UserRequirement", sendTo: "Zoe" }) });
    expect(users.deadLetters).toMatchObject([{ message: { causeBy: "UserRequirement", id: "Ann#0.0" } }]);
  });

  test("the same foreign message said twice is one message, said once", async () => {
    const foreign = createMessage("again", { sendTo: "<all>" });
    const { outputs } = await whenDone({ run: () => [foreign, foreign] });
    expect(outputs.map((message) => message.id)).toEqual(["Ann#0.0"]);
  });
});

describe("an action by subclassing", () => {
  test("is named after its class, and says by that name", async () => {
    class Measure extends Action<{ x: number; y: number }> {
      override readonly output = Point;
      override run(): { x: number; y: number } {
        return { x: 3, y: 4 };
      }
      override render({ x, y }: { x: number; y: number }): string {
        return `${x}:${y}`;
      }
    }
    const { output } = await whenRun(new Measure());
    expect(output).toMatchObject({ causeBy: "Measure", content: "3:4" });
  });
});

describe("what an action is given", () => {
  test("the news as text, joined by blank lines", async () => {
    const environment = town([defineRole({ name: "Ann", actions: [defineAction({ name: "Work", run: (ctx) => ctx.text })] })]);
    environment.publishMessage("one");
    environment.publishMessage("two");
    expect((await environment.run()).output?.content).toBe("one\n\ntwo");
  });

  test("its inputs: the newest message of each need, typed, in the order of the needs", async () => {
    const Measure = defineAction({ name: "Measure", output: Point, run: () => ({ x: 1, y: 2 }) });
    const Note = defineAction({ name: "Note", run: () => "a note" });
    const Sum = defineAction({
      name: "Sum",
      needs: [Note, Measure],
      run: ({ inputs: [note, point] }) => `${note.content} ${(point.instructContent?.x ?? 0) + (point.instructContent?.y ?? 0)}`,
    });
    const environment = town([defineRole({ name: "Ann", reactMode: "by_order", actions: [Measure, Note, Sum] })]);
    environment.publishMessage("go");
    expect((await environment.run()).output?.content).toBe("a note 3");
  });

  test("a need that nobody has answered yet is an error that names it", async () => {
    const Missing = defineAction({ name: "Missing" });
    const { error } = await whenRun(
      defineAction({ name: "Work", needs: [Missing], run: (ctx) => ctx.inputs[0].content }) as unknown as Action,
    );
    expect(error).toMatchObject({ code: "NEEDS_MISSING" });
    expect(error?.message).toContain("Missing");
  });

  test("functions that can be taken out of it", async () => {
    const run = async ({ ask, step, message, publish, issue, random, now, id, text }: ActionContext): Promise<Message> => {
      publish(issue(createMessage("aside", { causeBy: "Aside" })));
      const parts = [await ask(text), await step("s", {}, async () => "stepped"), random() < 1, now() > 0, id()];
      return message(parts.join());
    };
    const environment = town([defineRole({ name: "Ann", actions: [defineAction({ name: "Work", run })] })], {
      model: scriptedModel(["asked"]),
    });
    environment.publishMessage("go");
    const { error, outputs } = await environment.run();
    expect(error).toBeUndefined();
    expect(outputs.map(({ causeBy, content }) => [causeBy, content])).toEqual([
      ["Aside", "aside"],
      ["Work", "asked,stepped,true,true,Ann#0:1"],
    ]);
  });

  test("a prompt for the model when it has no run: the description and the news by default", async () => {
    const prompts: string[] = [];
    const human = ({ text }: { text: string }): string => `answer ${prompts.push(text)}`;
    const plain = defineAction({ name: "Plain", description: "Sort them." });
    const own = defineAction({ name: "Own", prompt: (ctx) => `Do ${ctx.text}!` });
    const bare = defineAction({ name: "Bare" });
    const environment = town([defineRole({ name: "Ann", human: true, reactMode: "by_order", actions: [plain, own, bare] })], { human });
    environment.publishMessage("apples");
    await environment.run();
    expect(prompts).toEqual(["Sort them.\n\napples", "Do answer 1!", "answer 2"]);
  });
});
