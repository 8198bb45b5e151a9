import { parse } from "shell-quote";
import { isList, isRecord } from "../kernel/value-kind.ts";

/* Reads the checks that models write. Each change has one possible meaning; everything else stays, and the schema refuses it. */

type Members = Readonly<Record<string, unknown>>;
/** Returns what a member means in the canonical form; undefined where it stays as it is. */
type Readings = Readonly<Record<string, (value: unknown, members: Members) => Members | undefined>>;

const REMARKS = new Set(["note", "comment", "description", "why", "title", "name", "timeout"]);
const LITERAL = /^\/((?:[^/\\]|\\.)+)\/[gm]*$/s;
const FILE_FIELDS = ["path", "absent", "exists", "equals", "contains", "lacks", "matches"];
/** The field that each page step fills with its value: `{"click": "#add"}` is `{"do": "click", "at": "#add"}`. */
const PAGE_FIELDS: Readonly<Record<string, string | undefined>> = {
  ...{ open: "path", click: "at", type: "at", press: "key", select: "at" },
  ...{ drag: "at", wait: "ms", reload: undefined, expect: "at" },
  ...{ upload: "at", storage: "key", script: "code", clock: "set" },
};

const RULE: Readings = { matches: (written) => ({ matches: patternOf(written) }) };
const FILE: Readings = {
  ...RULE,
  exists: (exists, file) => (typeof exists !== "boolean" || "absent" in file ? undefined : exists ? {} : { absent: true }),
};
const COMMAND: Readings = {
  run: (run) => ({ run: wordsOf(run) }),
  exit: (exit) => (typeof exit === "string" && /^\s*\d{1,3}\s*$/.test(exit) ? { exit: Number(exit) } : undefined),
  stdout: (rule) => ({ stdout: readRule(rule) }),
  stderr: (rule) => ({ stderr: readRule(rule) }),
  files: (files) => ({ files: readFiles(files) }),
  expect: (expected) => (isRecord(expected) ? read(expected, COMMAND) : undefined),
};
const PAGE: Readings = { ...RULE, ...Object.fromEntries(Object.keys(PAGE_FIELDS).map((name) => [name, pageReading(name)])) };

/** Returns a check in its form: `kind` and `steps` as the rest implies them, without nulls and remarks. */
export function readWrittenCheck(written: unknown): unknown {
  if (!isRecord(written)) return written;
  const members = cleaned(written) as Members;
  const { kind = kindOf(members), ...check } = members;
  if (kind !== "command" && kind !== "page") return kind === undefined ? check : { ...check, kind };
  const { steps, ...rest } = withoutRemarks(check);
  if (steps === undefined && kind === "command" && "run" in rest) {
    const { given, ...step } = rest;
    return { kind, ...(given === undefined ? {} : { given }), steps: [readStep(step)] };
  }
  const list = isList(steps) ? steps.map(readStep) : isRecord(steps) ? [readStep(steps)] : steps;
  const { open, ...others } = rest;
  if (kind === "page" && typeof open === "string" && isList(list)) return { ...others, kind, steps: [{ do: "open", path: open }, ...list] };
  return { ...rest, kind, steps: list };
}

function kindOf({ steps, run, reason }: Members): string | undefined {
  const all = isList(steps) ? steps : [steps];
  const have = (name: string): boolean => all.length > 0 && all.every((step) => isRecord(step) && name in step);
  if (run !== undefined || have("run")) return "command";
  if (have("do")) return "page";
  return typeof reason === "string" && steps === undefined ? "judgement" : undefined;
}

function withoutRemarks(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => !REMARKS.has(name) || isRecord(value) || isList(value)));
}

function readStep(step: unknown): unknown {
  if (!isRecord(step)) return step;
  const members = withoutRemarks(step);
  return read(members, "run" in members ? COMMAND : PAGE);
}

/** Applies readings. A member whose meaning would replace another member stays as it is. */
function read(members: Members, readings: Readings): Members {
  const pairs = Object.entries(members).flatMap(([name, value]) => {
    const meant = Object.hasOwn(readings, name) ? readings[name]?.(value, members) : undefined;
    const isClear = meant !== undefined && Object.keys(meant).every((other) => other === name || !(other in members));
    return isClear ? Object.entries(meant) : [[name, value] as const];
  });
  return Object.fromEntries(pairs);
}

function pageReading(name: string): Readings[string] {
  const field = PAGE_FIELDS[name];
  return (value, step) => {
    if (Object.keys(step).filter((other) => Object.hasOwn(PAGE_FIELDS, other)).length > 1) return undefined;
    if (isRecord(value)) return { do: name, ...read(value, RULE) };
    if (field === undefined) return value === true || value === "" ? { do: name } : undefined;
    return { do: name, [field]: value };
  };
}

/** A string instead of a rule is the whole string. */
function readRule(rule: unknown): unknown {
  return typeof rule === "string" ? { equals: rule } : isRecord(rule) ? read(rule, RULE) : rule;
}

/** `{"out.txt": "5"}` is `[{"path": "out.txt", "equals": "5"}]`, and a path alone is a file that must exist. */
function readFiles(files: unknown): unknown {
  if (isList(files)) return files.map((file) => (typeof file === "string" ? { path: file } : isRecord(file) ? read(file, FILE) : file));
  if (!isRecord(files) || FILE_FIELDS.some((name) => name in files)) return files;
  return Object.entries(files).map(([path, rule]) => {
    if (typeof rule === "string") return { path, equals: rule };
    return isRecord(rule) && !("path" in rule) ? { path, ...read(rule, FILE) } : rule;
  });
}

/** Several regular expressions are one that finds each of them, in any order. */
function patternOf(written: unknown): unknown {
  const all = (isList(written) ? written : [written]).map((one) => (typeof one === "string" ? (LITERAL.exec(one)?.[1] ?? one) : one));
  if (all.length === 1) return all[0];
  const areClear = all.length > 0 && all.every((one) => typeof one === "string" && !/^\/.+\/[a-z]+$/s.test(one));
  return areClear ? all.map((one) => `(?=[^]*(?:${String(one)}))`).join("") : written;
}

function wordsOf(run: unknown): unknown {
  const line = isList(run) && run.length === 1 ? run[0] : run;
  return typeof line !== "string" || (isList(run) && !/\s/.test(line)) ? run : (wordsIn(line) ?? run);
}

/** The words of a command line; undefined where a shell would do more than divide it. */
export function wordsIn(line: string): readonly string[] | undefined {
  if (/[`\n]/.test(line)) return undefined;
  const words = parse(line, (name) => ({ op: `$${name}` }));
  const areWords = (all: readonly unknown[]): all is readonly string[] => all.every((word) => typeof word === "string");
  return areWords(words) && words.length > 0 && !/^\w+=/.test(words[0] ?? "") ? words : undefined;
}

function cleaned(value: unknown): unknown {
  if (isList(value)) return value.map(cleaned);
  if (!isRecord(value)) return value;
  // A script may be expected to give null.
  const isExact = (name: string): boolean => name === "value" && (value["do"] === "script" || "script" in value);
  const members = Object.entries(value).filter(([name, member]) => member !== null || isExact(name));
  return Object.fromEntries(members.map(([name, member]) => [name, isExact(name) ? member : cleaned(member)]));
}
