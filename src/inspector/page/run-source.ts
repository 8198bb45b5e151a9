import type { RunEvent, RunStatus } from "../../runtime/record/event.ts";

/** A run in a list. Costs are micro-dollars, times are milliseconds since 1970. */
export interface RunSummary {
  readonly id: string;
  readonly status: RunStatus | "running" | "paused" | "open" | "empty" | "damaged";
  readonly idea: string;
  readonly team: string;
  readonly events: number;
  readonly started: number;
  readonly ended?: number;
  readonly cost: number | null;
  readonly calls: number;
  readonly tokens: number;
  readonly roles: readonly string[];
  readonly parent?: { readonly runId: string; readonly at: number };
}

/** Hears of a run while it is watched. */
export interface RunWatcher {
  /** Events in their order, without a gap. */
  readonly events: (events: readonly RunEvent[]) => void;
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

/** Where the page takes runs from: a server, or the page itself. */
export interface RunSource {
  readonly kind: "live" | "offline";
  runs(signal: AbortSignal): Promise<readonly RunSummary[]>;
  /** Passes on every event of a run from its first until the signal aborts. */
  watch(run: string, watcher: RunWatcher, signal: AbortSignal): Promise<void>;
}
