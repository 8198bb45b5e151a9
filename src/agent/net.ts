import { aFunction, aText, either, object, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { Mind } from "./mind.ts";

/** One way of being busy: reasoning, acting, answering. A stateless definition: all it knows is in the memory. */
export interface NetState {
  /** Its effect belongs to the step before it, as acting belongs to reasoning. Two such states in a row count as two steps all the same. */
  readonly sameStep?: boolean;
  /** Does the work and streams what is said meanwhile. Every effect goes through `mind`. */
  run(memory: AgentMemory, mind: Mind): AsyncIterable<string>;
  /** The name of the state that follows. Reads the memory and changes nothing. Not asked once the memory is done. */
  nextState(memory: AgentMemory): Promise<string>;
}

/** What a net is made of. */
export interface NetParts {
  readonly name: string;
  /** The state to begin in; a function where a memory may hold work under way. */
  readonly start: string | ((memory: AgentMemory) => string);
  readonly states: Readonly<Record<string, NetState>>;
}

/** States and the ways between them: how a mind thinks. A stateless definition, to be shared by any number of agents. */
export class Net {
  readonly name: string;
  readonly #start: NetParts["start"];
  readonly #states: ReadonlyMap<string, NetState>;

  /** @throws UsageError `NET_UNKNOWN_STATE` when the start is none of the states. */
  constructor(parts: NetParts) {
    takes(
      "new Net",
      "parts",
      parts,
      object("an object with name, start and states", {
        name: aText,
        start: either(aText, aFunction),
        states: object("states by their names"),
      }),
    );
    this.name = parts.name;
    this.#start = parts.start;
    this.#states = new Map(Object.entries(parts.states));
    if (typeof parts.start === "string") this.state(parts.start);
  }

  get stateNames(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** Where a memory's work goes on. */
  startOf(memory: AgentMemory): string {
    return typeof this.#start === "string" ? this.#start : this.#start(memory);
  }

  /** @throws UsageError `NET_UNKNOWN_STATE` */
  state(name: string): NetState {
    const state = this.#states.get(name);
    if (state !== undefined) return state;
    throw new UsageError(
      "NET_UNKNOWN_STATE",
      `Expected a state of the net ${this.name} (${this.stateNames.join(", ")}), got ${String(name)}. Add it to the net's states, or name one that is there.`,
    );
  }
}
