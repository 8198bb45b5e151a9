import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMessage } from "../../src/message/message.ts";
import { defineAction } from "../../src/role/action.ts";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { usd } from "../../src/model/money.ts";
import type { ChatResponse } from "../../src/model/chat-model.ts";
import { defineRole, type Role, type RoleOptions } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { defineTool, type Tool } from "../../src/tool/tool.ts";
import { town } from "../runtime/town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

/** A tool that counts how often it really ran. */
function counter(more: Partial<Parameters<typeof defineTool>[0]> = {}): { readonly tool: Tool; readonly runs: string[] } {
  const runs: string[] = [];
  const tool = defineTool({
    name: "look",
    description: "Looks something up.",
    parameters: z.object({ at: z.string() }),
    effect: "read",
    ...(more as object),
    execute: ({ at }) => {
      runs.push(at);
      return `seen ${at}`;
    },
  });
  return { tool: tool as Tool, runs };
}

function looks(at: string, id = at): Partial<ChatResponse> {
  const call = { id, type: "function", function: { name: "look", arguments: JSON.stringify({ at }) } } as const;
  return { content: "", toolCalls: [call], finishReason: "tool_calls" };
}

function scout(tool: Tool, more: Partial<RoleOptions> = {}): Role {
  return defineRole({ name: "Scout", goal: "find out", reactMode: "agent", tools: [tool], ...more });
}

async function lived(role: Role, options: TeamOptions) {
  const journal = memoryJournal();
  const team = new Team({ seed: "s", ...options, journal, roles: [role] });
  const result = await team.run("What is where?", { id: "r" }).result;
  return { team, result, events: await eventsOf(journal, "r") };
}

describe("an agent with reactions", () => {
  test("reacts to their causes without its tools, and works as an agent on the other news", async () => {
    const { tool, runs } = counter();
    const Vote = defineAction({ name: "Vote", prompt: (ctx) => `Vote on ${ctx.text}` });
    const Ask = defineAction({ name: "Ask", run: () => "the door" });
    const asker = defineRole({ name: "Asker", actions: [Ask] });
    const model = scriptedModel(({ messages }) => {
      const question = String(messages.at(-1)?.content);
      if (question.startsWith("Vote on")) return "yes";
      return messages.some(({ role }) => role === "tool") ? "a is there" : looks("a");
    });
    const journal = memoryJournal();
    const role = scout(tool, { reactions: [{ on: Ask, do: Vote }] });
    const { messages } = await new Team({ journal, model, roles: [role, asker] }).run("What is where?", { id: "r" }).result;
    const said = messages.filter(({ sentFrom }) => sentFrom === "Scout").map(({ causeBy, content }) => [causeBy, content]);
    expect(said).toEqual([
      ["Scout", "a is there"],
      ["Vote", "yes"],
    ]);
    expect(runs).toEqual(["a"]);
    const replayed = await new Team({ journal, model, roles: [role, asker] }).replay("r").result;
    expect([replayed.error, replayed.messages]).toEqual([undefined, messages]);
  });

  test("works on news that a reaction only needs", async () => {
    const Vote = defineAction({ name: "Vote", needs: ["UserRequirement"], run: () => "yes" });
    const model = scriptedModel(["a is there"]);
    const role = scout(counter().tool, { reactions: [{ on: "Ballot", do: Vote }] });
    expect((await new Team({ model, roles: [role] }).run("What is where?").result).output?.content).toBe("a is there");
  });

  test("hears none of their news while it works: they wait for their reactions", async () => {
    const Vote = defineAction({ name: "Vote", run: (ctx) => `yes to ${ctx.text}` });
    let say = (): unknown => undefined;
    const model = scriptedModel(async ({ messages }) => {
      await say();
      return messages.some(({ role: of }) => of === "tool") ? "a is there" : looks("a");
    });
    const role = scout(counter().tool, { reactions: [{ on: "Ballot", do: Vote }] });
    const run = new Team({ model, roles: [role] }).run("What is where?");
    say = () => {
      say = () => undefined;
      return run.publish(createMessage("a door", { causeBy: "Ballot" }));
    };
    const { messages } = await run.result;
    expect(messages.filter(({ sentFrom }) => sentFrom === "Scout").map(({ content }) => content)).toEqual(["a is there", "yes to a door"]);
    expect(JSON.stringify(model.calls)).not.toContain("a door");
  });

  test("does both with news of both kinds, in one activation", async () => {
    const Vote = defineAction({ name: "Vote", run: (ctx) => `yes to ${ctx.text}` });
    const model = scriptedModel(
      ({ messages }) =>
        `seen ${messages
          .filter(({ role }) => role === "user")
          .map(({ content }) => content)
          .join()}`,
    );
    // Its task comes after the messages that it remembers.
    const role = scout(counter().tool, { watch: ["UserRequirement", "Ballot"], reactions: [{ on: "Ballot", do: Vote }] });
    const place = town([role], { model });
    place.publishMessage("a question");
    place.publishMessage(createMessage("a door", { causeBy: "Ballot" }));
    const { messages } = await place.run();
    const said = messages.filter(({ sentFrom }) => sentFrom === "Scout");
    expect(said.map(({ causeBy }) => causeBy)).toEqual(["Vote", "Scout"]);
    expect(said[0]?.content).toBe("yes to a door");
    expect(said[1]?.content).toBe("seen a door,a question");
  });
});

describe("a role that is an agent", () => {
  test("uses its tools until it has an answer, and says that; all of it is steps", async () => {
    const { tool, runs } = counter();
    const model = scriptedModel([looks("a"), looks("b"), "a and b are there"]);
    const { result, events } = await lived(scout(tool), { model });
    expect(result.output).toMatchObject({ content: "a and b are there", causeBy: "Scout", sentFrom: "Scout" });
    expect(runs).toEqual(["a", "b"]);
    const steps = events.flatMap((event) => (event.type === "step.started" ? [`${event.kind} ${event.name}`] : []));
    expect(steps).toEqual([`model ${model.id}`, "tool look", `model ${model.id}`, "tool look", `model ${model.id}`]);
  });

  test("is told who it is, what the news says, and which tools it has", async () => {
    const model = scriptedModel(["nothing to do"]);
    await lived(scout(counter().tool, { agent: { systemPrompt: "Be brief." } }), { model });
    const [request] = model.calls;
    expect(request?.messages[0]).toMatchObject({
      role: "system",
      content: expect.stringMatching(/Scout.*find out.*Be brief\./s) as string,
    });
    expect(request?.messages.at(-1)?.content).toContain("What is where?");
    expect(request?.tools?.map(({ name }) => name)).toEqual(["look", "terminate"]);
  });

  test("goes on from what it remembers when more news comes", async () => {
    const model = scriptedModel(["first answer", "second answer"]);
    const environment = town([scout(counter().tool)], { model });
    environment.publishMessage("one");
    await environment.run();
    environment.publishMessage("two");
    await environment.run();
    const said = model.calls[1]?.messages.map(({ content }) => content).join("\n");
    expect(said).toMatch(/one[\s\S]*first answer[\s\S]*two/);
    expect(model.calls[1]?.messages.filter(({ content }) => content?.includes("two"))).toHaveLength(1);
  });
});

describe("an agent with a memory", () => {
  test("recalls what was said in another run, as a step, and a replay recalls the same", async () => {
    const journal = memoryJournal();
    const model = scriptedModel(["the key is under the mat", "look under the mat"]);
    const role = scout(counter().tool, { memory: { store: inMemoryStore() } });
    const team = new Team({ seed: "s", model, journal, roles: [role] });
    await team.run("Where is the key to the house?", { id: "one" }).result;
    const { output } = await team.run("I want the key to the house", { id: "two" }).result;
    expect(output?.content).toBe("look under the mat");
    expect(model.calls[1]?.messages.map(({ content }) => content).join("\n")).toContain("Where is the key to the house?");
    const events = await eventsOf(journal, "two");
    expect(events.some((event) => event.type === "step.started" && event.kind === "memory")).toBe(true);
    expect((await team.replay("two").result).output?.content).toBe("look under the mat");
    expect(model.calls).toHaveLength(2);
  });
});

describe("from every prefix of its record", () => {
  test("it goes on to the same end, and nothing recorded is asked or done again", async () => {
    const script = [looks("a"), looks("b"), "a and b are there"];
    const first = counter();
    const whole = await lived(scout(first.tool), { model: scriptedModel(script, { id: "scripted" }) });
    const heard = whole.events.findIndex((event) => event.type === "message");
    for (let cut = heard + 1; cut < whole.events.length; cut += 1) {
      const past = whole.events.slice(0, cut);
      const recorded = past.flatMap((event) => (event.type === "step.ended" ? [event.act] : [])).length;
      const { tool, runs } = counter();
      const asked: string[] = [];
      const model = scriptedModel(({ messages }) => {
        const answers = messages.filter(({ role }) => role === "tool").length;
        asked.push(`model ${answers}`);
        return script[answers] ?? "";
      });
      const journal = await journalWith("r", past);
      const team = new Team({ seed: "s", model, journal, roles: [scout(tool)] });
      const result = await team.resume("r").result;
      expect(result.output?.content).toBe("a and b are there");
      expect(asked.length + runs.length).toBe(5 - recorded);
      expect(canonical(await eventsOf(journal, "r"))).toEqual(canonical(whole.events));
    }
  });

  test("a tool that must not run twice is not run again when nobody knows whether it ran", async () => {
    const script = [looks("a"), "there"];
    const options = { idempotent: false };
    const whole = await lived(scout(counter(options).tool), { model: scriptedModel(script, { id: "scripted" }) });
    const cut = whole.events.findIndex((event) => event.type === "step.started" && event.kind === "tool") + 1;
    const { tool, runs } = counter(options);
    const journal = await journalWith("r", whole.events.slice(0, cut));
    const team = new Team({ seed: "s", model: scriptedModel(["there"], { id: "scripted" }), journal, roles: [scout(tool)] });
    expect(await team.resume("r").result).toMatchObject({ status: "failed", error: { code: "STEP_UNCERTAIN" } });
    expect(runs).toEqual([]);
  });
});

describe("a role whose action has an output schema", () => {
  const Report = defineAction({
    name: "Report",
    output: z.object({ city: z.string(), degrees: z.number() }),
    run: () => undefined,
    render: ({ city, degrees }) => `${city}: ${degrees}`,
  });
  const value = { city: "Paris", degrees: 21 };
  const reporter = (): Role => scout(counter().tool, { actions: [Report] });

  test("says a value of it, read from the answer where that holds it", async () => {
    const model = scriptedModel([looks("a"), `It is this: ${JSON.stringify(value)}`]);
    const { result } = await lived(reporter(), { model });
    expect(result.output).toMatchObject({ content: "Paris: 21", instructContent: value, causeBy: "Report" });
    expect(model.calls).toHaveLength(2);
  });

  test("is asked for it when the work is done, with all that was found; the record has it", async () => {
    const model = scriptedModel([looks("a"), "21 degrees in Paris.", JSON.stringify(value)]);
    const { team, result, events } = await lived(reporter(), { model });
    expect(result.output?.instructContent).toEqual(value);
    const [asked] = model.calls.slice(-1);
    expect(asked?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
    expect(asked?.messages.at(-1)?.content).toMatch(/"degrees"/);
    expect((await team.replay("r").result).output?.instructContent).toEqual(value);
    expect(model.calls).toHaveLength(3);
    expect(events.filter((event) => event.type === "step.started" && event.kind === "model")).toHaveLength(3);
  });
});

describe("what needs permission", () => {
  const writes = { effect: "write" } as const;

  test("waits for a person when nobody is there, and runs once when the answer has come", async () => {
    const { tool, runs } = counter(writes);
    const { team, result } = await lived(scout(tool), { model: scriptedModel([looks("a"), "there"]) });
    expect(result.status).toBe("waiting");
    const [question] = result.questions;
    expect(question?.text).toMatch(/May Scout use the tool "look"\?[\s\S]*"at": "a"/);
    expect((await (await team.answer("r", question?.id ?? "", "yes")).result).status).toBe("finished");
    expect(runs).toEqual(["a"]);
  });

  test("is asked of the person who is there; a no reaches the model in their words", async () => {
    const { tool, runs } = counter(writes);
    const model = scriptedModel([looks("a"), "as you wish"]);
    const { result } = await lived(scout(tool), { model, human: () => "not on a Sunday" });
    expect(result.output?.content).toBe("as you wish");
    expect(model.calls[1]?.messages.at(-1)?.content).toContain("not on a Sunday");
    expect(runs).toEqual([]);
  });

  test("a person who plays the role answers instead of it", async () => {
    const role = scout(counter().tool, { human: true });
    const { result } = await lived(role, { human: ({ text }) => `you asked: ${text}` });
    expect(result.output?.content).toMatch(/you asked: .*What is where\?/s);
  });
});

describe("an agent that comes to no answer", () => {
  test("fails when its steps are used up, and says so", async () => {
    const { tool, runs } = counter();
    let asked = 0;
    const model = scriptedModel(() => looks(`place ${(asked += 1)}`));
    const { result } = await lived(scout(tool, { maxReactLoop: 3 }), { model });
    expect(result).toMatchObject({ status: "failed", error: { code: "AGENT_UNFINISHED" } });
    expect(runs.length).toBeGreaterThan(0);
  });

  test("fails with its own words when it says that it cannot", async () => {
    const call = {
      id: "1",
      type: "function",
      function: { name: "terminate", arguments: '{"status":"failure","answer":"no map"}' },
    } as const;
    const { result } = await lived(scout(counter().tool), {
      model: scriptedModel([{ content: "", toolCalls: [call], finishReason: "tool_calls" }]),
    });
    expect(result).toMatchObject({ status: "failed", error: { message: expect.stringContaining("no map") as string } });
  });

  test("stops at the budget, and its activation stays open", async () => {
    const price = { input: 1_000_000, output: 1_000_000 };
    const model = scriptedModel([looks("a")], { price });
    const { result } = await lived(scout(counter().tool), { model, budget: usd(0.001) });
    expect(result.status).toBe("budget");
    expect(model.calls).toEqual([]);
  });
});

describe("bad settings", () => {
  test.each([
    ["tools without an agent", { reactMode: "react" }],
    ["settings without an agent", { reactMode: "by_order", tools: [], agent: { recent: 1 } }],
    ["two tools of one name", { tools: [counter().tool, counter().tool] }],
  ] as const)("%s", (_what, more) => {
    expect(() => town([scout(counter().tool, more as Partial<RoleOptions>)])).toThrow(/Expected/);
  });
});
