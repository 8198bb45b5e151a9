import { thrownText, valueText } from "./value-text.ts";
import { visibleText } from "./visible-text.ts";

/**
 * The one error tree. Every error says what was expected, what came and what to do, and carries a stable `code`.
 *
 * `TroupeError` is the root; a subclass exists only where a caller's next move differs:
 * - `ControlError`: not a failure but an interruption (stop, budget, a human is awaited). Never recorded as a failed step.
 * - `StepError`: a recorded side effect failed; live and after a resume it is the same value.
 * - `ActionError`: the code of a role's action threw; `cause` is what it threw.
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

/** An error as `JSON.stringify` writes it: its record, and the errors behind it. Stacks stay out. */
export interface ErrorJson extends ErrorRecord {
  readonly cause?: ErrorJson;
}

/** What an error is made of besides its message. */
export interface ErrorDetail {
  readonly cause?: unknown;
  /** Facts a program may read; must be JSON. */
  readonly data?: unknown;
}

/**
 * Root of all errors thrown on purpose by this package. Text of others may stand in a message: what could steer a terminal or hide a part
 * of it is shown escaped.
 */
export class TroupeError extends Error {
  /** Stable, documented, upper snake case. */
  readonly code: string;
  readonly data: unknown;

  constructor(code: string, message: string, detail: ErrorDetail = {}) {
    super(
      visibleText(typeof message === "string" ? message : valueText(message)),
      detail.cause === undefined ? undefined : { cause: detail.cause },
    );
    this.name = new.target.name;
    this.code = code;
    this.data = detail.data;
    Object.defineProperty(this, brand, { value: true });
  }

  /** For `JSON.stringify`: name, code, message, data and the causes, without stacks. */
  toJSON(): ErrorJson {
    return jsonOf(this, DEEPEST);
  }

  /** True for errors of this tree, also across two copies of the package. */
  static isInstance(error: unknown): error is TroupeError {
    try {
      return error instanceof Error && (error as { [brand]?: boolean })[brand] === true;
    } catch {
      return false;
    }
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
  constructor(
    limit: number,
    code: string = "QUEUE_FULL",
    text: string = `Expected room in a queue of at most ${limit} messages, but it is full. Raise its limit or let its role run.`,
    data: unknown = { limit },
  ) {
    super(code, text, { data });
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

/** The code of a role's action threw what is no error of this package. `data` names the role, the action, and a step that had failed in it. */
export class ActionError extends TroupeError {}

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
 * A cache could not do what it was asked. Its codes: `CACHE_UNREACHABLE` (nobody could be asked, which says nothing about what is stored),
 * `CACHE_REFUSED` (the server answered with an error), `CACHE_BUSY`, `CACHE_UNREADABLE`, `CACHE_UNWRITABLE`, `CACHE_CLOSED`.
 */
export class CacheError extends TroupeError {}

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

/** Budgets below one cent are mostly dollars that were given as micro-dollars. */
const ONE_CENT = 10_000;

/** The next call may cost more than what is left. Amounts are micro-dollars. */
export class BudgetError extends ControlError {
  /** @param data `of`: whose budget it is, where it is not the run's own */
  constructor(data: { readonly needed: number; readonly left: number; readonly budget: number; readonly of?: string }) {
    const { needed, left, budget, of } = data;
    const whose = of === undefined ? "" : ` in the ${of}`;
    super(
      "BUDGET",
      `The next model call may cost up to ${dollars(needed)}, but ${dollars(left)} of ${dollars(budget)} is left${whose}. Raise the budget to go on.${unitHint(budget)}`,
      { data },
    );
  }
}

/** Micro-dollars as dollars, to the last of them. */
function dollars(amount: number): string {
  return `$${(amount / 1_000_000).toFixed(6).replace(/0{1,4}$/, "")}`;
}

function unitHint(budget: number): string {
  if (budget <= 0 || budget >= ONE_CENT) return "";
  return ` A budget is told in micro-dollars, so ${budget} is ${dollars(budget)}: for $${budget} write usd(${budget}).`;
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
      message: visibleText(error.message),
      ...(data === undefined ? {} : { data }),
      ...(error instanceof ModelError && error.retryable ? { retryable: true } : {}),
    };
  }
  if (error instanceof Error) {
    const code = (error as { code?: unknown }).code;
    return { name: error.name, code: typeof code === "string" ? code : "ERROR", message: visibleText(thrownText(error)) };
  }
  return { name: "Error", code: "THROWN", message: `A value that is not an Error was thrown: ${visibleText(thrownText(error))}` };
}

/** Most causes of an error that its JSON tells: a chain may be a ring. */
const DEEPEST = 5;

function jsonOf(error: unknown, depth: number): ErrorJson {
  const record = errorRecord(error);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined || depth === 0 ? record : { ...record, cause: jsonOf(cause, depth - 1) };
}

/** The error that a failed step throws, live and from a record alike. */
export function stepErrorFrom(record: ErrorRecord): TroupeError {
  const detail = record.data === undefined ? {} : { data: record.data };
  if (record.name === "ModelError") return new ModelError(record.code, record.message, { ...detail, retryable: record.retryable === true });
  if (record.name === "OutputError") return new OutputError(record.code, record.message, detail);
  if (record.name === "WorkspaceError") return new WorkspaceError(record.code, record.message, detail);
  return new StepError(record.code, record.message, detail);
}

function plainData(data: unknown): unknown {
  try {
    const text = JSON.stringify(data);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
