import type { Arrival } from "../../runtime/record/event.ts";
import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Message } from "../../message/message.ts";

/*
 * The contents of a record as tables: steps, activations, messages and their ways. A place is an index into its table. A sequence number is that of
 * an event; undefined means that it has not happened yet.
 */

/** The end of an activation: still open, effective, failed in one of the four ways of `act.failed`, or given up because its role was retired. */
export type ActivationEnd = "open" | "ended" | "retry" | "isolate" | "dead" | "stop" | "retired";

/** True for the end of an activation that failed. */
export function isFailure(end: ActivationEnd): boolean {
  return end !== "open" && end !== "ended" && end !== "retired";
}

/** One attempt of one activation of a role. */
export interface ActivationFact {
  readonly place: number;
  /** `role#n~attempt` */
  readonly act: string;
  readonly role: string;
  readonly n: number;
  readonly attempt: number;
  /** Sequence number of its first event. An activation without a step has one event only. */
  readonly from: number;
  readonly until: number | undefined;
  readonly end: ActivationEnd;
  /** Milliseconds, from the events. */
  readonly began: number;
  readonly ended: number | undefined;
  /** Places of the messages it took from its mailbox, in their order. */
  readonly took: readonly number[];
  /** Places of the messages it sent. */
  readonly said: readonly number[];
  /** Places of its steps, in the order of their first events. */
  readonly steps: readonly number[];
  /** Micro-dollars of its steps. */
  readonly cost: number;
  /** Calls without a known price. */
  readonly unpriced: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Failed tries of its steps that were followed by another try. */
  readonly retries: number;
  readonly error: ErrorRecord | undefined;
}

/** A recorded side effect of an activation. */
export interface StepFact {
  readonly place: number;
  /** Place of its activation. */
  readonly activation: number;
  readonly key: string;
  /** `model`, `tool`, `human`, `memory`, `step` ... */
  readonly kind: string;
  readonly name: string;
  /** Sequence numbers of its events, tries included. */
  readonly seqs: readonly number[];
  readonly tries: number;
  /** Undefined while it has no answer. */
  readonly ok: boolean | undefined;
  /** Micro-dollars of all tries. */
  readonly cost: number;
  readonly unpriced: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** True when another run's record answered it: nothing was called. */
  readonly isReused: boolean;
}

/** A message that was sent, by a role or from outside. */
export interface SentFact {
  readonly place: number;
  /** Sequence number of the event that has it. */
  readonly seq: number;
  /** Its place among the messages of that event, from 0. */
  readonly nth: number;
  /** Place of the activation that sent it; undefined for one from outside. */
  readonly by: number | undefined;
  readonly message: Message;
  /** Places of its ways, one for each recipient. */
  readonly ways: readonly number[];
  /** Addresses that no role had. */
  readonly dead: readonly string[];
  /** A fork has removed it: only its sender knows of it. */
  readonly isRemoved: boolean;
}

/** The way of a message to one recipient. */
export interface WayFact {
  readonly place: number;
  /** Place of the message. */
  readonly sent: number;
  readonly role: string;
  /** Sequence number of the event that sent it. */
  readonly from: number;
  /** The event that put it into the mailbox. */
  readonly delivered: number | undefined;
  /** The event with which an activation first began with it. */
  readonly opened: number | undefined;
  /** Place of that activation. */
  readonly opener: number | undefined;
  /** The event with which an activation consumed it for good. */
  readonly consumed: number | undefined;
  /** Place of the activation that consumed it. */
  readonly consumer: number | undefined;
  /** The event that dropped it: from a full mailbox, or because its role was retired. */
  readonly dropped: number | undefined;
  /** Its role had been retired, so the message is a dead letter. */
  readonly isDead: boolean;
  /** The edges lost it. */
  readonly isLost: boolean;
  /** The mailbox held a message of this id already. */
  readonly isDouble: boolean;
  /** The tick at which it arrives; undefined where it was not delayed. */
  readonly due: number | undefined;
  /** What the edges did with it; undefined for nothing. */
  readonly fault: WayFault | undefined;
}

/** What the edges did with a message on one way. */
export interface WayFault extends Pick<Arrival, "copy" | "reads"> {
  /** The names of the policies. */
  readonly by: readonly string[];
}

/** A tick of the run's clock. */
export interface TickFact {
  /** The event with which the clock came to it. */
  readonly seq: number;
  readonly tick: number;
}

/** A recorded change of a file. */
export interface FileFact {
  /** The event that recorded the request. */
  readonly seq: number;
  /** Place of the step. */
  readonly step: number;
  readonly path: string;
  /** The fork of the project in which it happened; undefined for the project itself. */
  readonly fork: string | undefined;
  /** Undefined: the file was removed. Empty for a file that is no text. */
  readonly content: string | undefined;
  /** The bytes of a file that is no text. */
  readonly base64?: string;
}
