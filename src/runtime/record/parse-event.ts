import type { z } from "zod";
import { readable, takes } from "../../kernel/argument.ts";
import { JournalError } from "../../kernel/errors.ts";
import { isPlainObject, isRecord } from "../../kernel/value-kind.ts";
import { shownText, valueText } from "../../kernel/value-text.ts";
import { EVENT_VERSION, type RunEvent, isEventType } from "./event.ts";
import { eventSchemas } from "./event-schema.ts";

/**
 * Checks an event that came from outside: from a file, a store or another process. Returns the event itself, not a copy.
 *
 * @throws JournalError `EVENT_NEWER` for an event of a newer version of this package; `EVENT_INVALID` for an unknown type, for a field that
 * is missing, unknown or of another kind, for values that are not plain JSON, and for keys that name a prototype.
 *
 * @example
 * import { parseEvent, type RunEvent } from "troupe";
 *
 *  // Reads what `troupe run --json` prints.
 * export function readEvents(lines: string): RunEvent[] {
 *   return lines.trim().split("\n").map((line) => parseEvent(JSON.parse(line)));
 * }
 */
export function parseEvent(json: unknown): RunEvent {
  takes("parseEvent", "event", json, readable);
  const fault = plainFault(json);
  if (fault !== undefined) throw invalid(json, `got ${fault}`);
  const { v, type } = isRecord(json) ? json : {};
  if (typeof v === "number" && v > EVENT_VERSION) throw newer(v);
  const known = eventSchemas();
  if (!isEventType(type)) throw invalid(json, `got the type ${shownText(valueText(type))}; known are ${Object.keys(known).join(", ")}`);
  const parsed = known[type].safeParse(json);
  if (!parsed.success) throw invalid(json, `got one that does not fit: ${issuesText(parsed.error)}`);
  return json as RunEvent;
}

function issuesText({ issues }: z.ZodError): string {
  const found = issues.slice(0, 3).map((issue) => `${issue.path.map(String).join(".") || "the event"}: ${issue.message}`);
  return shownText(found.join("; "), 500);
}

function newer(v: number): JournalError {
  return new JournalError(
    "EVENT_NEWER",
    `Expected an event of version ${EVENT_VERSION} or older, got one of version ${v}. Update this program to read the run.`,
    { data: { version: v } },
  );
}

function invalid(came: unknown, what: string): JournalError {
  const seq = isRecord(came) && typeof came["seq"] === "number" ? came["seq"] : null;
  const which = seq === null ? "an event of a run" : `event ${seq} of a run`;
  const advice = "Read it with the version of this program that wrote it, or from a copy that is whole.";
  return new JournalError("EVENT_INVALID", `Expected ${which}, ${what}. ${advice}`, { data: { seq } });
}

/** Limit on levels of nesting, as in `canonicalJson`: a deeper value could not be written again. */
const MAX_LEVELS = 500;
/** Limit on the values in one value, so that the search ends also in a graph that leads into itself. */
const MAX_VALUES = 10_000_000;

/**
 * Returns the first fault of a value that is not plain JSON: a prototype, a hole, a number or size without a JSON form, or a key that `JSON.parse`
 * accepts and that names a prototype: `__proto__`, and a `constructor` that has a `prototype`.
 */
export function plainFault(json: unknown): string | undefined {
  let values = 0;
  const faultOf = (value: unknown, level: number): string | undefined => {
    if (typeof value === "string" || typeof value === "boolean" || value === null) return undefined;
    if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
    if (typeof value !== "object") return value === undefined ? "a hole" : `a ${typeof value}`;
    if (level > MAX_LEVELS) return `more than ${MAX_LEVELS} levels of nesting`;
    if (!Array.isArray(value) && !isPlainObject(value)) return "an object that is no plain one";
    const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    values += members.length;
    let fault = values > MAX_VALUES ? `more than ${MAX_VALUES} values` : faultOfKeys(value);
    // Methods such as `forEach` skip holes, so the loop counts.
    for (let nth = 0; fault === undefined && nth < members.length; nth += 1) fault = faultOf(members[nth], level + 1);
    return fault;
  };
  return faultOf(json, 1);
}

/** The names, or an escape that may stand for one of their letters; `JSON.stringify` never escapes a letter. */
const SUSPICIOUS = ["__proto__", '"constructor"', "\\u00"];

/** True when a JSON text may hold a key that names a prototype. A regular expression would take as long as parsing. */
export function isSuspicious(text: string): boolean {
  return SUSPICIOUS.some((name) => text.includes(name));
}

function faultOfKeys(value: object): string | undefined {
  if (Object.hasOwn(value, "__proto__")) return keyFault("__proto__");
  if (!Object.hasOwn(value, "constructor")) return undefined;
  const { constructor } = value as { readonly constructor: unknown };
  const reaches = typeof constructor === "object" && constructor !== null && Object.hasOwn(constructor, "prototype");
  return reaches ? keyFault("constructor.prototype") : undefined;
}

function keyFault(key: string): string {
  return `the key ${key}, which reaches for a prototype`;
}
