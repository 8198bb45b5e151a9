import { thrownText, valueText, visibleText } from "./value-text.ts";

const brand = Symbol.for("troupe.error");

export interface ErrorRecord {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly data?: unknown;
  /** True for a model's error when the same request may succeed when sent again. */
  readonly retryable?: true;
}

/** An error as `JSON.stringify` writes it: its record, and its causes, without stacks. */
export interface ErrorJson extends ErrorRecord {
  readonly cause?: ErrorJson;
}

export interface ErrorDetail {
  readonly cause?: unknown;
  readonly data?: unknown;
}

/**
 * Root of all errors that this package throws on purpose. `code` is stable; `message` names the expected value, the actual one and the
 * remedy; `data` holds plain JSON facts. Control characters in a message are escaped.
 * @example
 * import { parseMessage, TroupeError } from "troupe";
 *
 * try {
 *   parseMessage({ content: 5 });
 * } catch (error) {
 *   if (!TroupeError.isInstance(error)) throw error;
 *   console.log(error.code); // MESSAGE_INVALID
 * }
 */
export class TroupeError extends Error {
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

export function errorRecord(error: unknown): ErrorRecord {
  if (TroupeError.isInstance(error)) {
    const data = plainData(error.data);
    return {
      name: error.name,
      code: error.code,
      message: visibleText(error.message),
      ...(data === undefined ? {} : { data }),
      ...("retryable" in error && error.retryable === true ? { retryable: true } : {}),
    };
  }
  if (error instanceof Error) {
    const code = (error as { code?: unknown }).code;
    return { name: error.name, code: typeof code === "string" ? code : "ERROR", message: visibleText(thrownText(error)) };
  }
  return { name: "Error", code: "THROWN", message: `A value that is not an Error was thrown: ${visibleText(thrownText(error))}` };
}

/** A chain of causes may be a cycle. */
const DEEPEST = 5;

function jsonOf(error: unknown, depth: number): ErrorJson {
  const record = errorRecord(error);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined || depth === 0 ? record : { ...record, cause: jsonOf(cause, depth - 1) };
}

function plainData(data: unknown): unknown {
  try {
    const text = JSON.stringify(data);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
