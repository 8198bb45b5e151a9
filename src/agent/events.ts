import type { ToolCall } from "../model/chat-message.ts";
import type { Usage } from "../model/chat-model.ts";
import type { Cost } from "../model/money.ts";
import type { Spendings } from "../model/spending.ts";
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
  /**
   * `failed`: an error, or the agent said itself that it cannot do the task. `loop`: it did the same again and again, and was told. `budget`: the
   * next call does not fit into a budget that binds it. `tokens`: its `tokenLimit` is reached. After all but `finished` and `failed` it can go on.
   */
  readonly status: "finished" | "max_steps" | "loop" | "budget" | "tokens" | "stopped" | "failed";
  /** Empty when there is none. */
  readonly answer: string;
  /** The answer as a value of the agent's `output` schema; not there without one, and in a run that did not finish. */
  readonly output?: unknown;
  readonly steps: number;
  /** Tokens of all calls, rejected replies included. */
  readonly usage: Usage;
  /** What this run spent. Calls that were cut off count at what they may have cost, and answers from the record of a role's run at nothing. */
  readonly cost: Cost;
  /** Both by the id of the model. */
  readonly byModel: Spendings;
  /** Calls that were not allowed, in their order, at most 100: a run can finish without having done what it was asked. Each was a warning event too. */
  readonly denied: readonly DeniedCall[];
  readonly error?: Error;
}

/** A call that was not allowed. */
export interface DeniedCall {
  readonly step: number;
  /** The name of the tool as the model wrote it. */
  readonly tool: string;
  /** Who refused it, in the words the model was told. */
  readonly why: string;
}
