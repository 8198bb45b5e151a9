import type { ToolCall } from "../model/chat-message.ts";
import type { Usage } from "../model/chat-model.ts";
import type { CalledTool } from "../tool/call-outcome.ts";
import type { AgentMove, AgentState } from "./lifecycle.ts";

/** What happens while an agent runs. */
export type AgentEvent =
  | { readonly type: "state.changed"; readonly from: AgentState; readonly to: AgentState; readonly move: AgentMove }
  /** `state`: the state of the net that is entered. */
  | { readonly type: "step.started"; readonly step: number; readonly maxSteps: number; readonly state: string }
  /** A piece of what the model says. */
  | { readonly type: "text"; readonly step: number; readonly text: string }
  /** A try of a model call failed and another begins: the text of this reply so far is void. */
  | { readonly type: "text.void"; readonly step: number }
  | {
      readonly type: "reply.ended";
      readonly step: number;
      readonly text: string;
      readonly calls: readonly ToolCall[];
      readonly usage: Usage | undefined;
    }
  | { readonly type: "call.started"; readonly step: number; readonly call: ToolCall }
  | { readonly type: "call.progress"; readonly step: number; readonly call: ToolCall; readonly text: string }
  | ({ readonly type: "call.ended"; readonly step: number } & CalledTool)
  | { readonly type: "warning"; readonly step: number; readonly code: string; readonly text: string }
  /** Room was made in the memory; sizes are counted tokens. */
  | {
      readonly type: "memory.compacted";
      readonly step: number;
      readonly how: "cleared" | "summarized" | "cut";
      readonly before: number;
      readonly after: number;
    }
  | { readonly type: "run.ended"; readonly result: AgentResult };

/** How a run of an agent ended. */
export interface AgentResult {
  /** `failed`: an error, or the agent said itself that it cannot do the task. `loop`: it did the same again and again, and was told. */
  readonly status: "finished" | "max_steps" | "loop" | "stopped" | "failed";
  /** Empty when there is none. */
  readonly answer: string;
  readonly steps: number;
  readonly usage: Usage;
  readonly error?: Error;
}
