import { thrownText } from "./value-text.ts";

/**
 * The one error tree. Every error says what was expected, what came and what to do, and carries a stable `code`.
 *
 * `TroupeError` is the root; a subclass exists only where a caller's next move differs:
 * - `ControlError`: not a failure but an interruption (stop, budget, a human is awaited). Never recorded as a failed step.
 * - `StepError`: a recorded side effect failed; live and after a resume it is the same value.
 * - `ModelError`: a model call failed; `retryable` says whether the same call may succeed later.
 */
const brand = Symbol.for("troupe.error");

/** Plain form of an error, as journals and `--json` carry it. */
export interface ErrorRecord {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly data?: unknown;
  /** Of a model's error: whether the same request may succeed when sent again. */
  readonly retryable?: true;
}

/** What an error is made of besides its message. */
export interface ErrorDetail {
  readonly cause?: unknown;
  /** Facts a program may read; must be JSON. */
  readonly data?: unknown;
}

/** Root of all errors thrown on purpose by this package. */
export class TroupeError extends Error {
  /** Stable, documented, upper snake case. */
  readonly code: string;
  readonly data: unknown;

  constructor(code: string, message: string, detail: ErrorDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = new.target.name;
    this.code = code;
    this.data = detail.data;
    Object.defineProperty(this, brand, { value: true });
  }

  /** True for errors of this tree, also across two copies of the package. */
  static isInstance(error: unknown): error is TroupeError {
    return error instanceof Error && (error as { [brand]?: boolean })[brand] === true;
  }
}

/** A value is not plain JSON. */
export class NotJsonError extends TroupeError {
  constructor(path: string, came: string) {
    super(
      "NOT_JSON",
      `Expected a JSON value at ${path}, got ${came}. Return plain objects, arrays, strings, finite numbers, booleans or null.`,
    );
  }
}

/** Arguments or definitions that can never work: duplicate names, an unknown mode, a malformed message. */
export class UsageError extends TroupeError {}

/** A plan is not a dependency graph: unknown or duplicate ids, a cycle, a task that is not there. */
export class PlanError extends TroupeError {}

/** A queue that has a limit was full. */
export class QueueFullError extends TroupeError {
  constructor(limit: number) {
    super("QUEUE_FULL", `Expected room in a queue of at most ${limit} messages, but it is full. Raise its limit or let its role run.`);
  }
}

/** An activation, or something in it, ran past its limit. */
export class TimeoutError extends TroupeError {
  constructor(what: string, ms: number) {
    super("TIMEOUT", `Expected ${what} to end within ${ms} ms, but it did not. Raise the limit or find what it waits for.`);
  }
}

/** A context was used after its activation had ended. */
export class ContextClosedError extends TroupeError {
  constructor(act: string, what: string) {
    super("CONTEXT_CLOSED", `${what} came after activation ${act} had ended. Await everything an action starts before it returns.`);
  }
}

/** A recorded side effect failed. Equal live and after a resume. */
export class StepError extends TroupeError {}

/** What a model or its server did wrong; see `code`. */
export class ModelError extends TroupeError {
  /** Whether the same request may succeed when sent again. */
  readonly retryable: boolean;

  constructor(code: string, message: string, detail: ErrorDetail & { readonly retryable?: boolean } = {}) {
    super(code, message, detail);
    this.retryable = detail.retryable ?? false;
  }
}

/** A model's reply did not fit the schema it was asked for, also after the one re-ask. `data` keeps the text and the issues. */
export class OutputError extends TroupeError {}

/** A file, folder or git operation of a workspace was refused or failed. */
export class WorkspaceError extends TroupeError {}

/** A journal refused an operation: unknown run, stale epoch, damage. */
export class JournalError extends TroupeError {}

/** A long-term memory could not keep or find something: its store, its embedder or its vectors; see `code`. */
export class MemoryError extends TroupeError {}

/**
 * An interruption. Once one was thrown inside an activation, that activation can only be suspended:
 * it stays open and is never recorded as done or failed, whatever its code catches.
 */
export class ControlError extends TroupeError {}

/** The run or the caller asked to stop. */
export class AbortedError extends ControlError {
  constructor(reason = "the run was asked to stop", cause?: unknown) {
    super("ABORTED", `Stopped: ${reason}.`, cause === undefined ? {} : { cause });
  }
}

/** The next call may cost more than what is left. */
export class BudgetError extends ControlError {
  constructor(data: { readonly needed: number; readonly left: number; readonly budget: number }) {
    super(
      "BUDGET",
      `The next model call may cost up to ${data.needed} micro-dollars, but ${data.left} of ${data.budget} are left. Raise the budget to go on.`,
      { data },
    );
  }
}

/** A human's answer is needed and nobody is there to give it. */
export class WaitingError extends ControlError {
  constructor(data: { readonly questionId: string; readonly question: string; readonly role: string }) {
    super("WAITING", `${data.role} waits for a human to answer: ${data.question}`, { data });
  }
}

/** A replayed or resumed activation asked for something its record does not have. */
export class DifferenceError extends ControlError {}

/** Any error as plain data. Stacks stay out, control characters are shown escaped, and data that is no JSON is left out. */
export function errorRecord(error: unknown): ErrorRecord {
  if (TroupeError.isInstance(error)) {
    const data = plainData(error.data);
    return {
      name: error.name,
      code: error.code,
      message: visible(error.message),
      ...(data === undefined ? {} : { data }),
      ...(error instanceof ModelError && error.retryable ? { retryable: true } : {}),
    };
  }
  if (error instanceof Error) {
    const code = (error as { code?: unknown }).code;
    return { name: error.name, code: typeof code === "string" ? code : "ERROR", message: visible(thrownText(error)) };
  }
  return { name: "Error", code: "THROWN", message: `A value that is not an Error was thrown: ${visible(thrownText(error))}` };
}

/** The error that a failed step throws, live and from a record alike. */
export function stepErrorFrom(record: ErrorRecord): TroupeError {
  const detail = record.data === undefined ? {} : { data: record.data };
  if (record.name === "ModelError") return new ModelError(record.code, record.message, { ...detail, retryable: record.retryable === true });
  if (record.name === "OutputError") return new OutputError(record.code, record.message, detail);
  if (record.name === "WorkspaceError") return new WorkspaceError(record.code, record.message, detail);
  return new StepError(record.code, record.message, detail);
}

/** Everything but tab and line feed that could steer a terminal. */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function visible(text: string): string {
  return text.replace(STEERING, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function plainData(data: unknown): unknown {
  try {
    const text = JSON.stringify(data);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
