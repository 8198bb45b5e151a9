import type { Message } from "../message/message.ts";
import type { ActEnded, RecordedMemoryOp } from "./event.ts";

/**
 * The end of an activation as its turn tells it. What an event writes down of a message that is known anyway is its name; where nothing is
 * written down the messages themselves will do.
 */
export interface ToldEnd extends Omit<ActEnded, "memory"> {
  /** undefined: it did nothing to its memory but what `remembered` tells. */
  readonly memory: readonly RecordedMemoryOp[] | undefined;
  /** Messages that it took or said, each the one that its id names among those. */
  readonly remembered?: readonly Message[] | undefined;
}

/** The same as an event tells it. */
export function namedEnd(end: ToldEnd): ActEnded {
  const { remembered: _named, ...told } = end;
  return { ...told, memory: memoryIn(end) };
}

/** What it did to its memory as an event tells it. */
export function memoryIn({ memory, remembered }: Pick<ToldEnd, "memory" | "remembered">): readonly RecordedMemoryOp[] {
  return memory ?? (remembered ?? []).map(({ id }): RecordedMemoryOp => ["+", id]);
}
