import { Agent } from "../agent/agent.ts";
import type { FlowEvent, FlowResult } from "../agent/flow-plan.ts";
import { PlanningFlow } from "../agent/planning-flow.ts";
import { StepError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { defineAction } from "../role/action.ts";
import type { RoleContext } from "../role/context.ts";
import { defineRole, type Role } from "../role/role.ts";
import type { HumanQuestion } from "../tool/approval.ts";
import type { Tool } from "../tool/tool.ts";
import type { MachineOptions } from "../tools/command.ts";
import { MANUS_PROMPT, manusTools } from "../tools/manus.ts";
import { type AgentSettings, knownTools } from "./settings.ts";

export interface AgentRoleParts extends MachineOptions {
  readonly more?: readonly Tool[] | undefined;
  readonly say?: ((line: string) => void) | undefined;
}

/** Tools that run or write ask first, unless they are allowed. */
export function agentRole(settings: AgentSettings, { more = [], say = () => {}, ...ports }: AgentRoleParts): Role {
  const { tools: named, allow, steps: maxSteps, plan = false } = settings;
  const tools = [...manusTools({ workspace: ports.workspace, sandbox: ports.sandbox }).filter(({ name }) => named.includes(name)), ...more];
  knownTools(
    "--allow",
    allow,
    tools.map(({ name }) => name),
  );
  const permissions = { rules: allow.map((tool) => ({ tool, decide: "allow" as const })) };
  if (!plan) {
    const agent = { systemPrompt: MANUS_PROMPT, permissions };
    return defineRole({ name: "Agent", reactMode: "agent", maxReactLoop: maxSteps, tools, agent });
  }
  const work = defineAction({
    name: "Work",
    async run(ctx) {
      const { name, model, steps, clock } = ctx;
      const ask = (question: HumanQuestion, { signal }: { signal: AbortSignal }): Promise<Json> => ctx.human.answer(question, signal);
      const worker = (): Agent =>
        new Agent({ name, model, steps, clock, tools, permissions, maxSteps, systemPrompt: MANUS_PROMPT, approve: ask, ask });
      // One after another: the agents share a folder and a person.
      const flow = new PlanningFlow({ model, steps, clock, concurrency: 1, executors: { work: worker } });
      const run = flow.run(ctx.text, { signal: ctx.signal });
      for await (const event of run) sayPlan(event, ctx, say);
      return answerOf(await run.result);
    },
  });
  return defineRole({ name: "Agent", actions: [work] });
}

function sayPlan(event: FlowEvent, { logger }: Pick<RoleContext, "logger">, say: (line: string) => void): void {
  switch (event.type) {
    case "plan.made": {
      const steps = event.steps.map(({ task, status }) => `${task.id} ${task.instruction}${status === "done" ? " (done)" : ""}`);
      return say(`Plan: ${steps.join("; ")}`);
    }
    case "step.started":
      return say(`Step ${event.step.task.id}: ${event.step.task.instruction}`);
    case "step.failed":
      return say(`Step ${event.step.task.id} was not done: ${event.why}`);
    case "warning":
      return logger.warn(event.text);
    case "agent.event":
      return event.event.type === "warning" ? logger.warn(event.event.text) : undefined;
    default:
      return undefined;
  }
}

function answerOf({ status, answer, error, steps }: FlowResult): string {
  if (error !== undefined) throw error;
  if (status !== "blocked" || steps.some((step) => step.status === "done")) return answer;
  const why = steps.map((step) => step.result).find((result) => result !== "") ?? "no reason was given";
  throw new StepError("AGENT_UNFINISHED", `Expected the plan to be carried out, but no step of it could be done: ${why.slice(0, 500)}`);
}
