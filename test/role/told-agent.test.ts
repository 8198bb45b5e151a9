import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMessage } from "../../src/message/message.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Run } from "../../src/team/run.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { defineTool } from "../../src/tool/tool.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

const STEPS = 3;

function scout(): Role {
  const look = defineTool({
    name: "look",
    description: "Looks.",
    parameters: z.object({ at: z.number() }),
    effect: "read",
    execute: ({ at }) => `seen ${at}`,
  });
  return defineRole({ name: "Scout", reactMode: "agent", tools: [look] });
}

/** The words of a request, and how often a wish is in it. */
const wishesIn = ({ messages }: ChatRequest): number => messages.filter(({ content }) => content?.includes("a wish") === true).length;

/** The agent looks three times and answers. `during` is called while its model works on a call. */
function explorer(during: (call: number) => Promise<unknown> = () => Promise.resolve()) {
  return scriptedModel(async (request: ChatRequest) => {
    const call = request.messages.filter(({ role }) => role === "tool").length;
    await during(call);
    if (call >= STEPS) return "done";
    const name = `c${call}`;
    return {
      content: "",
      finishReason: "tool_calls" as const,
      toolCalls: [{ id: name, type: "function" as const, function: { name: "look", arguments: JSON.stringify({ at: call }) } }],
    };
  });
}

async function told(at: number, scheduler: "rounds" | "eager") {
  const journal = memoryJournal();
  let isTold = false;
  const model = explorer(async (call) => {
    if (call !== at || isTold) return;
    isTold = true;
    await run.publish(createMessage("a wish", { id: "wish", sendTo: "Scout" }));
  });
  const team = new Team({ seed: "s", journal, scheduler, roles: [scout()], model });
  const run: Run = team.run("explore", { id: "r" });
  const result = await run.result;
  expect(result.status).toBe("finished");
  return { team, model, events: await eventsOf(journal, "r"), result };
}

function answersIn(events: readonly RunEvent[]): number {
  const asked = events.flatMap((event) => (event.type === "step.started" && event.kind === "model" ? [`${event.act} ${event.key}`] : []));
  return events.filter((event) => event.type === "step.ended" && asked.includes(`${event.act} ${event.key}`)).length;
}

describe.each(["rounds", "eager"] as const)("words for an agent that works (%s)", (scheduler) => {
  test.each([0, 1, 2])("in call %i are in its conversation from the next step on, and are no news afterwards", async (at) => {
    const { team, model, result } = await told(at, scheduler);
    expect(model.calls.map(wishesIn)).toEqual([0, 1, 2, 3].map((call) => (call > at ? 1 : 0)));
    expect(result.outputs).toHaveLength(1);
    expect((await team.replay("r").result).error).toBeUndefined();
  });

  test("in its last call are news of its next activation, once", async () => {
    const { team, model, result } = await told(STEPS, scheduler);
    expect(model.calls.map(wishesIn)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(result.outputs).toHaveLength(2);
    expect((await team.replay("r").result).error).toBeUndefined();
  });

  test.each([0, 1, 2, 3])("in call %i are heard at the same step after any cut, and no answer is paid for twice", async (at) => {
    const { events, model } = await told(at, scheduler);
    const requests = model.calls.map(({ messages }) => JSON.stringify(messages));
    const first = events.findIndex((event) => event.type === "message" && event.message.id === "wish") + 1;
    for (let cut = first; cut < events.length; cut += 1) {
      const journal = await journalWith("r", events.slice(0, cut));
      const later = explorer();
      const result = await new Team({ journal, scheduler, roles: [scout()], model: later }).resume("r").result;
      expect({ cut, status: result.status, error: result.error }).toEqual({ cut, status: "finished", error: undefined });
      for (const { messages } of later.calls) expect(requests).toContain(JSON.stringify(messages));
      expect(later.calls.length).toBe(requests.length - answersIn(events.slice(0, cut)));
      expect(canonical(await eventsOf(journal, "r"))).toEqual(canonical(events));
    }
  });

  test("are heard again when the activation failed and its role starts over", async () => {
    const journal = memoryJournal();
    let fails = true;
    const model = explorer(async (call) => {
      if (call === 0 && fails) await run.publish(createMessage("a wish", { id: "wish", sendTo: "Scout" }));
      if (call !== 2 || !fails) return;
      fails = false;
      throw new Error("the model is away");
    });
    const team = new Team({ seed: "s", journal, scheduler, roles: [scout()], model, onFailure: { retry: 1, then: "stop" } });
    const run: Run = team.run("explore", { id: "r" });
    expect((await run.result).outputs).toHaveLength(1);
    expect(wishesIn(model.calls.at(-1) as ChatRequest)).toBe(1);
    expect((await team.replay("r").result).error).toBeUndefined();
  });
});
