import type { Json } from "../../kernel/json.ts";

/** What the edges did with a message on its way to one recipient. */
export interface EdgeFault {
  readonly to: string;
  /** The names of the policies that did something, in their order. */
  readonly by: readonly string[];
  /** Nothing for a lost message; more than one arrival where it was copied. */
  readonly arrives: readonly Arrival[];
}

/** A message as it arrives at one recipient. */
export interface Arrival {
  /** The number of the copy, from 1. Its id is that of the message, a star and this number. Left out for the message itself. */
  readonly copy?: number;
  /** What the recipient reads in place of what was sent. */
  readonly reads?: { readonly content: string; readonly instructContent?: Json };
  /** The tick at which it arrives, where the edges delayed it. */
  readonly due?: number;
}

/** A policy of the edges as the start of a run records it. */
export interface RecordedEdge {
  readonly name: string;
  readonly parameters?: { readonly [name: string]: Json };
  readonly pairs?: readonly string[];
}

/** The number of messages, each counted for each recipient, with which the edges did something. A delayed copy counts as both. */
export interface FaultCounts {
  readonly lost: number;
  readonly delayed: number;
  readonly copied: number;
  readonly rewritten: number;
}

/** The counts of a run without faults. */
export const noFaults: FaultCounts = Object.freeze({ lost: 0, delayed: 0, copied: 0, rewritten: 0 });
