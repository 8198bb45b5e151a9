import type { Known } from "../kernel/known-options.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import type { StepPort } from "../kernel/step.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { Approver, HumanPort } from "../tool/approval.ts";
import type { ToolNotice } from "../tool/call-options.ts";
import { callTools } from "../tool/call-tools.ts";
import type { PermissionPolicy } from "../tool/permission.ts";
import type { Tool } from "../tool/tool.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { AgentEvent } from "./events.ts";
import type { RunCalls } from "./working-mind.ts";

/** What an agent's tools may do, and who is asked. */
export interface CallRules {
  /** Who calls, as persons are told. */
  readonly name?: string;
  /** Default: what each tool says. */
  readonly permissions?: PermissionPolicy;
  /** Who is asked before what needs it. Without one, that does not run. */
  readonly approve?: Approver;
  /** How tools reach a person. */
  readonly ask?: HumanPort;
  /** What tools get from outside, as `ctx.deps`. Never recorded. Default: none; in a role of mode `agent` those of its team. */
  readonly deps?: Deps;
  /** Calls of one reply under way at once. Default 4. */
  readonly parallelTools?: number;
}

/** Their names. @internal */
export const callRules: Known<CallRules> = { name: true, permissions: true, approve: true, ask: true, deps: true, parallelTools: true };

/** What the calls of one run share. */
interface ToolRunnerParts {
  readonly memory: AgentMemory;
  readonly steps: StepPort;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly model: (steps: StepPort) => ChatModel;
  readonly tell: (event: AgentEvent) => void;
  readonly step: () => number;
  /** Told of each tool that runs. */
  readonly opened: (tool: Tool) => void;
}

/** Runs calls by the rules of an agent and tells what becomes of them. */
export function toolRunner({ name, permissions, approve, ask, deps, parallelTools }: CallRules, parts: ToolRunnerParts): RunCalls {
  const { memory, steps, clock, signal, model, step, opened } = parts;
  const tell = (notice: ToolNotice): void => parts.tell(eventOf(notice, step()));
  return (calls) =>
    callTools(calls, {
      tools: memory.tools,
      steps,
      clock,
      signal,
      model,
      tell,
      policy: permissions,
      approve,
      ask,
      role: name,
      concurrency: parallelTools,
      session: memory,
      deps,
      opened,
    });
}

function eventOf(notice: ToolNotice, step: number): AgentEvent {
  switch (notice.type) {
    case "tool.started":
      return { type: "call.started", step, call: notice.call };
    case "tool.progress":
      return { type: "call.progress", step, call: notice.call, text: notice.text };
    case "tool.ended":
      return { type: "call.ended", step, ...notice.called };
  }
}
