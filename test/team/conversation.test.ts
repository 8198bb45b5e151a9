import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { Agent, defineTool } from "../../src/agent/index.ts";
import { createClient } from "../../src/client/index.ts";
import {
  type ActionContext,
  defineAction,
  defineRole,
  memoryJournal,
  type RunContext,
  type SayResult,
  Team,
  UserFeedback,
  UserRequirement,
} from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { createServer } from "../../src/server/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { call, calls } from "../agent/setup.ts";
import { eventsOf } from "./recorded.ts";

const watch = [UserRequirement, UserFeedback];

function teamOf(run: (ctx: ActionContext) => unknown, journal: Journal = memoryJournal()): Team {
  const Reply = defineAction({ name: "Reply", run: async (ctx) => String(await run(ctx)) });
  return new Team({ roles: [defineRole({ name: "Bot", watch, actions: [Reply] })], journal });
}

const lastOf = ({ messages }: SayResult): string | undefined => messages.at(-1)?.content;

/** The kinds of speakers, each over one journal. */
const speakers = {
  team: (team: Team) => (text: string) => team.conversation("table").say(text),
  client(team: Team) {
    const server = createServer({ team });
    const client = createClient({ url: "http://localhost", fetch: server.fetch });
    return (text: string) => client.say("table", text);
  },
} as const;

describe.each(Object.entries(speakers))("a conversation through a %s", (_name, speaker) => {
  it("returns the replies to each turn, and how it ended", async () => {
    const say = speaker(teamOf(({ text }) => (text === "fail" ? Promise.reject(new Error("no")) : text.toUpperCase())));
    expect(await say("hello")).toMatchObject({ status: "finished", messages: [{ content: "HELLO", sentFrom: "Bot" }] });
    expect(await say("more")).toMatchObject({ status: "finished", messages: [{ content: "MORE" }] });
    const failed = await say("fail");
    expect(failed).toMatchObject({ status: "failed", messages: [], error: { code: "ACTION_FAILED" }, failures: [{ role: "Bot" }] });
  });

  it("ends a turn with the question that waits", async () => {
    const say = speaker(teamOf((ctx) => ctx.human.ask("which?")));
    expect(await say("hello")).toMatchObject({ status: "waiting", question: { role: "Bot", text: "which?" } });
  });
});

describe("a conversation of a team", () => {
  it("continues in another process, with what was said before", async () => {
    const journal = memoryJournal();
    const seen = (ctx: ActionContext): string =>
      ctx.memory
        .get()
        .map(({ content }) => content)
        .join("|");
    await teamOf(seen, journal).conversation("table").say("one");
    const chat = teamOf(seen, journal).conversation("table");
    expect(lastOf(await chat.say("two"))).toBe("one|one|two");
    expect((await chat.history()).map(({ content }) => content)).toEqual(["one", "one", "two", "one|one|two"]);
  });

  it("answers a question", async () => {
    const chat = teamOf(async (ctx) => `so ${await ctx.human.ask("which?")}`).conversation("table");
    const { question } = await chat.say("hello");
    expect(lastOf(await chat.answer(question?.id ?? "", "this one"))).toBe("so this one");
  });

  it("Conversation.CV1: records what each of several says once, whenever they speak", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 6 }), async (pauses) => {
        const journal = memoryJournal();
        const team = teamOf(({ text }) => text, journal);
        const said = pauses.map(async (pause, index) => {
          for (let turn = 0; turn < pause; turn += 1) await Promise.resolve();
          return team.conversation("table").say(`words ${index}`);
        });
        for (const { status } of await Promise.all(said)) expect(status).toBe("finished");
        const fromOutside = (await eventsOf(journal, "table")).filter(({ type }) => type === "message");
        expect(fromOutside.map((event) => (event.type === "message" ? event.message.content : "")).sort()).toEqual(
          pauses.map((_pause, index) => `words ${index}`),
        );
      }),
    );
  });

  it("records the same words of two who begin it", async () => {
    const chat = teamOf(({ text }) => text).conversation("table");
    await Promise.all([chat.say("hello"), chat.say("hello")]);
    expect((await chat.history()).filter(({ sentFrom }) => sentFrom === "")).toHaveLength(2);
  });

  it("has no signals in its history", async () => {
    const team = teamOf(async ({ waitFor }) => JSON.stringify(await waitFor("paid")));
    await team.conversation("table").say("hello");
    await (
      await team.signal("table", "paid", 7)
    )?.result;
    expect((await team.conversation("table").history()).map(({ content }) => content)).toEqual(["hello", "7"]);
  });

  it("belongs to the user who began it", async () => {
    const team = teamOf(({ text }) => text);
    await team.conversation("table", { user: "ann" }).say("hello");
    await expect(team.conversation("table", { user: "ben" }).say("hello")).rejects.toMatchObject({ code: "USER_DIFFERS" });
    expect(lastOf(await team.conversation("table", { user: "ann" }).say("again"))).toBe("again");
  });

  it("sends the pieces of an answer as notices", async () => {
    const Reply = defineAction({ name: "Reply", prompt: (ctx) => ctx.text });
    const team = new Team({ roles: [defineRole({ name: "Bot", actions: [Reply] })], model: scriptedModel(["Hello you"]) });
    let text = "";
    await team.conversation("table").say("hi", { onNotice: (notice) => void (text += notice.type === "model.delta" ? notice.text : "") });
    expect(text).toBe("Hello you");
  });

  it.each([
    ["no id", (team: Team) => team.conversation(""), "OPTION_INVALID"],
    ["an unknown option", (team: Team) => team.conversation("a", { usr: "ann" } as never), "OPTION_UNKNOWN"],
    ["no words", (team: Team) => team.conversation("a").say(undefined as never), "MESSAGE_INVALID"],
    ["an answer to nothing", (team: Team) => team.conversation("a").answer("q", "yes"), "RUN_UNKNOWN"],
  ])("refuses %s", async (_what, speak, code) => {
    await expect((async () => speak(teamOf(({ text }) => text)))()).rejects.toMatchObject({ code });
  });
});

describe("a conversation of an agent", () => {
  const weather = defineTool({
    name: "weather",
    description: "The weather in a city.",
    parameters: z.object({ city: z.string() }),
    effect: "read",
    execute: ({ city }) => `sun in ${city}`,
  });

  it("keeps the calls of its tools over a restart, and pays nothing twice", async () => {
    const journal = memoryJournal();
    const first = scriptedModel([calls(call("weather", { city: "Oslo" })), "Sunny."]);
    const before = new Agent({ name: "guide", model: first, tools: [weather], systemPrompt: "You help." });
    expect(lastOf(await (await before.conversation("ann", { journal })).say("How is Oslo?"))).toBe("Sunny.");
    const second = scriptedModel(["As I said."]);
    const after = new Agent({ name: "guide", model: second, tools: [weather], systemPrompt: "You help." });
    expect(lastOf(await (await after.conversation("ann", { journal })).say("Are you sure?"))).toBe("As I said.");
    const [request] = second.calls;
    expect(request?.messages.map(({ role, content }) => `${role}: ${content ?? ""}`)).toEqual([
      "system: You help.",
      "user: How is Oslo?",
      "assistant: ",
      "tool: sun in Oslo",
      "assistant: Sunny.",
      "user: Are you sure?",
    ]);
  });

  it("has answers of its schema", async () => {
    const agent = new Agent({ name: "guide", model: scriptedModel(['{"degrees":21}']), output: z.object({ degrees: z.number() }) });
    const { messages } = await (await agent.conversation("ann", { journal: memoryJournal() })).say("How warm?");
    expect(messages.at(-1)?.instructContent).toEqual({ degrees: 21 });
  });

  it("waits for a permission", async () => {
    const mail = defineTool({ name: "mail", description: "Sends.", effect: "write", execute: () => "sent" });
    const agent = new Agent({ name: "guide", model: scriptedModel([calls(call("mail", {})), "Done."]), tools: [mail] });
    const chat = await agent.conversation("ann", { journal: memoryJournal() });
    const { status, question } = await chat.say("Write to Ben.");
    expect([status, question?.tool]).toEqual(["waiting", "mail"]);
    expect(lastOf(await chat.answer(question?.id ?? "", "yes"))).toBe("Done.");
  });

  it("refuses an agent with a memory of its own", async () => {
    const agent = new Agent({ name: "guide", model: scriptedModel([]), tokenLimit: 10 });
    await expect(agent.conversation("ann", { journal: memoryJournal() })).rejects.toMatchObject({ code: "AGENT_INVALID" });
  });
});

interface Session {
  readonly user: string;
}

const session = (user: string): RunContext => ({ user }) satisfies Session as unknown as RunContext;
const userOf = ({ context }: { readonly context: RunContext }): string => (context as unknown as Session).user;

describe("the context of a run", () => {
  test("reaches roles and tools, and is not recorded", async () => {
    const journal = memoryJournal();
    const whoami = defineTool({ name: "whoami", description: "Who.", effect: "read", execute: (_args, ctx) => userOf(ctx) });
    const agent = new Agent({ name: "guide", model: scriptedModel([calls(call("whoami", {})), "You are you."]), tools: [whoami] });
    const chat = await agent.conversation("ann", { journal, context: session("Ann") });
    await chat.say("Who am I?");
    const results = (await eventsOf(journal, "ann")).flatMap((event) => (event.type === "step.ended" && event.ok ? [event.value] : []));
    expect(JSON.stringify(results)).toContain("Ann");
    const team = teamOf((ctx) => ctx.step("who", {}, async () => (userOf(ctx) === "Ann" ? "known" : "unknown")), journal);
    expect((await team.run("go", { id: "b", context: session("Ann") }).result).output?.content).toBe("known");
    expect(JSON.stringify(await eventsOf(journal, "b"))).not.toContain("Ann");
  });

  test("that is missing stops the run, which continues with one", async () => {
    const team = teamOf((ctx) => userOf(ctx));
    const stopped = await team.run("go", { id: "a" }).result;
    expect([stopped.status, stopped.error?.code]).toEqual(["stopped", "CONTEXT_MISSING"]);
    expect((await team.resume("a", { context: session("Ben") }).result).output?.content).toBe("Ben");
    expect((await team.replay("a").result).error?.code).toBe("CONTEXT_MISSING");
    expect((await team.replay("a", { context: session("Ben") }).result).status).toBe("finished");
    expect((await team.fork("a", { context: session("Cy"), at: 1 }).result).output?.content).toBe("Cy");
  });

  test("is missing for a tool of an agent without one", async () => {
    const whoami = defineTool({ name: "whoami", description: "Who.", effect: "read", execute: (_args, ctx) => userOf(ctx) });
    const agent = new Agent({
      name: "guide",
      model: scriptedModel([calls(call("whoami", {})), calls(call("whoami", {})), "Done."]),
      tools: [whoami],
    });
    expect((await agent.run("Who am I?").result).error).toMatchObject({ code: "CONTEXT_MISSING" });
    expect((await agent.run("Who am I?", { context: session("Ann") }).result).answer).toBe("Done.");
  });
});
