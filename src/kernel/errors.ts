/*
 * The tree of errors. An error has a stable `code`, and states what was expected, what came and what to do. A subclass exists only where a
 * caller's next step differs.
 */
import { type ErrorDetail, type ErrorRecord, TroupeError } from "./troupe-error.ts";

export { AbortedError, BudgetError, ControlError, contextMissing, DifferenceError, MovedError, WaitingError } from "./control-errors.ts";
export { type ErrorRecord, errorRecord, TroupeError } from "./troupe-error.ts";

/**
 * A value is not plain JSON, for example `NaN`, a function, or an object that contains itself. Code: `NOT_JSON`. The message has its path.
 * @example
 * import { createMessage, NotJsonError } from "troupe";
 *
 * try {
 *   createMessage("a price", { instructContent: { price: Number.NaN } });
 * } catch (error) {
 *   console.log(error instanceof NotJsonError && error.code); // NOT_JSON
 * }
 */
export class NotJsonError extends TroupeError {
  constructor(path: string, came: string) {
    super(
      "NOT_JSON",
      `Expected a JSON value at ${path}, got ${came}. Return plain objects, arrays, strings, finite numbers, booleans or null.`,
    );
  }
}

/**
 * Arguments or definitions can never work: a duplicate name, an unknown option, a malformed message. Correct the program; a retry does not
 * help.
 * @example
 * import { usd, UsageError } from "troupe";
 *
 * try {
 *   usd(-1);
 * } catch (error) {
 *   console.log(error instanceof UsageError && error.code); // MONEY_INVALID
 * }
 */
export class UsageError extends TroupeError {}

/**
 * The tasks of a plan form no dependency graph. Codes: `PLAN_CYCLE`, `PLAN_DUPLICATE_ID`, `PLAN_UNKNOWN_DEPENDENCY`, `PLAN_UNKNOWN_TASK`,
 * `PLAN_INVALID`; of a planning flow also `PLAN_EMPTY` and `PLAN_TOO_LONG`.
 * @example
 * import { Plan, PlanError } from "troupe";
 *
 * try {
 *   new Plan({ goal: "a cake", tasks: [{ id: "bake", instruction: "Bake it", dependsOn: ["mix"] }] });
 * } catch (error) {
 *   console.log(error instanceof PlanError && error.code); // PLAN_UNKNOWN_DEPENDENCY
 * }
 */
export class PlanError extends TroupeError {}

/**
 * A queue with a limit was full. Codes: `QUEUE_FULL`; `MAILBOX_FULL` for the mailbox of a role. `data.limit` is the limit.
 *
 * @example
 * import { createMessage, MessageQueue, QueueFullError } from "troupe";
 *
 * const queue = new MessageQueue({ limit: 1 });
 * queue.push(createMessage("first"));
 * try {
 *   queue.push(createMessage("second"));
 * } catch (error) {
 *   console.log(error instanceof QueueFullError && error.code); // QUEUE_FULL
 * }
 */
export class QueueFullError extends TroupeError {
  constructor(
    limit: number,
    code: string = "QUEUE_FULL",
    text: string = `Expected room in a queue of at most ${limit} messages, but it is full. Raise its limit or let its role run.`,
    data: unknown = { limit },
  ) {
    super(code, text, { data });
  }
}

/**
 * An activation, a tool or a model call ran past its time limit. Code: `TIMEOUT`; `WAIT_TIMEOUT` for a wait without its signal.
 * @example
 * import { TimeoutError } from "troupe";
 *
 * console.log(new TimeoutError("the call", 10).code); // TIMEOUT
 */
export class TimeoutError extends TroupeError {
  constructor(what: string, ms: number, hint = "", code: string = "TIMEOUT") {
    super(code, `Expected ${what} to end within ${ms} ms, but it did not. Raise the limit or find what it waits for.${hint}`);
  }
}

export class ContextClosedError extends TroupeError {
  constructor(act: string, what: string) {
    super("CONTEXT_CLOSED", `${what} came after activation ${act} had ended. Await everything an action starts before it returns.`);
  }
}

/**
 * A recorded side effect failed; live and after a resume it is the same error. `code` is that of the original error, else `ERROR`.
 * @example
 * import { defineRole, StepError, Team } from "troupe";
 *
 * const reader = defineRole({
 *   name: "Rita",
 *   react: async (rc) => {
 *     await rc.step("read the file", {}, () => Promise.reject(new Error("no such file")));
 *   },
 * });
 * const { error } = await new Team({ roles: [reader] }).run("read it").result;
 * console.log(error instanceof StepError, error?.message); // true no such file
 */
export class StepError extends TroupeError {}

/**
 * The code of an action or a role threw an error that is not of this package. Code: `ACTION_FAILED`. `data` names the role, the action and
 * a step that failed in it; `cause` is the original error.
 * @example
 * import { ActionError, defineAction, defineRole, Team } from "troupe";
 *
 * const Fail = defineAction({ name: "Fail", run: () => JSON.parse("{") as string });
 * const { error } = await new Team({ roles: [defineRole({ name: "Fay", actions: [Fail] })] }).run("go").result;
 * console.log(error instanceof ActionError, error?.code); // true ACTION_FAILED
 * console.log(error?.cause instanceof SyntaxError); // true
 */
export class ActionError extends TroupeError {}

/**
 * A model or its server failed. Codes: `MODEL_AUTH`, `MODEL_RATE_LIMIT`, `MODEL_UNREACHABLE`, `MODEL_SERVER`, `MODEL_TIMEOUT`,
 * `MODEL_EMPTY`, `MODEL_TRUNCATED`, `MODEL_REFUSED`, `MODEL_CONTENT_FILTER`, `MODEL_REDIRECTED`, `MODEL_UNPRICED` and others; the guide has
 * the remedy for each.
 * @example
 * import { ModelError } from "troupe";
 *
 * export function isWorthATry(error: unknown): boolean {
 *   return error instanceof ModelError && error.retryable;
 * }
 */
export class ModelError extends TroupeError {
  readonly retryable: boolean;

  constructor(code: string, message: string, detail: ErrorDetail & { readonly retryable?: boolean } = {}) {
    super(code, message, detail);
    this.retryable = detail.retryable ?? false;
  }
}

/**
 * The reply of a model did not fit the schema, also after two further requests. Code: `OUTPUT_INVALID`. `data` has the text of the reply
 * and the issues.
 * @example
 * import { OutputError } from "troupe";
 *
 * export function replyIn(error: OutputError): unknown {
 *   return error.data; // the text of the reply, and the issues
 * }
 */
export class OutputError extends TroupeError {}

/**
 * An operation on files, folders or git of a workspace was refused or failed. Codes: `WORKSPACE_PATH`, `WORKSPACE_LIMIT`,
 * `WORKSPACE_CHANGED`, `WORKSPACE_GIT`, `WORKSPACE_FULL`, `WORKSPACE_IO` and others.
 * @example
 * import { WorkspaceError } from "troupe";
 *
 * export function isOutside(error: unknown): boolean {
 *   return error instanceof WorkspaceError && error.code === "WORKSPACE_PATH"; // "../secrets", "/etc/passwd"
 * }
 */
export class WorkspaceError extends TroupeError {}

/**
 * A journal refused or could not do something. Codes: `RUN_UNKNOWN`, `RUN_EXISTS`, `RUN_OWNED`, `RUN_FORGOTTEN`, `RUN_IDEA_DIFFERS`,
 * `TEAM_CHANGED`, `JOURNAL_DAMAGED`, `JOURNAL_NEWER`, `JOURNAL_FULL`, `JOURNAL_CLOSED` and others.
 *
 * @example
 * import { exportRun, JournalError, memoryJournal } from "troupe";
 *
 * try {
 *   for await (const line of exportRun(memoryJournal(), "no such run")) console.log(line);
 * } catch (error) {
 *   console.log(error instanceof JournalError && error.code); // RUN_UNKNOWN
 * }
 */
export class JournalError extends TroupeError {}

/**
 * A long-term memory, its store, its embedder or its vectors failed. Codes: `MEMORY_FULL`, `MEMORY_UNWRITABLE`, `MEMORY_DAMAGED`,
 * `MEMORY_CLOSED`, `MEMORY_CONFLICT`, `EMBEDDING_FAILED`, `EMBEDDING_INVALID`, `EMBEDDING_DIMENSION` and others.
 * @example
 * import { createMessage, MemoryError, MemoryStorage } from "troupe";
 *
 * const storage = new MemoryStorage({ roleId: "Ada" });
 * await storage.close();
 * try {
 *   await storage.add(createMessage("too late"));
 * } catch (error) {
 *   console.log(error instanceof MemoryError && error.code); // MEMORY_CLOSED
 * }
 */
export class MemoryError extends TroupeError {}

/**
 * A cache failed. Codes: `CACHE_UNREACHABLE` (no answer, so the stored value is unknown), `CACHE_REFUSED` (the server answered with an
 * error), `CACHE_BUSY`, `CACHE_UNREADABLE`, `CACHE_UNWRITABLE`, `CACHE_CLOSED`.
 * @example
 * import { type BrainMemory, CacheError } from "troupe";
 *
 * export async function open(brain: BrainMemory): Promise<"loaded" | "nothing" | "damaged" | "offline"> {
 *   try {
 *     return (await brain.load()).kind;
 *   } catch (error) {
 *     if (error instanceof CacheError && error.code === "CACHE_UNREACHABLE") return "offline";
 *     throw error;
 *   }
 * }
 */
export class CacheError extends TroupeError {}

/** The same live and from a record. */
export function stepErrorFrom(record: ErrorRecord): TroupeError {
  const detail = { data: record.data };
  if (record.name === "ModelError") return new ModelError(record.code, record.message, { ...detail, retryable: record.retryable === true });
  if (record.name === "OutputError") return new OutputError(record.code, record.message, detail);
  if (record.name === "WorkspaceError") return new WorkspaceError(record.code, record.message, detail);
  return new StepError(record.code, record.message, detail);
}
