import { StringDecoder } from "node:string_decoder";
import { parsedJson } from "../kernel/json.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";

/** The words, cost and state that a coding agent has reported so far. */
export interface Said {
  /** Its last words. */
  text: string;
  session?: string | undefined;
  /** Micro-dollars. */
  cost?: number | undefined;
  /** Why it has failed. */
  error?: string;
  /** True once it has given its result. */
  isEnded?: boolean;
}

type Members = Readonly<Record<string, unknown>>;

interface LineProtocol {
  readonly programs: readonly string[];
  /** The argument that chooses the mode without a terminal. */
  readonly word?: string;
  /** Variables that it needs beside those of all. */
  readonly variables: RegExp;
  readonly args: (given: readonly string[], session: string | undefined) => readonly string[];
  readonly read: (line: Members, said: Said) => void;
}

/** Characters of the last words, and of one line. */
const LONGEST_TEXT = 64_000;
const LONGEST_LINE = 16_000_000;

function streamArgs(given: readonly string[], session: string | undefined): readonly string[] {
  return [...given, "--output-format", "stream-json", ...(session === undefined ? [] : ["--resume", session])];
}

const claude = {
  variables: /^(?:ANTHROPIC|CLAUDE|AWS|GOOGLE|CLOUD_ML|VERTEX|OPENAI|QWEN)_/,
  args: (given: readonly string[], session: string | undefined) => {
    const isPrinted = given.some((word) => word === "-p" || word === "--print");
    return [...streamArgs([...given, ...(isPrinted ? [] : ["-p"])], session), "--verbose"];
  },
  read(line: Members, said: Said): void {
    said.session ??= textIn(line["session_id"]);
    if (line["type"] !== "result") return;
    const result = textIn(line["result"]) ?? "";
    // Versions report errors in `errors` or in `error`. A failed request may be reported as a success.
    const failures = [...(isList(line["errors"]) ? line["errors"] : []), membersOf(line["error"])["message"]].flatMap(
      (one) => textIn(one) ?? [],
    );
    const isError = line["is_error"] === true || failures.length > 0 || result.startsWith("[API Error");
    said.cost = microUsd(line["total_cost_usd"]) ?? said.cost;
    if (isError) said.error = [...failures, result].find((one) => one !== "") ?? textIn(line["subtype"]) ?? "It gave no reason.";
    else Object.assign(said, { isEnded: true, text: cut([result, deniedIn(line)].filter((part) => part !== "").join("\n\n")) });
  },
};

/** How known programs take an order and report, one JSON object in a line. Sources: their documents and types, November 2026. */
export const LINE_PROTOCOLS: readonly LineProtocol[] = [
  { ...claude, programs: ["claude"] },
  // Its lines have the form of claude's.
  { ...claude, programs: ["qwen"], args: streamArgs },
  {
    programs: ["codex"],
    word: "exec",
    variables: /^(?:OPENAI|CODEX|AZURE_OPENAI)_/,
    args: (given, session) => [...given, "--json", "--skip-git-repo-check", ...(session === undefined ? [] : ["resume", session]), "-"],
    read(line, said) {
      const { type, item, error, thread_id: thread } = line;
      said.session ??= textIn(thread);
      const { type: kind, text } = membersOf(item);
      if (type === "item.completed" && kind === "agent_message") said.text = cut(textIn(text) ?? "");
      // A plain `error` is no end: it tries again.
      if (type === "turn.failed") said.error = textIn(membersOf(error)["message"]) ?? "Its turn failed.";
      if (type === "turn.completed") said.isEnded = true;
    },
  },
  {
    programs: ["gemini"],
    variables: /^(?:GEMINI|GOOGLE)_/,
    args: streamArgs,
    read(line, said) {
      const { type, role, content, status, error } = line;
      said.session ??= textIn(line["session_id"]);
      if (type === "tool_use") said.text = "";
      if (type === "message" && role === "assistant") said.text = cut(said.text + (textIn(content) ?? ""));
      if (type !== "result") return;
      if (status === "success") said.isEnded = true;
      else said.error = textIn(membersOf(error)["message"]) ?? "It gave no reason.";
    },
  },
  {
    programs: ["opencode"],
    word: "run",
    variables: /^(?:OPENCODE|OPENAI|ANTHROPIC|GEMINI|GOOGLE|OPENROUTER|GROQ|MISTRAL|DEEPSEEK|XAI|AZURE|AWS)_/,
    args: (given, session) => [...given, "--format", "json", ...(session === undefined ? [] : ["--session", session])],
    read(line, said) {
      const { type, part, error } = line;
      const { text, cost, reason } = membersOf(part);
      said.session ??= textIn(line["sessionID"]);
      if (type === "text") said.text = cut(textIn(text) ?? "");
      if (type === "step_finish" && reason !== "tool-calls") said.isEnded = true;
      const paid = type === "step_finish" ? microUsd(cost) : undefined;
      // It reports 0 for a model whose price it does not know.
      if (paid !== undefined && paid > 0) said.cost = (said.cost ?? 0) + paid;
      if (type !== "error") return;
      const { data, message, name } = membersOf(error);
      said.error = textIn(membersOf(data)["message"]) ?? textIn(message) ?? textIn(name) ?? "It gave no reason.";
    },
  },
];

export interface OutputReader {
  readonly take: (chunk: Uint8Array) => void;
  readonly end: () => void;
}

/** Reads lines of a protocol; without one the whole output is the answer. */
export function lineReader(protocol: LineProtocol | undefined, said: Said): OutputReader {
  if (protocol === undefined) {
    const decoder = new StringDecoder("utf8");
    return {
      take: (chunk) => (said.text = cut(said.text + decoder.write(Buffer.from(chunk)))),
      end: () => (said.text = cut((said.text + decoder.end()).trim())),
    };
  }
  return linesOf((line) => {
    const read = parsedJson(line);
    if (isRecord(read)) protocol.read(read, said);
  });
}

export function linesOf(each: (line: string) => void): OutputReader {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const add = (text: string): void => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    // A line without an end would fill the memory.
    if (rest.length > LONGEST_LINE) rest = "";
    for (const line of lines) if (line.trim() !== "") each(line);
  };
  return { take: (chunk) => add(decoder.write(Buffer.from(chunk))), end: () => add(`${decoder.end()}\n`) };
}

/** The end of the words, which says most. */
export function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : text.slice(-LONGEST_TEXT);
}

/** The amount in whole micro-dollars, rounded up. Undefined for what is none. */
export function microUsd(dollars: unknown): number | undefined {
  return typeof dollars === "number" && dollars >= 0 && dollars < 1e6 ? Math.ceil(dollars * 1e6) : undefined;
}

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function membersOf(value: unknown): Members {
  return isRecord(value) ? value : {};
}

function deniedIn({ permission_denials: denials }: Members): string {
  const names = isList(denials) ? denials.flatMap((one) => textIn(membersOf(one)["tool_name"]) ?? []) : [];
  return names.length === 0 ? "" : `It was not permitted to use ${[...new Set(names)].join(", ")}.`;
}
