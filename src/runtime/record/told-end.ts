import type { Message } from "../../message/message.ts";
import type { ActEnded, RecordedMemoryOp } from "./event.ts";

/** What an activation changed. */
export interface Effect extends Omit<ActEnded, "act" | "memory"> {
  /** undefined: it did nothing to its memory but what `remembered` tells. */
  readonly memory: readonly RecordedMemoryOp[] | undefined;
  /** Messages that it took or said, each the one that its id names among those. */
  readonly remembered?: readonly Message[] | undefined;
}

/**
 * The end of an activation as its turn tells it. What an event writes down of an activation is its name, and so it is of a message that is known
 * anyway; where nothing is written down they themselves will do, and no name is made.
 */
export interface ToldEnd extends Effect {
  readonly by: NamedAct;
}

/** An activation that is asked for its name only where that is told. */
export interface NamedAct {
  /** `role#n~attempt`: the same whenever it is asked for. */
  readonly act: string;
}

/** The same as an event tells it. */
export function namedEnd(end: ToldEnd): ActEnded {
  const { remembered: _named, by, type, ...told } = end;
  return { type, act: by.act, ...told, memory: memoryIn(end) };
}

/** What it did to its memory as an event tells it. What is named here is frozen: mostly it is told to somebody. */
export function memoryIn({ memory, remembered }: Pick<Effect, "memory" | "remembered">): readonly RecordedMemoryOp[] {
  return memory ?? Object.freeze((remembered ?? nothing).map(named));
}

function named({ id }: Message): RecordedMemoryOp {
  return Object.freeze<RecordedMemoryOp>(["+", id]);
}

const nothing: readonly Message[] = [];
