import type { ResultMembers } from "../kernel/run-handle.ts";
import type { ToolCall } from "../model/chat-message.ts";
import type { Usage } from "../model/chat-model.ts";
import type { Cost } from "../model/money.ts";
import type { Spendings } from "../model/ledger.ts";
import type { CalledTool } from "../tool/tool-result.ts";
import type { AgentMove, AgentState } from "./lifecycle.ts";

/** Sizes are counted tokens. */
export interface Compacted {
  readonly how: "cleared" | "summarized" | "cut";
  readonly before: number;
  readonly after: number;
}

/** An event of a run of an agent. */
export type AgentEvent =
  | { readonly type: "state.changed"; readonly from: AgentState; readonly to: AgentState; readonly move: AgentMove }
  /** `state`: of the net. */
  | { readonly type: "step.started"; readonly step: number; readonly maxSteps: number; readonly state: string }
  /** A piece of the model's text. */
  | { readonly type: "text"; readonly step: number; readonly text: string }
  /** A try failed: the text of this reply so far is void. */
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
  | ({ readonly type: "memory.compacted"; readonly step: number } & Compacted)
  | { readonly type: "run.ended"; readonly result: AgentResult };

/** The result of a run of an agent. */
export interface AgentResult<O = unknown> {
  /**
   * `failed`: an error, or the agent said that it cannot do the task. `loop`: it repeated itself after a warning. `budget`: the next call
   * does not fit into a budget. `tokens`: its `tokenLimit` is reached. After all but `finished` and `failed` it can continue.
   */
  readonly status: "finished" | "max_steps" | "loop" | "budget" | "tokens" | "stopped" | "failed";
  /** Empty when there is none. */
  readonly answer: string;
  /** The answer as a value of the agent's `output` schema; absent without one, and in a run that did not finish. */
  readonly output?: O;
  readonly steps: number;
  /** Rejected replies included. */
  readonly usage: Usage;
  /** Interrupted calls count at what they may have cost; answers from a record at what they had cost. */
  readonly cost: Cost;
  readonly byModel: Spendings;
  /** At most 100. A run can finish without having done its task. */
  readonly denied: readonly DeniedCall[];
  readonly error?: Error;
}

/** With words of other frameworks. @internal */
export const agentResultMembers: { readonly [Name in keyof Required<AgentResult>]: Name } & ResultMembers = {
  status: "status",
  answer: "answer",
  output: "output",
  steps: "steps",
  usage: "usage",
  cost: "cost",
  byModel: "byModel",
  denied: "denied",
  error: "error",
  ...{ content: "answer", text: "answer", finalOutput: "answer", messages: "answer" },
};

/** A call that was denied. */
export interface DeniedCall {
  readonly step: number;
  /** As the model wrote it. */
  readonly tool: string;
  readonly why: string;
}

/** `isPassing` events are not kept for late readers; `join` joins two that wait. */
export interface EventKinds<E> {
  isPassing(event: E): boolean;
  join(first: E, second: E): E | undefined;
}

interface EventReader<E> {
  readonly waiting: E[];
  wake: () => void;
}

/**
 * The events of one run, for any number of readers. It owns the events that late readers get, and those that wait for each reader.
 *
 * `EventLog.V1` every reader gets every event in order; pieces of text and of progress only go to readers that are there when they come
 * (`add`, `read`). `EventLog.V2` the events that wait for a slow reader are bounded by the kept events and the run's own text: waiting
 * pieces are joined (`add`). `EventLog.V3` a reader that stops reading does not hold up the run (`#events`).
 */
export class EventLog<E> {
  readonly #kinds: EventKinds<E>;
  readonly #kept: E[] = [];
  readonly #readers = new Set<EventReader<E>>();
  #ended = false;

  constructor(kinds: EventKinds<E>) {
    this.#kinds = kinds;
  }

  add(event: E): void {
    // A tool that outlives its time may still report progress.
    if (this.#ended) return;
    if (!this.#kinds.isPassing(event)) this.#kept.push(event);
    for (const { waiting, wake } of this.#readers) {
      const last = waiting.at(-1);
      const joined = last === undefined ? undefined : this.#kinds.join(last, event);
      if (joined === undefined) waiting.push(event);
      else waiting[waiting.length - 1] = joined;
      wake();
    }
  }

  end(): void {
    this.#ended = true;
    for (const { wake } of this.#readers) wake();
    this.#readers.clear();
  }

  read(): AsyncGenerator<E, void, void> {
    const reader = { waiting: [...this.#kept], wake: () => {} };
    if (!this.#ended) this.#readers.add(reader);
    return this.#events(reader);
  }

  async *#events(reader: EventReader<E>): AsyncGenerator<E, void, void> {
    try {
      for (;;) {
        const event = reader.waiting.shift();
        if (event !== undefined) yield event;
        else if (this.#ended) return;
        else await new Promise<void>((resolve) => (reader.wake = resolve));
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

/** Text of one step is joined; of the progress of one call the newest counts. */
export const agentEventKinds: EventKinds<AgentEvent> = {
  isPassing: ({ type }) => type === "text" || type === "text.void" || type === "call.progress",
  join(first, second) {
    if (first.type === "text" && second.type === "text" && first.step === second.step) return { ...first, text: first.text + second.text };
    return first.type === "call.progress" && second.type === "call.progress" && first.call === second.call ? second : undefined;
  },
};
