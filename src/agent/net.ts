import { anAgentMemory, type AgentMemory } from "./agent-memory.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { z } from "zod";
import { aFunction, aText, either, having, object, takes } from "../kernel/argument.ts";
import type { Clock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import type { ChatMessage, ToolCall } from "../model/chat-message.ts";
import type { ChatModel, ChatRequest, ChatResponse, ToolSpec } from "../model/chat-model.ts";
import type { CalledTool } from "../tool/tool-result.ts";

/** Such as reasoning, acting or answering. A stateless definition: all its data is in the memory. */
export interface NetState {
  /** The state belongs to the step before it, as acting belongs to reasoning. Of two such states in a row the second begins a step. */
  readonly sameStep?: boolean;
  /** Streams its text. Every effect goes through `mind`. */
  run(memory: AgentMemory, mind: Mind): AsyncIterable<string>;
  /** Reads the memory and changes nothing. Not called once the memory is done. */
  nextState(memory: AgentMemory): Promise<string>;
}

/** The parts of a net. */
export interface NetParts {
  readonly name: string;
  /** A function if a memory may hold work under way. */
  readonly start: string | ((memory: AgentMemory) => string);
  readonly states: Readonly<Record<string, NetState>>;
}

/** States and the transitions between them. A stateless definition that agents share. */
export class Net {
  readonly name: string;
  readonly #start: NetParts["start"];
  readonly #states: ReadonlyMap<string, NetState>;

  constructor(parts: NetParts) {
    const shape = { name: aText, start: either(aText, aFunction), states: kinds.record(having("a state of a net", "run")) };
    takes("new Net", "parts", parts, object("an object with name, start and states", shape));
    this.name = parts.name;
    this.#start = parts.start;
    this.#states = new Map(Object.entries(parts.states));
    if (typeof parts.start === "string") this.state(parts.start);
  }

  get stateNames(): readonly string[] {
    return [...this.#states.keys()];
  }

  startOf(memory: AgentMemory): string {
    takes("Net.startOf", "memory", memory, anAgentMemory);
    return typeof this.#start === "string" ? this.#start : this.#start(memory);
  }

  state(name: string): NetState {
    const state = this.#states.get(name);
    if (state !== undefined) return state;
    throw new UsageError(
      "NET_UNKNOWN_STATE",
      `Expected a state of the net ${this.name} (${this.stateNames.join(", ")}), got ${String(name)}. Add it to the net's states, or name one that is there.`,
    );
  }
}

/** Over the messages of the memory. */
export interface Question {
  readonly model?: ChatModel | undefined;
  readonly messages?: readonly ChatMessage[] | undefined;
  /** Added to the agent's own. */
  readonly system?: string | undefined;
  /** The last message of this request alone: never stored. */
  readonly prompt?: string | undefined;
  readonly tools?: readonly ToolSpec[] | undefined;
  readonly toolChoice?: ChatRequest["toolChoice"] | undefined;
  readonly temperature?: number | undefined;
  /** Text that the length limit cut is a reply, with `finishReason` "length". Default: it is an error. */
  readonly takesCut?: boolean | undefined;
}

/** The context of the states of a net: it counts, limits, records and reports every effect. */
export interface Mind {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** From 1. */
  readonly step: number;
  readonly toolChoice: NonNullable<ChatRequest["toolChoice"]>;
  readonly nextStepPrompt: string | undefined;
  /** Streams the text and returns the whole reply. Makes room first when the request would not fit. @throws ModelError */
  ask(question: Question): AsyncGenerator<string, ChatResponse, void>;
  /** Asks again, twice at most, while the reply does not fit. @throws OutputError `OUTPUT_INVALID` */
  read<S extends z.ZodType>(schema: S, question: Question): Promise<z.infer<S>>;
  /** Every call gets an outcome, also one that does not run. @throws ControlError when the run was stopped meanwhile */
  act(calls: readonly ToolCall[]): Promise<readonly CalledTool[]>;
  /** Reports a problem that was dealt with. */
  warn(code: string, text: string): void;
}
