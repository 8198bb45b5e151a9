import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, type Tool } from "../../src/agent/index.ts";
import type { ToolOptions } from "../../src/tool/tool.ts";
import { effectTeam, remoteEffects, servedTool, startWorker } from "../../src/fleet/index.ts";
import type { EffectTeamOptions, ServedEffect } from "../../src/fleet/effect-team.ts";
import { canonical, defineRole, memoryJournal, type RunEvent, type RunResult, Team } from "../../src/index.ts";
import type { EffectPort } from "../../src/kernel/effect.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryRunDriver, type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { eventsOf } from "../team/recorded.ts";

/** Calls the tool once, and then repeats what it was told. */
function caller(): ScriptedModel {
  return scriptedModel(({ messages }) => {
    const told = messages.findLast(({ role }) => role === "tool");
    if (told !== undefined) return String(told.content);
    const call = { id: "c", type: "function", function: { name: "search", arguments: '{"words":"rain"}' } } as const;
    return { content: "", toolCalls: [call], finishReason: "tool_calls" };
  });
}

function searcher(tool: Tool, journal: Journal, effects?: EffectPort): Team {
  const roles = [defineRole({ name: "Sara", reactMode: "agent", tools: [tool] })];
  return new Team({ journal, model: caller(), roles, seed: "s", ...(effects === undefined ? {} : { effects }) });
}

interface Asked {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
}

/** Lets an agent call its tool, which a worker does. */
async function asked(effect: ServedEffect, { tool = away(), ...team }: EffectTeamOptions & { readonly tool?: Tool } = {}): Promise<Asked> {
  const [journal, driver] = [memoryJournal(), memoryRunDriver()];
  const worker = await startWorker({ driver, journal, teams: [effectTeam("tool:search", effect, { ...team, journal })] });
  const result = await searcher(tool, journal, remoteEffects({ driver, journal, effects: ["tool:search"] })).run("go", { id: "r" }).result;
  await worker.drain();
  return { result, events: await eventsOf(journal, "r") };
}

const words = z.object({ words: z.string() });
const search = defineTool({ name: "search", description: "Searches.", parameters: words, execute: (args) => `found ${args.words}` });

/** The same tool as the process of the agent knows it: it must not run there. */
function away(parameters: z.ZodType = words): Tool {
  const execute = (): never => {
    throw new Error("not here");
  };
  return defineTool({ name: "search", description: "Searches.", parameters, execute });
}

describe("a tool of an agent that a worker does", () => {
  it("is answered and recorded as where the agent is", async () => {
    const { result, events } = await asked(servedTool(search));
    expect([result.output?.content, result.error]).toEqual(["found rain", undefined]);
    const local = memoryJournal();
    await searcher(search, local).run("go", { id: "r" }).result;
    expect(canonical(events)).toBe(canonical(await eventsOf(local, "r")));
  });

  it("that fails, takes too long or gets other arguments than it knows is told to the model", async () => {
    const told = async (more: Partial<ToolOptions<z.ZodType>>): Promise<unknown> => {
      const tool = defineTool({ name: "search", description: "Searches.", parameters: words, execute: () => "never", ...more });
      return (await asked(servedTool(tool))).result.output?.content;
    };
    expect(await told({ execute: () => Promise.reject(new Error("the archive is shut")) })).toBe("Error: the archive is shut");
    expect(await told({ execute: () => new Promise(() => {}), timeout: 1 })).toMatch(/^Error: the tool "search" did not end within/);
    expect(await told({ execute: () => "rain ".repeat(100), maxOutput: 50 })).toContain("[cut: 50 of 500 characters shown]");
    expect(await told({ parameters: z.object({ query: z.string() }) })).toMatch(
      /^Error: Arguments of "search" do not fit:\n- words: is no parameter/,
    );
  });

  it("has the model of the team of the effect, and is closed after each call", async () => {
    const closed: unknown[] = [];
    const opened: unknown[] = [];
    const asking = defineTool({
      name: "search",
      description: "Searches.",
      parameters: words,
      async execute(_args, { model, session, human, signal }) {
        opened.push(session);
        const answer = await model?.chat({ messages: [{ role: "user", content: "rain?" }] }, { signal });
        return `${answer?.content}, ${typeof human}`;
      },
      close: ({ session }) => void closed.push(session),
    });
    const { result } = await asked(servedTool(asking), { model: scriptedModel(() => "Rain.") });
    expect(result.output?.content).toBe("Rain., undefined");
    expect(opened).toEqual([{}]);
    expect(closed[0]).toBe(opened[0]);
  });

  it("serves no other tool, and nothing that is none", async () => {
    const other = defineTool({ name: "find", description: "Finds.", execute: () => "found" });
    const { result } = await asked(servedTool(other));
    expect(result).toMatchObject({ status: "failed", error: { code: "EFFECT_INVALID" } });
    expect(await codeOf(async () => servedTool({ name: "search" } as Tool))).toBe("TOOL_INVALID");
  });
});
