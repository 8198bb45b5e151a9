import { parse } from "shell-quote";
import { isList, isRecord } from "../kernel/value-kind.ts";

/*
 * Reads the checks that models write. Each change here has one possible meaning; everything else stays as it is, and the schema refuses it.
 */

type Members = Readonly<Record<string, unknown>>;

const REMARKS = new Set(["note", "comment", "description", "why", "title", "name", "timeout"]);
const LITERAL = /^\/((?:[^/\\]|\\.)+)\/[gm]*$/s;

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
  return { ...rest, kind, steps: isList(steps) ? steps.map(readStep) : isRecord(steps) ? [readStep(steps)] : steps };
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
  const { run, stdout, stderr, files, ...rest } = readRule(withoutRemarks(step));
  return {
    ...rest,
    ...(run === undefined ? {} : { run: wordsOf(run) }),
    ...(stdout === undefined ? {} : { stdout: isRecord(stdout) ? readRule(stdout) : stdout }),
    ...(stderr === undefined ? {} : { stderr: isRecord(stderr) ? readRule(stderr) : stderr }),
    ...(files === undefined ? {} : { files: isList(files) ? files.map(readFile) : files }),
  };
}

function readFile(file: unknown): unknown {
  return typeof file === "string" ? { path: file } : isRecord(file) ? readRule(file) : file;
}

function readRule(rule: Members): Members {
  const literal = typeof rule["matches"] === "string" ? LITERAL.exec(rule["matches"])?.[1] : undefined;
  return literal === undefined ? rule : { ...rule, matches: literal };
}

function wordsOf(run: unknown): unknown {
  const line = isList(run) && run.length === 1 ? run[0] : run;
  if (typeof line !== "string" || (isList(run) && !/\s/.test(line)) || /[`\n]/.test(line)) return run;
  const words = parse(line, (name) => ({ op: `$${name}` }));
  const isPlain = words.length > 0 && words.every((word) => typeof word === "string") && !/^\w+=/.test(String(words[0]));
  return isPlain ? words : run;
}

function cleaned(value: unknown): unknown {
  if (isList(value)) return value.map(cleaned);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[name, cleaned(member)]])));
}
