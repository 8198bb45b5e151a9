import { isRecord, isObject } from "../kernel/value-kind.ts";
import { canonicalJson, type Json, type JsonObject, parsedJson } from "../kernel/json.ts";
import { thrownText } from "../kernel/value-text.ts";
import { findJson } from "../model/json-in-text.ts";
import { issueLine } from "../model/structured-output.ts";
import { plainValue } from "./plain-result.ts";
import type { Tool } from "./tool.ts";

/** In characters: a model that writes more has gone astray. */
const MAX_ARGUMENTS = 1_000_000;
const SHOWN_ISSUES = 10;
const SHOWN_CHARACTERS = 2_000;
const SHOWN_PARAMETERS = 500;

/** Arguments as plain JSON, for the record and for rules, and as the tool takes them; or why they cannot be used. */
type CallArguments =
  | { readonly ok: true; readonly json: JsonObject; readonly args: unknown }
  | { readonly ok: false; readonly why: string };

/** Mends the text of arguments where that needs no guess, and checks them against the tool's parameters. */
export function readArguments(text: string, tool: Tool): CallArguments {
  const found = objectIn(text);
  if (!found.ok) return { ok: false, why: `Arguments of "${tool.name}" ${found.why} ${expectation(tool)}` };
  const checked = tool.check(found.json);
  if (checked.ok) return { ok: true, json: plainForm(checked.args) ?? found.json, args: checked.args };
  const lines = checked.issues.slice(0, SHOWN_ISSUES).map((issue) => `- ${issueLine({ ...issue, path: issue.path || "the arguments" })}`);
  const more = checked.issues.length > SHOWN_ISSUES ? [`- and ${checked.issues.length - SHOWN_ISSUES} more like these`] : [];
  const list = [...lines, ...more].join("\n").slice(0, SHOWN_CHARACTERS);
  return { ok: false, why: `Arguments of "${tool.name}" do not fit:\n${list}\n${expectation(tool)}` };
}

/** The words by which models say that there are no arguments. */
const MEANS_NONE = /^(?:["'`]?\s*(?:null|none|nil|undefined|void|n\/a|\{\s*\}|\[\s*\]|\(\s*\))?\s*["'`]?|"\\?"\\?""?)$/i;
/** Longer ones are not compared: the expression takes time in the cube of the spaces in them. */
const MAX_NONE = 50;

type ReadJson = { readonly ok: true; readonly json: JsonObject } | { readonly ok: false; readonly why: string };

function objectIn(text: string): ReadJson {
  if (text.length > MAX_ARGUMENTS) {
    return { ok: false, why: `are ${text.length} characters long, and at most ${MAX_ARGUMENTS} are read. Do it in smaller parts.` };
  }
  const bare = text.trim();
  if (bare.length <= MAX_NONE && MEANS_NONE.test(bare)) return { ok: true, json: {} };
  const found = jsonIn(text);
  const [only, ...others] = Array.isArray(found) ? (found as readonly Json[]) : [];
  const value = others.length === 0 && isRecord(only) ? only : found;
  if (value === undefined) return { ok: false, why: `are no JSON: they begin with ${JSON.stringify(bare.slice(0, 60))}.` };
  if (!isRecord(value)) {
    return { ok: false, why: `are ${Array.isArray(value) ? "a list" : `a ${value === null ? "null" : typeof value}`}, not an object.` };
  }
  const fault = faultOf(value);
  return fault === undefined ? { ok: true, json: value as JsonObject } : { ok: false, why: `cannot be used. ${fault}` };
}

/** Also where the JSON stands in a string once more. */
function jsonIn(text: string): Json | undefined {
  const value = parsedJson(text) ?? mendedJson(text);
  if (typeof value !== "string") return value;
  const inner = parsedJson(value) ?? mendedJson(value);
  return typeof inner === "object" ? inner : value;
}

/** With several values it is unknown which one is meant. */
function mendedJson(text: string): Json | undefined {
  const { values, broken } = findJson(text);
  if (values.length === 0) return broken?.repaired;
  // Some servers write an empty object before the arguments.
  const distinct = new Map(values.map(({ value }) => [canonicalJson(value), value]));
  if (distinct.size > 1) distinct.delete("{}");
  return distinct.size === 1 && broken === undefined ? [...distinct.values()][0] : undefined;
}

function faultOf(value: Json): string | undefined {
  try {
    canonicalJson(value);
    return undefined;
  } catch (error) {
    return thrownText(error);
  }
}

/** Rules are checked against these. Undefined when they are no object. */
function plainForm(args: unknown): JsonObject | undefined {
  let plain: Json;
  try {
    plain = JSON.parse(canonicalJson(args)) as Json;
  } catch {
    plain = plainValue(args, Infinity).value;
  }
  return isRecord(plain) ? (plain as JsonObject) : undefined;
}

function expectation(tool: Tool): string {
  const schema = JSON.stringify(tool.spec.parameters);
  if (schema.length <= SHOWN_PARAMETERS) return `Write one JSON object that fits ${schema}`;
  const { properties } = tool.spec.parameters;
  const names = isObject(properties) ? Object.keys(properties).join(", ") : "";
  return `Write one JSON object with ${names.slice(0, SHOWN_PARAMETERS) || "what the tool's description says"}.`;
}
