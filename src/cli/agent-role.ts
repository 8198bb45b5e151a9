import { defineAction } from "../role/action.ts";
import type { RoleContext } from "../role/context.ts";
import { Agent } from "../agent/agent.ts";
import type { FlowEvent, FlowResult } from "../agent/flow-plan.ts";
import { PlanningFlow } from "../agent/planning-flow.ts";
import { StepError, UsageError } from "../kernel/errors.ts";
import { defineRole, type Role } from "../role/role.ts";
import type { Tool } from "../tool/tool.ts";
import type { MachineOptions } from "../tools/command.ts";
import { MANUS_PROMPT, manusTools } from "../tools/manus.ts";
import type { AgentSettings } from "./agent-settings.ts";

/** What an agent of the command works with. */
export interface AgentRoleParts extends MachineOptions {
  /** Tools of servers, besides its own. */
  readonly more?: readonly Tool[] | undefined;
  /** Told of the steps of a plan. */
  readonly tell?: ((line: string) => void) | undefined;
}

/**
 * The one role of `troupe agent`: an agent with the tools that were named, or a plan whose steps such agents do. What runs or writes is asked
 * for, unless it was allowed.
 *
 * @throws UsageError `OPTION_INVALID` for an allowed tool that is not there; `TOOL_DUPLICATE`
 */
export function agentRole(settings: AgentSettings, { more = [], tell = () => {}, ...ports }: AgentRoleParts): Role {
  const { tools: named, allow, steps, plan = false } = settings;
  const tools = [...manusTools(ports).filter(({ name }) => named.includes(name)), ...more];
  checkAllowed(allow, tools);
  const permissions = { rules: allow.map((tool) => ({ tool, decide: "allow" as const })) };
  if (!plan) {
    return defineRole({
      name: "Agent",
      reactMode: "agent",
      maxReactLoop: steps,
      tools,
      agent: { systemPrompt: MANUS_PROMPT, permissions },
    });
  }
  const work = defineAction({
    name: "Work",
    async run(ctx) {
      const worker = (): Agent =>
        new Agent({
          name: ctx.name,
          model: ctx.model,
          steps: ctx.steps,
          clock: ctx.clock,
          tools,
          permissions,
          maxSteps: steps,
          systemPrompt: MANUS_PROMPT,
          approve: ({ id, text }, { signal }) => ctx.human.answer({ id, text }, signal),
          ask: ({ id, text }, { signal }) => ctx.human.answer({ id, text }, signal),
        });
      // One after another: they share a folder and a person.
      const flow = new PlanningFlow({ model: ctx.model, steps: ctx.steps, clock: ctx.clock, concurrency: 1, executors: { work: worker } });
      const run = flow.run(ctx.text, { signal: ctx.signal });
      for await (const event of run) tellFlow(event, ctx, tell);
      return answerOf(await run.result);
    },
  });
  return defineRole({ name: "Agent", actions: [work] });
}

function checkAllowed(allow: readonly string[], tools: readonly Tool[]): void {
  const names = tools.map(({ name }) => name);
  const unknown = allow.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new UsageError("OPTION_INVALID", `Expected --allow to name tools of ${names.join(", ")}, with commas between, got "${unknown}".`);
}

function tellFlow(event: FlowEvent, { logger }: Pick<RoleContext, "logger">, tell: (line: string) => void): void {
  switch (event.type) {
    case "plan.made":
      return tell(
        `Plan: ${event.steps.map(({ task, status }) => `${task.id} ${task.instruction}${status === "done" ? " (done)" : ""}`).join("; ")}`,
      );
    case "step.started":
      return tell(`Step ${event.step.task.id}: ${event.step.task.instruction}`);
    case "step.failed":
      return tell(`Step ${event.step.task.id} was not done: ${event.why}`);
    case "warning":
      return logger.warn(event.text);
    case "agent.event":
      return event.event.type === "warning" ? logger.warn(event.event.text) : undefined;
    default:
      return undefined;
  }
}

/** What was found also where some steps could not be done; the answer says which. */
function answerOf({ status, answer, error, steps }: FlowResult): string {
  if (error !== undefined) throw error;
  if (status !== "blocked" || steps.some((step) => step.status === "done")) return answer;
  const why = steps.map((step) => step.result).find((result) => result !== "") ?? "nobody says why";
  throw new StepError("AGENT_UNFINISHED", `Expected the plan to be carried out, but no step of it could be done: ${why.slice(0, 500)}`);
}
