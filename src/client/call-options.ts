import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { RunNotice } from "../runtime/record/event.ts";
import type { SummaryStatus } from "../runtime/record/run-summary.ts";
import type { ContinueTerms, OutsideMessage, TeamChangeTerms } from "./wire.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export const callOptions: Known<CallOptions> = { signal: kinds.signal };

export interface ChangeOptions extends CallOptions, TeamChangeTerms {}

export const changeOptions: Known<ChangeOptions> = { ...callOptions, onTeamChange: kinds.oneOf("refuse", "continue") };

export interface ContinueCallOptions extends CallOptions, ContinueTerms {}

export const continueCallOptions: Known<ContinueCallOptions> = {
  ...changeOptions,
  rounds: kinds.count,
  budget: kinds.count,
  reuse: kinds.oneOf("all", "none"),
};

/** Options of a signal. */
export interface SignalCallOptions extends ContinueCallOptions {
  /** A signal of a known id is not recorded again. Default: a new id. */
  readonly id?: string;
}

export const signalCallOptions: Known<SignalCallOptions> = { ...continueCallOptions, id: kinds.text };

/** Options of starting or forking a run. */
export interface StartOptions extends CallOptions {
  /** Makes the request safe to repeat. Default: a fresh one, so that a lost answer costs no second run. */
  readonly key?: string;
}

export const startOptions: Known<StartOptions> = { ...callOptions, key: kinds.text };

/** Options of a list of runs. */
export interface ListOptions extends CallOptions {
  /** 1 to 200. Default 50. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly cursor?: string;
  readonly status?: SummaryStatus;
}

export const listOptions: Known<ListOptions> = { ...callOptions, limit: kinds.size, cursor: kinds.text, status: kinds.text };

/** Options of saying something in a conversation. */
export interface SayOptions extends ContinueCallOptions {
  /** The person who says it, as the tenant names them. The first words of a conversation decide whose it is. Default: no one in particular. */
  readonly user?: string;
  /** Files that come with the words: at most 20, each with its bytes in base64. Default: none. */
  readonly files?: OutsideMessage["files"];
  /** Called with notices, such as pieces of answers; some may be missing. Default: none are sent. */
  readonly onNotice?: (notice: RunNotice) => void;
}

export const sayOptions: Known<SayOptions> = {
  ...continueCallOptions,
  user: kinds.text,
  files: kinds.list(kinds.object),
  onNotice: kinds.function,
};

/** Options of watching a run. */
export interface WatchOptions extends CallOptions {
  /** The first event. Default 0. */
  readonly from?: number;
  /** Continues to watch when the run comes to rest. Default false: the iteration ends there. */
  readonly follow?: boolean;
  /** Called with notices, such as pieces of answers; some may be missing. Default: none are sent. */
  readonly onNotice?: (notice: RunNotice) => void;
  /** Called when the run comes to rest, and while the connection is lost (`connected: false`) and found again. */
  readonly onState?: (state: { readonly connected: boolean; readonly status?: SummaryStatus }) => void;
}

export const watchOptions: Known<WatchOptions> = {
  ...callOptions,
  from: kinds.count,
  follow: kinds.boolean,
  onNotice: kinds.function,
  onState: kinds.function,
};
