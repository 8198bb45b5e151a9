import { agentEventKinds, type EventKinds } from "./event-log.ts";
import type { AgentEvent, AgentResult } from "./events.ts";
import type { FlowStep } from "./flow-plan.ts";

/** What happens while a flow runs. */
export type FlowEvent =
  /** Also when another plan takes its place. */
  | { readonly type: "plan.made"; readonly steps: readonly FlowStep[] }
  | { readonly type: "step.started"; readonly step: FlowStep }
  | { readonly type: "step.ended"; readonly step: FlowStep; readonly result: AgentResult }
  /** `blocked`: all that cannot be done now, when it is more than the step itself. */
  | {
      readonly type: "step.failed";
      readonly step: FlowStep;
      readonly why: string;
      readonly then: "retry" | "replan" | "block" | "stop";
      readonly blocked?: readonly string[];
    }
  | { readonly type: "agent.event"; readonly task: string; readonly event: AgentEvent }
  | { readonly type: "warning"; readonly code: string; readonly text: string }
  | { readonly type: "flow.ended"; readonly result: FlowResult };

/** How a flow ended. */
export interface FlowResult {
  /** `blocked`: some steps could not be done; the answer says what the others gave. */
  readonly status: "finished" | "blocked" | "stopped" | "failed";
  /** Empty when there is none. */
  readonly answer: string;
  readonly steps: readonly FlowStep[];
  readonly error?: Error;
}

/** What passes of an agent's events passes here; it is joined within one task. */
export const flowEventKinds: EventKinds<FlowEvent> = {
  isPassing: (event) => event.type === "agent.event" && agentEventKinds.isPassing(event.event),
  join(first, second) {
    if (first.type !== "agent.event" || second.type !== "agent.event" || first.task !== second.task) return undefined;
    const event = agentEventKinds.join(first.event, second.event);
    return event === undefined ? undefined : { ...first, event };
  },
};
