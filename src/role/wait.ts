import type { z } from "zod";
import { OutputError, TimeoutError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { defined, isRecord, isText } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { type AnySchema, zodOf } from "../model/standard-schema.ts";
import { fieldsForm, type ReadyQuestion } from "./human.ts";

/**
 * A time: milliseconds from now, a Date, or an ISO 8601 string with a zone, such as `2031-05-01T08:00:00Z`. A date alone means midnight UTC.
 */
export type Until = number | Date | string;

/** Options of {@link RoleContext.waitFor}. */
export interface WaitForOptions {
  /**
   * The form of the value. While the wait is open, a signal that does not fit is refused; one that was kept earlier is passed over, and stays
   * kept. Default: any JSON value.
   */
  readonly schema?: AnySchema;
  /** The time after which the wait throws `WAIT_TIMEOUT`, counted from its beginning. Default: never. */
  readonly timeout?: Until;
}

/** A question that a signal or the clock answers, and no person. */
export interface ReadyWait extends ReadyQuestion {
  /** The name of the signal; empty for a sleep. */
  readonly wait: string;
  readonly deadline: number | Date | undefined;
}

const waitForOptions: Known<WaitForOptions> = { schema: kinds.schema, timeout: kinds.checked };

/** Characters of the name of a signal. */
const LONGEST_NAME = 200;
/** Milliseconds, about 300 years: a date beyond it has no usual form. */
const LONGEST_WAIT = 10_000_000_000_000;
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

export function readySleep(role: string, until: Until): ReadyWait {
  return { question: `${role} sleeps`, wait: "", default: null, deadline: timeIn("sleep", until) };
}

export function readyWait(role: string, name: string, o: WaitForOptions): ReadyWait {
  checkKnownOptions("waitFor", o, waitForOptions);
  checkSignalName("waitFor", name);
  const { schema, timeout } = o;
  const deadline = timeout === undefined ? undefined : timeIn("waitFor", timeout);
  const form = schema === undefined ? undefined : fieldsForm(zodOf(schema) as z.ZodType);
  const question = `${role} waits for the signal ${JSON.stringify(name)}`;
  return { question, wait: name, ...defined({ form, default: deadline === undefined ? undefined : null }), deadline };
}

/** @throws UsageError `WAIT_INVALID` */
export function checkSignalName(what: string, name: unknown): void {
  if (!isText(name) || name.trim() === "" || name.length > LONGEST_NAME)
    throw invalid(what, `the name of a signal, of 1 to ${LONGEST_NAME} characters`, name);
}

/** Returns the value of the signal that ended a wait. @throws TimeoutError `WAIT_TIMEOUT`; OutputError `OUTPUT_INVALID` */
export function signalledValue(
  role: string,
  answer: Json,
  { wait, schema, ms }: { wait: string; schema?: AnySchema | undefined; ms: number },
): unknown {
  if (!isRecord(answer)) throw new TimeoutError(`the wait of ${role} for the signal ${JSON.stringify(wait)}`, ms, "", "WAIT_TIMEOUT");
  const { value } = answer;
  if (schema === undefined) return value;
  const parsed = (zodOf(schema) as z.ZodType).safeParse(value);
  if (parsed.success) return parsed.data;
  const expected = `Expected the signal ${JSON.stringify(wait)} of ${role} to have a value of its schema, got: ${parsed.error.message}`;
  throw new OutputError("OUTPUT_INVALID", expected, { data: { text: JSON.stringify(value) } });
}

/** Returns milliseconds from now, rounded up, or a point in time. */
function timeIn(what: string, until: unknown): number | Date {
  if (typeof until === "number" && until >= 0 && until <= LONGEST_WAIT) return Math.ceil(until);
  const time = isText(until) && ISO.test(until) ? new Date(until) : until;
  if (time instanceof Date && Math.abs(time.getTime()) <= LONGEST_WAIT) return time;
  throw invalid(what, "milliseconds of 0 or more, a Date, or an ISO time with a zone, at most 300 years ahead", until);
}

function invalid(what: string, expected: string, got: unknown): UsageError {
  return new UsageError(
    "WAIT_INVALID",
    `Expected ${what} to get ${expected}, got ${got instanceof Date ? "a Date out of range" : valueText(got)}.`,
  );
}
