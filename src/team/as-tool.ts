import { z } from "zod";
import { Agent } from "../agent/agent.ts";
import type { RunContext } from "../kernel/deps.ts";
import { readable, takes } from "../kernel/argument.ts";
import { isUncertain } from "../kernel/effect.ts";
import { ControlError, UsageError } from "../kernel/errors.ts";
import { canonicalJson, type Json } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { defined, isObject } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { createMessage } from "../message/message.ts";
import type { AnySchema } from "../model/standard-schema.ts";
import type { Role } from "../role/role.ts";
import { defineTool, type Tool, type ToolContext, toolName } from "../tool/tool.ts";
import { toolFailure, type ToolResult } from "../tool/tool-result.ts";
import { Team } from "./team.ts";
import type { RunOptions } from "./team-options.ts";

/** Options of an agent, a role or a team as a tool. */
export interface AsToolOptions {
  /** Default: its name. */
  readonly name?: string;
  /** Its use, for the model that calls it. Default: its description or its goal. */
  readonly description?: string;
  /** The form that the model fills in; the worker gets it as JSON. Default: a task in words. */
  readonly input?: AnySchema;
}

const asToolOptions: Known<AsToolOptions> = { ...kinds.each(kinds.text, "name", "description"), input: kinds.schema };

/** As for an activation of a role. */
const TIMEOUT = 3_600_000;

/**
 * Makes a tool of an agent, a role or a team: each call gives it a task, and its answer is the result. In a run its calls, its cost and its record are part of
 * the call. It begins each task anew. A role without a model uses that of the caller. If it does not finish, the model of the caller reads why.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `TOOL_INVALID`
 * @example
 * import { Agent, asTool } from "troupe";
 * import { scriptedModel } from "troupe/testing";
 *
 * const ask = { toolCalls: [{ id: "1", type: "function", function: { name: "poet", arguments: '{"task":"the sea"}' } }] } as const;
 * const poet = new Agent({ name: "poet", description: "Writes a line.", model: scriptedModel(["The sea is wide."]) });
 * const host = new Agent({ name: "host", model: scriptedModel([ask, "Here: The sea is wide."]), tools: [asTool(poet)] });
 * console.log((await host.run("A line about the sea?").result).answer); // Here: The sea is wide.
 */
export function asTool(worker: Agent | Role | Team, o: AsToolOptions = {}): Tool {
  takes("asTool", "worker", worker, readable);
  const { run, name: own, description: about } = workerOf(worker);
  checkKnownOptions("asTool", o, asToolOptions);
  const { input, name = toolName(own), description = about === "" ? `Gives ${own} a task.` : about } = o;
  return defineTool({
    name,
    description,
    parameters: input ?? z.object({ task: z.string().describe("the whole task: nothing else is known") }),
    timeout: TIMEOUT,
    // The record has what the worker has done, so a call continues after a crash or a question.
    idempotent: true,
    execute: (args, ctx) => run(input === undefined ? (args as { readonly task: string }).task : canonicalJson(args), ctx),
  }) as Tool;
}

interface Worker {
  readonly name: string;
  readonly description: string;
  readonly run: (task: string, ctx: ToolContext) => Promise<ToolResult>;
}

function workerOf(given: unknown): Worker {
  if (given instanceof Agent) given.anew();
  if (given instanceof Agent)
    return { name: given.name, description: given.description, run: async (task, ctx) => agentRun(given, task, ctx) };
  if (given instanceof Team) return { name: given.name, description: "", run: async (task, ctx) => teamRun(given, { task }, ctx) };
  if (isObject(given) && "react" in given && "observe" in given) {
    const role = given as unknown as Role;
    const { name, goal } = role;
    // To its name, because it may watch other causes.
    const run: Worker["run"] = async (task, ctx) =>
      teamRun(new Team({ roles: [role], clock: ctx.clock, ...defined({ model: ctx.model, deps: ctx.deps }) }), { task, to: name }, ctx);
    return { name, description: goal, run };
  }
  throw new UsageError("OPTION_INVALID", `Expected an agent, a role or a team as a tool, got ${valueText(given)}. Write asTool(agent).`);
}

async function agentRun(agent: Agent, task: string, ctx: ToolContext): Promise<ToolResult> {
  const { status, answer, output, error } = await agent
    .anew(ctx.human && { ask: ctx.human.answer, approve: ctx.human.answer })
    .run(task, termsOf(ctx)).result;
  if (status === "finished") return { output: output === undefined ? answer : canonicalJson(output), ...defined({ data: output as Json }) };
  if (error instanceof ControlError || isUncertain(error)) throw error;
  return toolFailure(`${agent.name} has not finished (${status}). ${error?.message ?? answer}`);
}

async function teamRun(team: Team, { task, to }: { readonly task: string; readonly to?: string }, ctx: ToolContext): Promise<ToolResult> {
  const idea = to === undefined ? task : createMessage(task, { sendTo: to });
  const { status, output, error } = await team.run(idea, termsOf(ctx)).result;
  if (status === "finished") return { output: output?.content ?? "", ...defined({ data: output?.instructContent as Json }) };
  const failure = toolFailure(`${team.name} has not finished (${status}). ${error?.message ?? ""}`);
  if ((error instanceof ControlError && status !== "budget") || isUncertain(error)) throw error;
  return failure;
}

function termsOf(ctx: ToolContext): Pick<RunOptions, "signal" | "context"> {
  // A context that is missing is no member of a copy. The worker may need none.
  const { signal, context }: Pick<ToolContext, "signal"> & { readonly context?: RunContext } = { ...ctx };
  return { signal, ...defined({ context }) };
}
