import type { Json } from "../kernel/json.ts";
import type { Message } from "../message/message.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { RunCommand } from "./publishing.ts";
import type { RunControls } from "./run.ts";
import type { Runs } from "./runs.ts";

export interface FollowedRun {
  readonly controls: RunControls;
  /** Messages for the run; published ones are removed. */
  readonly news: (Message | string)[];
  /** Called with the recorded idea of the run. @throws JournalError `RUN_IDEA_DIFFERS` */
  readonly meant: (idea: Message) => void;
  /** Drives the run in this process. Resolves with undefined while another process owns it. */
  readonly drive: () => Promise<RunResult | undefined>;
}

export interface RemoteRequest<T> {
  readonly runId: string;
  readonly command: RunCommand;
  readonly resultOf: (answer: unknown) => T;
  /** Does the work in this process. Rejects with `RUN_OWNED` or a MovedError while another process owns the run. */
  readonly local: () => Promise<T>;
  readonly signal: AbortSignal | undefined;
}

export type LocalRuns = Pick<Runs, "parts" | "reserve" | "change" | "find" | "report">;

/** The port to runs that other processes own. `fleet` implements it; a run of one process never uses it. */
export interface RemoteRuns {
  follow(run: FollowedRun): Promise<RunResult>;
  request<T>(request: RemoteRequest<T>): Promise<T>;
  /** Executes a command of another process. Never rejects: the outcome is the answer. */
  execute(runId: string, command: Json): Promise<Json>;
}
