import { z } from "zod";
import type { ToolCall } from "../../src/model/chat-message.ts";
import type { ChatResponse } from "../../src/model/chat-model.ts";
import { defineTool, type Tool } from "../../src/tool/tool.ts";
import { Agent, type AgentOptions, type AgentRun } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import { scriptedModel, type ScriptedAnswer, type ScriptedModel, type ScriptedReply } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";

/** A call as a model makes it. */
export function call(name: string, args: unknown = {}, id = `${name}_1`): ToolCall {
  return { id, type: "function", function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) } };
}

/** A reply that calls tools. */
export function calls(...wishes: readonly ToolCall[]): Partial<ChatResponse> {
  return { toolCalls: wishes };
}

/** A tool that writes down what it was given. */
export function noting(
  name = "look",
  answer: (args: { q?: string | undefined }) => string = ({ q = "" }) => `seen ${q}`,
): Tool & { readonly seen: string[] } {
  const seen: string[] = [];
  const tool = defineTool({
    name,
    description: `${name} at something`,
    parameters: z.object({ q: z.string().optional() }),
    effect: "read",
    execute: (args) => {
      seen.push(args.q ?? "");
      return answer(args);
    },
  });
  return { ...tool, seen };
}

/** An agent whose model says what a test tells it. */
export function agentOf(
  replies: readonly (ScriptedReply | ScriptedAnswer)[] | ScriptedAnswer,
  options: Partial<AgentOptions> = {},
): { readonly agent: Agent; readonly model: ScriptedModel } {
  const model = scriptedModel(replies);
  return { model, agent: new Agent({ name: "tester", model, clock: simulatedClock(), ...options }) };
}

/** All events of a run. */
export async function eventsOf(run: AgentRun): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}
