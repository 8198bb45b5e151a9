import { parse } from "shell-quote";
import { isList, isRecord } from "../kernel/value-kind.ts";

/*
 * Reads the checks that models write. Each change here has one possible meaning; everything else stays as it is, and the schema refuses it.
 */

type Members = Readonly<Record<string, unknown>>;

/** The member that each step on a page is about. */
const SUBJECTS: Readonly<Record<string, string | undefined>> = {
  ...{ open: "path", click: "at", type: "at", press: "key", select: "at" },
  ...{ drag: "at", wait: "ms", reload: undefined, expect: "at" },
};
/** Members of a command's step. */
const COMMAND_PARTS = ["run", "stdin", "exit", "stdout", "stderr", "files", "expect"];
/** Members of a page's step. */
const PAGE_PARTS = ["do", "at", "text", "key", "value", "to", "ms", "path", "count", "visible", "equals", "contains", "lacks", "matches"];
/** The fields that a step on a page needs besides `do` and rules. */
const ACTION_PARTS: Readonly<Record<string, readonly string[]>> = {
  ...{ open: ["path"], click: ["at"], type: ["at", "text"], press: ["at", "key"], select: ["at", "value"] },
  ...{ drag: ["at", "to"], wait: ["ms"], reload: [] },
};
/** Members that say what a step is for; nothing follows from them. */
const REMARKS = new Set(["note", "comment", "description", "why", "title", "name", "timeout"]);
/** A regular expression between slashes. One with a slash inside is a path. */
const LITERAL = /^\/((?:[^/\\]|\\.)+)\/[gm]*$/s;

/** Returns a check in its form: `kind` and `steps` as the rest implies them, and nulls left out. */
export function readWrittenCheck(written: unknown): unknown {
  if (!isRecord(written)) return written;
  const check = withoutNulls(written);
  const kind = check["kind"] ?? kindOf(check);
  if (kind === "command") return { ...withSteps(withoutRemarks(check), COMMAND_PARTS, "run"), kind };
  if (kind === "page") return { ...withSteps(opened(withoutRemarks(check)), PAGE_PARTS, "do"), kind };
  return kind === undefined ? check : { ...check, kind };
}

function kindOf(check: Members): string | undefined {
  const { steps, run, reason } = check;
  const all = isList(steps) ? steps : [check];
  const has = (name: string): boolean => all.length > 0 && all.every((step) => isRecord(step) && name in step);
  if (run !== undefined || has("run")) return "command";
  if (has("do")) return "page";
  return typeof reason === "string" && steps === undefined ? "judgement" : undefined;
}

function withoutRemarks(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => !REMARKS.has(name) || isRecord(value) || isList(value)));
}

/** The page of a check as its first step. */
function opened(check: Members): Members {
  const { open, steps, ...rest } = check;
  return typeof open === "string" && isList(steps) ? { ...rest, steps: [{ do: "open", path: open }, ...steps] } : check;
}

/** A check whose only step is written into the check itself, or stands without a list, has a list of it. */
function withSteps(check: Members, parts: readonly string[], sign: string): Members {
  const { steps } = check;
  if (isList(steps)) return { ...check, steps: steps.map(readStep) };
  if (isRecord(steps)) return { ...check, steps: [readStep(steps)] };
  if (steps !== undefined || !(sign in check)) return check;
  const isPart = ([name]: readonly [string, unknown]): boolean => parts.includes(name);
  const members = Object.entries(check);
  return {
    ...Object.fromEntries(members.filter((member) => !isPart(member))),
    steps: [readStep(Object.fromEntries(members.filter(isPart)))],
  };
}

function readStep(step: unknown): unknown {
  if (!isRecord(step)) return step;
  const written = withoutRemarks(step);
  return "run" in written ? readCommandStep(written) : readRule(readPageStep(written));
}

function readCommandStep(written: Members): Members {
  const { expect, ...own } = written;
  const isSpread = isRecord(expect) && Object.keys(expect).every((name) => !(name in own));
  const step: Members = isSpread ? { ...own, ...expect } : written;
  const { run, exit, stdout, stderr, files } = step;
  return {
    ...step,
    run: wordsOf(run),
    ...(typeof exit === "string" && /^\s*\d{1,3}\s*$/.test(exit) ? { exit: Number(exit) } : {}),
    ...(isRecord(stdout) ? { stdout: readRule(stdout) } : {}),
    ...(isRecord(stderr) ? { stderr: readRule(stderr) } : {}),
    ...(isList(files) ? { files: files.map(readFile) } : {}),
    ...(isRecord(files) && !("path" in files) ? { files: Object.entries(files).map(([path, rule]) => named(path, rule)) } : {}),
  };
}

/** `{"out.txt": {"contains": ["x"]}}` is a list of one rule. */
function named(path: string, rule: unknown): unknown {
  return isRecord(rule) && !("path" in rule) ? readFile({ path, ...rule }) : rule;
}

/** A path alone is a file that must be there; `exists` is the opposite of `absent`. */
function readFile(file: unknown): unknown {
  if (typeof file === "string") return { path: file };
  if (!isRecord(file)) return file;
  const { exists, ...rest } = file;
  if (typeof exists !== "boolean" || "absent" in rest) return readRule(file);
  return exists ? readRule(rest) : { ...rest, absent: true };
}

/** The words of a command that is written as one text. One that needs a shell stays a text. */
function wordsOf(run: unknown): unknown {
  const line = isList(run) && run.length === 1 ? run[0] : run;
  if (typeof line !== "string" || (isList(run) && !/\s/.test(line)) || /[`\n]/.test(line)) return run;
  const words = parse(line, (name) => ({ op: `$${name}` }));
  const isPlain = words.length > 0 && words.every((word) => typeof word === "string") && !/^\w+=/.test(String(words[0]));
  return isPlain ? words : run;
}

/** `{"click": "#add"}` is `{"do": "click", "at": "#add"}`. */
function readPageStep(step: Members): Members {
  const names = Object.keys(step).filter((name) => Object.hasOwn(SUBJECTS, name));
  const [name] = names;
  if ("do" in step) return actionOf(step);
  if (name === undefined || names.length > 1) return step;
  const { [name]: subject, ...rest } = step;
  if (isRecord(subject)) return Object.keys(subject).some((key) => key in rest) ? step : { do: name, ...rest, ...subject };
  const member = SUBJECTS[name];
  if (member === undefined) return subject === true || subject === "" ? { do: name, ...rest } : step;
  return member in rest ? step : { do: name, ...rest, [member]: subject };
}

/** An action without members that no step has. One with a rule stays as it is: nothing would check it. */
function actionOf(step: Members): Members {
  const parts = ACTION_PARTS[String(step["do"])];
  if (parts === undefined) return step;
  const isMeant = (name: string): boolean => name === "do" || parts.includes(name) || (PAGE_PARTS.includes(name) && name !== "at");
  return Object.fromEntries(Object.entries(step).filter(([name]) => isMeant(name)));
}

function readRule(rule: Members): Members {
  const { matches: written, ...rest } = rule;
  // Each of several expressions is found anywhere, in any order.
  const isSeveral = isList(written) && written.length > 0 && written.every((each) => typeof each === "string");
  const matches = isSeveral ? (written.length === 1 ? written[0] : written.map((each) => `(?=[^]*(?:${each}))`).join("")) : written;
  if (isSeveral) return { ...rest, matches };
  const literal = typeof matches === "string" ? LITERAL.exec(matches)?.[1] : undefined;
  return literal === undefined ? rule : { ...rule, matches: literal };
}

function withoutNulls(value: Members): Members {
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[name, cleaned(member)]])));
}

function cleaned(value: unknown): unknown {
  if (isList(value)) return value.map(cleaned);
  return isRecord(value) ? withoutNulls(value) : value;
}
