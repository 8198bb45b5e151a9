import type { Arrival } from "../../runtime/record/event.ts";
import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Message } from "../../message/message.ts";

/*
 * The contents of a record as tables: steps, activations, messages and their deliveries. An `index`, and each list of numbers but `seqs`, points into
 * a table. `seq`, `from`, `until` and the stages of a delivery are sequence numbers of events; undefined means that it has not happened yet. Costs are
 * in micro-dollars, `unpriced` counts calls without a known price, `began` and `ended` are milliseconds.
 */

export type ActivationEnd = "open" | "ended" | "retry" | "isolate" | "dead" | "stop" | "retired";

export function isFailure(end: ActivationEnd): boolean {
  return end !== "open" && end !== "ended" && end !== "retired";
}

export interface Spent {
  readonly cost: number;
  readonly unpriced: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export const NOTHING_SPENT: Spent = { cost: 0, unpriced: 0, inputTokens: 0, outputTokens: 0 };

export function addSpent(sum: { -readonly [Key in keyof Spent]: number }, spent: Spent): void {
  for (const key of ["cost", "unpriced", "inputTokens", "outputTokens"] as const) sum[key] += spent[key];
}

export interface ActivationFact extends Spent {
  readonly index: number;
  readonly act: string;
  readonly role: string;
  readonly n: number;
  readonly attempt: number;
  /** Sequence number of its first event. An activation without a step has one event only. */
  readonly from: number;
  readonly until: number | undefined;
  readonly end: ActivationEnd;
  readonly began: number;
  readonly ended: number | undefined;
  readonly took: readonly number[];
  readonly said: readonly number[];
  readonly steps: readonly number[];
  /** Failed tries of its steps that were followed by another try. */
  readonly retries: number;
  readonly error: ErrorRecord | undefined;
}

export interface StepFact extends Spent {
  readonly index: number;
  readonly activation: number;
  readonly key: string;
  /** `model`, `tool`, `human`, `memory`, `step` ... */
  readonly kind: string;
  readonly name: string;
  readonly seqs: readonly number[];
  readonly tries: number;
  readonly ok: boolean | undefined;
  readonly isReused: boolean;
}

export interface SentFact {
  readonly index: number;
  readonly seq: number;
  readonly nth: number;
  /** Index of the activation that sent it; undefined for one from outside. */
  readonly by: number | undefined;
  readonly message: Message;
  readonly deliveries: readonly number[];
  readonly dead: readonly string[];
  /** A fork has removed it: only its sender knows of it. */
  readonly isRemoved: boolean;
}

export interface DeliveryFact {
  readonly index: number;
  readonly sent: number;
  readonly role: string;
  /** The id with which the message arrives: a copy has its own. */
  readonly id: string;
  readonly from: number;
  readonly delivered?: number | undefined;
  /** The event with which an activation first began with it. */
  readonly opened?: number | undefined;
  readonly opener?: number | undefined;
  /** The event with which an activation consumed it for good. */
  readonly consumed?: number | undefined;
  readonly consumer?: number | undefined;
  /** The event that dropped it: from a full mailbox, or because its role was retired. */
  readonly dropped?: number | undefined;
  /** Its role had been retired, so the message is a dead letter. */
  readonly isDead: boolean;
  readonly isLost: boolean;
  /** The mailbox held a message of this id already. */
  readonly isDouble: boolean;
  /** The tick at which a delayed message arrives. */
  readonly due: number | undefined;
  readonly fault: DeliveryFault | undefined;
}

export interface DeliveryFault extends Pick<Arrival, "copy" | "reads"> {
  readonly by: readonly string[];
}

export interface TickFact {
  readonly seq: number;
  readonly tick: number;
}

export interface FileFact {
  readonly seq: number;
  readonly step: number;
  readonly path: string;
  /** The fork of the project in which it happened; undefined for the project itself. */
  readonly fork: string | undefined;
  /** Undefined: the file was removed. Empty for a file that is no text. */
  readonly content: string | undefined;
  readonly base64?: string;
}
