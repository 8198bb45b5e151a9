import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { ToolCall } from "../../src/model/chat-message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import type { Approver } from "../../src/tool/approval.ts";
import { callTools } from "../../src/tool/call-tools.ts";
import { defineTool, type Tool } from "../../src/tool/tool.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { resultText } from "../../src/tool/tool-result.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { call } from "./calling.ts";

/** Counts the effects on the world. */
class World {
  readonly done: string[] = [];

  tool(name: string, more: Partial<Tool> = {}): Tool {
    return defineTool({
      name,
      description: "",
      ...more,
      parameters: z.object({ n: z.int().optional() }),
      execute: ({ n = 0 }: { readonly n?: number }) => {
        this.done.push(name);
        return `${name} ${n}`;
      },
    } as never);
  }
}

/** Calls tools in a run, and says what came of them. */
function worker(calls: readonly ToolCall[], tools: readonly Tool[], approve?: Approver): Role {
  const work = defineAction({
    name: "Work",
    async run(ctx) {
      const answers = await callTools(calls, {
        tools: new ToolCollection(tools),
        steps: ctx.steps,
        signal: ctx.signal,
        clock: systemClock,
        role: ctx.name,
        approve: approve ?? ((request, { signal }) => ctx.human.answer(request, signal)),
        ask: (question, { signal }) => ctx.human.answer(question, signal),
      });
      return answers.map(({ result, outcome }) => `${outcome}: ${resultText(result)}`).join(" | ");
    },
  });
  return defineRole({ name: "Ann", actions: [work] });
}

const three = [call("look", { n: 1 }, "1"), call("write", { n: 2 }, "2"), call("look", { n: 3 }, "3")];
const said = "ok: look 1 | ok: write 2 | ok: look 3";

describe("a call of a tool in a run", () => {
  test("is a step of the journal, and what a person allowed is one too", async () => {
    const journal = memoryJournal();
    const world = new World();
    const tools = [world.tool("look", { effect: "read" }), world.tool("write", { effect: "write" })];
    const { output } = await new Team({ seed: "s", journal, roles: [worker(three, tools, () => true)] }).run("go", { id: "r" }).result;
    expect(output?.content).toBe(said);
    const steps = (await eventsOf(journal, "r")).flatMap((event) => (event.type === "step.started" ? [event] : []));
    expect(steps.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["human approve", "tool look", "tool write", "tool look"]);
    expect(steps.map(({ request }) => request)).toEqual([
      expect.objectContaining({ role: "Ann", tool: "write", args: { n: 2 } }),
      { name: "look", args: { n: 1 } },
      { name: "write", args: { n: 2 } },
      { name: "look", args: { n: 3 } },
    ]);
    expect(steps.map((step) => "idempotent" in step && step.idempotent)).toEqual([false, false, false, false]);
  });

  test("is not made again, and nobody asked again, wherever the run was cut off and goes on", async () => {
    const journal = memoryJournal();
    const first = new World();
    const set = (world: World): Tool[] => [
      world.tool("look", { effect: "read" }),
      world.tool("write", { effect: "write", idempotent: true }),
    ];
    await new Team({ seed: "s", journal, roles: [worker(three, set(first), () => true)] }).run("go", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    for (let cut = 2; cut < events.length; cut++) {
      const kept = events.slice(0, cut);
      const world = new World();
      let asked = 0;
      const approve: Approver = () => (asked += 1) > 0;
      const team = new Team({ journal: await journalWith("r", kept), roles: [worker(three, set(world), approve)] });
      expect((await team.resume("r").result).output?.content).toBe(said);
      const ended = kept.filter((event) => event.type === "step.ended");
      const answered = (kind: string): number => ended.filter(({ key }) => kindOf(events, key) === kind).length;
      expect([cut, asked, world.done.length]).toEqual([cut, 1 - answered("human"), 3 - answered("tool")]);
    }
  });

  test("waits for a person who is not there, and goes on with the answer", async () => {
    const journal = memoryJournal();
    const world = new World();
    const options = (): TeamOptions => ({
      seed: "s",
      journal,
      roles: [worker(three, [world.tool("look", { effect: "read" }), world.tool("write", { effect: "write" })])],
    });
    const waiting = await new Team(options()).run("go", { id: "r" }).result;
    expect([waiting.status, world.done]).toEqual(["waiting", []]);
    const form = {
      kind: "choices",
      choices: [
        { value: "yes", label: "Yes, this time" },
        { value: "no", label: "No" },
        { value: "always", label: "Always: write, for the rest of this run" },
      ],
      words: "what to do instead, which refuses the call",
      args: expect.objectContaining({ type: "object" }) as object,
    };
    expect(waiting.questions).toEqual([
      { id: expect.any(String), role: "Ann", tool: "write", args: { n: 2 }, text: 'May Ann use the tool "write"?\n{\n  "n": 2\n}', form },
    ]);
    const run = await new Team(options()).answer("r", waiting.questions[0]?.id ?? "", "no, it is Friday");
    const { status, output } = await run.result;
    expect(status).toBe("finished");
    expect(output?.content).toMatch(/ok: look 1 \| denied: .* and said: no, it is Friday\. .* \| ok: look 3/);
    expect(world.done).toEqual(["look", "look"]);
  });

  test("is allowed for the rest of the run by an always, and a resumed run asks for no more of that tool", async () => {
    const journal = memoryJournal();
    const world = new World();
    const calls = [call("write", { n: 1 }, "1"), call("write", { n: 2 }, "2"), call("send", { n: 3 }, "3"), call("write", { n: 4 }, "4")];
    const options = (): TeamOptions => ({
      seed: "s",
      journal,
      roles: [worker(calls, [world.tool("write", { effect: "write" }), world.tool("send", { effect: "write" })])],
    });
    const first = await new Team(options()).run("go", { id: "r" }).result;
    expect(first.questions.map(({ tool }) => tool)).toEqual(["write"]);
    const second = await (await new Team(options()).answer("r", first.questions[0]?.id ?? "", " Always. ")).result;
    expect([second.status, second.questions.map(({ tool }) => tool), world.done]).toEqual(["waiting", ["send"], []]);
    const third = await (await new Team(options()).answer("r", second.questions[0]?.id ?? "", "yes")).result;
    expect(third.output?.content).toBe("ok: write 1 | ok: write 2 | ok: send 3 | ok: write 4");
    const answers = (await eventsOf(journal, "r")).flatMap((event) => (event.type === "step.ended" && event.ok ? [event.value] : []));
    expect(answers.filter((answer) => answer === "always")).toHaveLength(2);
    const replayed = await new Team(options()).replay("r").result;
    expect([replayed.status, replayed.output?.content]).toEqual(["finished", third.output?.content]);
  });

  test("that must not happen twice is not made again before somebody has looked", async () => {
    const journal = memoryJournal();
    const charge = [call("charge", {}, "1")];
    const roles = (world: World): Role[] => [worker(charge, [world.tool("charge", { permission: "allow" })])];
    await new Team({ seed: "s", journal, roles: roles(new World()) }).run("go", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    const begun = events.slice(0, events.findIndex((event) => event.type === "step.started" && event.name === "charge") + 1);
    const world = new World();
    const cut = await journalWith("r", begun);
    const stopped = await new Team({ journal: cut, roles: roles(world) }).resume("r").result;
    expect([stopped.status, stopped.error?.code, world.done]).toEqual(["failed", "STEP_UNCERTAIN", []]);
  });

  test("may ask a person in the middle, and is found again by the answer", async () => {
    const journal = memoryJournal();
    const asking = (): Tool =>
      defineTool({
        name: "ask_human",
        description: "",
        effect: "read",
        execute: async (_, ctx) => `she said ${await ctx.human?.ask("Red or blue?")}`,
      });
    const options = (): TeamOptions => ({ seed: "s", journal, roles: [worker([call("ask_human")], [asking()])] });
    const waiting = await new Team(options()).run("go", { id: "r" }).result;
    expect(waiting.questions.map(({ text, role }) => [text, role])).toEqual([["Red or blue?", "Ann"]]);
    const run = await new Team(options()).answer("r", waiting.questions[0]?.id ?? "", "blue");
    expect((await run.result).output?.content).toBe("ok: she said blue");
  });
});

function kindOf(events: Awaited<ReturnType<typeof eventsOf>>, key: string): string | undefined {
  for (const event of events) if (event.type === "step.started" && event.key === key) return event.kind;
  return undefined;
}
