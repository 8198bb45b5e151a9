import { having, object, readable, takes } from "../kernel/argument.ts";
import { StepError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { StepDoor } from "../kernel/step.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { RoleContext } from "../role/context.ts";
import { readArguments } from "../tool/call-arguments.ts";
import { closeTool, runTool } from "../tool/run-tool.ts";
import { modelIn } from "../role/guarded-act.ts";
import type { Tool } from "../tool/tool.ts";
import { ToolCollection } from "../tool/tool-collection.ts";
import type { ToolEnd } from "../tool/plain-result.ts";
import { toolFailure } from "../tool/tool-result.ts";
import type { ServedEffect } from "./effect-team.ts";

/**
 * Runs a tool of an agent for other processes: for an effect named "tool:" and the name of the tool. Arguments, time limit, size of the result
 * and failures are handled as where the agent is, which has asked for permission. Here the tool has the model and the `deps` of the team of
 * the effect, a session for each call, no person to ask, and no observers of its progress. Its arguments come as they were recorded, so
 * `parameters` must accept what they return.
 *
 * @throws UsageError `TOOL_INVALID`. The effect throws StepError `EFFECT_INVALID` for a request that is no call of this tool.
 */
export function servedTool(tool: Tool): ServedEffect {
  takes("servedTool", "tool", tool, readable);
  new ToolCollection([tool]); // Refuses what is no tool.
  return async (request, door, context) => {
    takes("servedTool", "door", door, having("the door of a step", "step"));
    takes("servedTool", "context", context, object("the context of a role"));
    const read = readArguments(JSON.stringify(argumentsIn(request, tool)), tool);
    if (!read.ok) return { outcome: "invalid", result: toolFailure(read.why) } satisfies ToolEnd;
    return await ran(tool, read.args, door, context);
  };
}

function argumentsIn(request: Json, { name }: Tool): Json {
  const asked = isRecord(request) ? (request as Readonly<Record<string, Json>>) : {};
  if (asked["name"] === name && asked["args"] !== undefined) return asked["args"];
  throw new StepError(
    "EFFECT_INVALID",
    `Expected a call of the tool "${name}", { name, args }, got ${valueText(request)}. Serve each tool by the effect of its name: effectTeam("tool:${name}", servedTool(tool)).`,
  );
}

async function ran(tool: Tool, args: unknown, door: StepDoor, context: RoleContext): Promise<ToolEnd> {
  const { clock, given, name: role, logger } = context;
  const session = {};
  const others = { ask: undefined, model: modelIn(context), progress: (): void => undefined };
  try {
    return await runTool(tool, args, door, {
      clock,
      signal: door.signal,
      role,
      session,
      deps: given?.deps,
      context: given?.context,
      ...others,
    });
  } finally {
    const trouble = await closeTool(tool, session, clock);
    if (trouble !== undefined) logger.warn(trouble);
  }
}
