import { z } from "zod";
import { adviceOn, nearestWord } from "../kernel/known-options.ts";
import { isObject, isRecord } from "../kernel/value-kind.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";

export interface IssueWords {
  /** The word that came, and those that are known: the fault names the one that was probably meant. */
  readonly given?: string;
  readonly known?: readonly string[];
  /** True when the fault is the key of the member, and not its value. Default false. */
  readonly isKey?: boolean;
}

/** Limit on the known words in a fault. */
const MOST_WORDS = 30;

/** A fault with its place in the value. `key`: the fault is this member, and not the value that has it. */
export interface PlacedFault {
  readonly path: string;
  readonly message: string;
  readonly at: readonly PropertyKey[];
  readonly key?: string;
}

export type Faults<T> = { readonly kind: "fits"; readonly value: T } | { readonly kind: "misfit"; readonly faults: readonly PlacedFault[] };

export function faultsOf<S extends z.ZodType>(schema: S, value: unknown): Faults<z.infer<S>> {
  let read: z.ZodSafeParseResult<z.infer<S>>;
  try {
    read = schema.safeParse(value, { error: knownMembers });
  } catch (error) {
    const message = `Expected a value that can be read, got ${valueText(value)}: ${thrownText(error)}.`;
    return { kind: "misfit", faults: [{ path: "", at: [], message }] };
  }
  if (read.success) return { kind: "fits", value: read.data };
  return { kind: "misfit", faults: read.error.issues.flatMap((issue) => placed(value, issue)) };
}

/** The message of unknown members is the list of the known ones. */
function knownMembers({ code, inst }: z.core.$ZodRawIssue): string | undefined {
  const shape = inst instanceof z.ZodObject ? (inst.shape as object) : {};
  return code === "unrecognized_keys" ? Object.keys(shape).join(" ") : undefined;
}

type Issue = z.core.$ZodIssue;

function placed(value: unknown, issue: Issue): readonly PlacedFault[] {
  const at = issue.path;
  const path = pathText(at);
  const what = path === "" ? "the whole" : path;
  if (issue.code === "unrecognized_keys") {
    const known = issue.message.split(" ").filter((name) => name !== "");
    return issue.keys.map((key) => ({
      path: pathText([...at, key]),
      at,
      key,
      message: `Expected only known members of ${what}, got ${valueText(key)}. ${keyAdvice(key, known)}`,
    }));
  }
  const inner = issue.code === "invalid_union" ? deepest(issue.errors) : undefined;
  if (inner !== undefined) return placed(value, { ...inner, path: [...at, ...inner.path] } as Issue);
  const came = valueAt(value, at);
  const words = issue.code === "invalid_value" ? issue.values.map(String) : [];
  if (issue.code === "custom") {
    const message = `${issue.message}${customAdvice(issue.params)}`;
    const isKey = isRecord(issue.params) && issue.params["isKey"] === true;
    return [isKey ? { path, at: at.slice(0, -1), key: String(at.at(-1)), message } : { path, at, message }];
  }
  const advice = typeof came === "string" && words.length > 0 ? ` ${adviceFor(came, words)}` : "";
  return [{ path, at, message: `Expected ${what} to be ${expectedIn(issue)}, got ${cameText(came)}.${advice}` }];
}

/** The issue of a union's member that read furthest; undefined where no member read on. */
function deepest(branches: readonly (readonly Issue[])[]): Issue | undefined {
  const first = branches.flatMap(([issue]) => (issue === undefined || issue.path.length === 0 ? [] : [issue]));
  const keys = branches.flatMap(([issue]) => (issue?.code === "unrecognized_keys" ? [issue] : []));
  return first.toSorted((a, b) => b.path.length - a.path.length)[0] ?? keys[0];
}

function expectedIn(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return KINDS[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `one of ${issue.values.map(String).slice(0, MOST_WORDS).join(", ")}`;
    case "too_small":
      return issue.origin === "string" || issue.origin === "array"
        ? `of at least ${issue.minimum} ${issue.origin === "array" ? "items" : "characters"}`
        : `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
    case "too_big":
      return issue.origin === "string" || issue.origin === "array"
        ? `of at most ${issue.maximum} ${issue.origin === "array" ? "items" : "characters"}`
        : `at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

function customAdvice(params: unknown): string {
  if (!isRecord(params) || typeof params["given"] !== "string" || !Array.isArray(params["known"])) return "";
  return ` ${adviceFor(params["given"], params["known"] as readonly string[])}`;
}

function adviceFor(given: string, known: readonly string[]): string {
  const meant = nearestWord(given.slice(0, 100), known);
  return meant === undefined ? listOf(known) : `Did you mean ${meant}? ${listOf(known)}`;
}

/** Advice on a key: it may be the word of another framework. */
function keyAdvice(given: string, known: readonly string[]): string {
  const { advice } = adviceOn(given.slice(0, 100), known);
  return `${advice} ${listOf(known)}`;
}

function listOf(known: readonly string[]): string {
  return known.length === 0 ? "There are none." : `Known: ${known.slice(0, MOST_WORDS).join(", ")}.`;
}

function cameText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "an empty value";
  return isObject(value) ? (Array.isArray(value) ? "a list" : "a mapping") : valueText(value);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) at = isObject(at) && Object.hasOwn(at, key) ? (at as Readonly<Record<PropertyKey, unknown>>)[key] : undefined;
  return at;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`),
    "",
  );
}
