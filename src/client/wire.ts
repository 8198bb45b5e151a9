import type { Json } from "../kernel/json.ts";
import type { RunSummary, SummaryStatus } from "../runtime/record/run-summary.ts";

/* The JSON between a client and a server. */

/** A run that is to start. */
export interface StartRequest {
  readonly idea: string;
  readonly id?: string;
  /** The person it is for, as the tenant names them: what roles remember for one is not recalled for another. Default: the conversation. */
  readonly user?: string;
  readonly rounds?: number;
  readonly budget?: number;
}

export interface RunPage {
  readonly runs: readonly RunSummary[];
  readonly next?: string;
}

export interface OutsideMessage {
  readonly content: string;
  readonly sendTo?: readonly string[];
  readonly causeBy?: string;
  readonly id?: string;
  /** The person who says it. A run that was begun for another refuses it. Default: not checked. */
  readonly user?: string;
}

export interface MessageReceipt {
  readonly id: string;
  readonly recipients: readonly string[];
  /** True when a recipient reads it only once the run is resumed. */
  readonly waits: boolean;
}

/** A role that is to be hired into a run. */
export interface HireRequest extends TeamChangeTerms {
  /** The name of a definition of the server's team: one of `roles` or `reserve` of {@link ServedTeam}. */
  readonly role: string;
  /** The name of the role in the run. Default: that of the definition. */
  readonly as?: string;
}

/** What to do with a team that differs from the run's. */
export interface TeamChangeTerms {
  /** `refuse`: the request is refused with `TEAM_CHANGED`. `continue`: the run continues with the present team. Default: as the server says. */
  readonly onTeamChange?: "refuse" | "continue";
}

/** How a run continues. */
export interface ContinueTerms extends TeamChangeTerms {
  /** Limit on the rounds of a turn. Default: as before. */
  readonly rounds?: number;
  /** Micro-dollars that the run may spend in all. Default: as before. */
  readonly budget?: number;
  /** Reuse of the answers of an activation whose failure ended the run. Default `all`. */
  readonly reuse?: "all" | "none";
}

/** A run that is to continue. */
export interface ContinueRequest extends ContinueTerms {
  /** Messages from outside that come with it, recorded before anything else happens. Default: none. */
  readonly add?: readonly OutsideMessage[];
}

export interface MessageRequest extends OutsideMessage, TeamChangeTerms {}

/** A run that shares the past of another. */
export interface ForkRequest {
  readonly at?: number;
  readonly change?: readonly ForkChange[];
  readonly add?: readonly string[];
  readonly id?: string;
  readonly rounds?: number;
  readonly budget?: number;
  readonly reuse?: "all" | "none";
}

export interface ReplayReport {
  readonly equal: boolean;
  readonly events: number;
  /** The first difference, in words. */
  readonly difference?: string;
}

export interface ServedTeam {
  readonly name: string;
  /** The roles that a new run begins with. */
  readonly roles: readonly string[];
  /** The roles that no run begins with, and that a run can hire. */
  readonly reserve: readonly string[];
}

/** A change of a message of the past that a fork shares. */
export interface ForkChange {
  readonly seq: number;
  /** Which message of the event. Default 0. */
  readonly nth?: number;
  readonly content?: string;
  readonly instructContent?: Json;
  /** The message is never delivered. */
  readonly drop?: true;
}

/** Whose words are to be erased: those of one user of the tenant, or of one conversation. */
export type ForgetRequest = { readonly user: string } | { readonly conversation: string };

/** The answer to a question, with which a run continues. */
export interface AnswerRequest extends ContinueTerms {
  readonly answer: Json;
}

export interface ListQueryValues {
  readonly limit?: number | undefined;
  readonly cursor?: string;
  readonly status?: SummaryStatus;
}

export interface EventsQueryValues {
  readonly from?: number | undefined;
  readonly follow?: "true" | "false";
  readonly notices?: "true" | "false";
}
