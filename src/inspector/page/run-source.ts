import type { Json } from "../../kernel/json.ts";
import type { RunEvent, RunNotice } from "../../runtime/record/event.ts";
import type { PendingQuestion } from "../../runtime/record/questions.ts";
import type { RunSummary } from "../../runtime/record/run-summary.ts";

/** Hears of a run while it is watched. */
export interface RunWatcher {
  /** Events in their order, without a gap. */
  readonly events: (events: readonly RunEvent[]) => void;
  /** Progress that is not recorded. Some of it may be missed. */
  readonly notice: (notice: RunNotice) => void;
  readonly connection: (connection: Connection) => void;
}

/** The way to the record of a run. */
export type Connection =
  /** The events came with the page. */
  | { readonly state: "offline" }
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  /** The server cannot be reached. The page tries again by itself. */
  | { readonly state: "lost"; readonly tries: number; readonly why: string }
  /** The run cannot be shown. */
  | { readonly state: "refused"; readonly why: string };

/** A run with what only its server knows. */
export interface RunStanding {
  readonly summary: RunSummary;
  readonly questions: readonly PendingQuestion[];
}

/** A message of the shared past with another content. */
export interface EditedMessage {
  /** The event that has it, and its place among the messages of that event. */
  readonly seq: number;
  readonly nth: number;
  readonly content: string;
}

/** The actions of a person on a run. Each rejects with the server's words. */
export interface RunActions {
  answer(run: string, question: string, answer: Json): Promise<void>;
  /** Returns the names of the recipients, and whether they read it only once the run is resumed. */
  publish(
    run: string,
    content: string,
    sendTo: readonly string[],
  ): Promise<{ readonly recipients: readonly string[]; readonly waits: boolean }>;
  pause(run: string): Promise<void>;
  proceed(run: string): Promise<void>;
  stop(run: string): Promise<void>;
  resume(run: string): Promise<void>;
  /** The definitions of roles that a run can hire. */
  readonly definitions: readonly string[];
  /** @param as the name in the run; default: that of the definition */
  hire(run: string, definition: string, as: string | undefined): Promise<void>;
  retire(run: string, role: string): Promise<void>;
  /** Returns the id of the new run. @param at the last shared event */
  fork(run: string, at: number, change: readonly EditedMessage[]): Promise<string>;
}

/** A part of the list of runs. */
export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** The cursor of the next part, where there is one. */
  readonly next?: string;
}

/** The source of the runs of a page: a server, or the page itself. */
export interface RunSource {
  readonly kind: "live" | "offline";
  /** Undefined where runs can only be read. */
  readonly actions?: RunActions;
  /** A page of the list of runs, the newest first. @param cursor `next` of the page before */
  runs(cursor: string | undefined, signal: AbortSignal): Promise<RunPage>;
  /** The state of one run now. */
  standing(run: string, signal: AbortSignal): Promise<RunStanding>;
  /** Passes on every event of a run from its first until the signal aborts. */
  watch(run: string, watcher: RunWatcher, signal: AbortSignal): Promise<void>;
}
