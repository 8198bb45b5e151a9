import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { ifThere } from "../kernel/system-error.ts";
import type { ChatRequest, ChatResponse } from "../model/chat-model.ts";

/** A bundled idea that a software company works on, with one change afterwards. */
export interface CompanyScript {
  readonly folder: string;
  /** The user's words when the first product is there. */
  readonly change: string;
}

/** A request as the script finds its reply: `first` until the user asks for the change. Nothing but the request decides. */
export interface ScriptPlace {
  readonly part: "first" | "change" | "other";
  /** Name of the role, in small letters. */
  readonly role: string;
  /** Number of the role's reply in this part, from 1. */
  readonly step: number;
}

const NAME = /\bnamed ([A-Za-z]{1,20})\b/;
/** Workers are told who they are at the end of their task, others in the system message. */
const WORKER = /^## Your role\n.*?\bnamed ([A-Za-z]{1,20})\b/m;
/** Headings of the company's prompts, with the line below them. */
const LATER = /^#+ The user's later words, (\d+)\n+(.*)$/gm;
const PRESENT = /^#+ The user's words\n+(.*)$/m;
/** The product manager alone reads what is said now below what was said first. */
const FIRST = /^#+ The user's first words$/m;

/**
 * The place of a request in the script. The request has all that it needs, so that a run that another process continues gets the replies that
 * it would have got.
 */
export function placeOf({ messages }: ChatRequest, { change }: Pick<CompanyScript, "change">): ScriptPlace {
  const textOf = (wanted: "system" | "user"): string =>
    messages.flatMap(({ role, content }) => (role === wanted && content !== undefined ? [content] : [])).join("\n\n");
  const said = textOf("user");
  const later = new Map([...said.matchAll(LATER)].map(([, number, words = ""]) => [number, words.trim()]));
  const present = FIRST.test(said) ? [PRESENT.exec(said)?.[1]?.trim() ?? ""] : [];
  const replies = messages.filter(({ role, toolCalls }) => role === "assistant" && toolCalls !== undefined);
  return {
    part: partOf([...later.values(), ...present], change),
    role: (WORKER.exec(said) ?? NAME.exec(textOf("system")))?.[1]?.toLowerCase() ?? "",
    step: replies.length + 1,
  };
}

function partOf(later: readonly string[], change: string): ScriptPlace["part"] {
  if (later.length === 0) return "first";
  return later.length === 1 && later[0] === change ? "change" : "other";
}

interface WrittenReply {
  readonly content?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
}

/**
 * The reply of a script: the text of `answers/<part>/<role>-<step>.json`, or the calls of tools in it. A folder of the same name without
 * ending holds the files that the reply writes; they come before its other calls.
 *
 * @returns undefined where there is none
 */
export async function companyReply(script: CompanyScript, request: ChatRequest): Promise<Partial<ChatResponse> | undefined> {
  const { part, role, step } = placeOf(request, script);
  const place = join(script.folder, "answers", part, `${role}-${step}`);
  const text = await ifThere(readFile(`${place}.json`, "utf8"));
  if (part === "other" || role === "" || text === undefined) return undefined;
  const { content = "", calls } = JSON.parse(text) as WrittenReply;
  if (calls === undefined) return { content: text };
  const files = await filesIn(place);
  const all = files.length === 0 ? calls : [{ name: "write_files", arguments: { files } }, ...calls];
  const toolCalls = all.map(({ name, arguments: given }, n) => ({
    id: `${part}-${role}-${step}-${n + 1}`,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(given) },
  }));
  return { content, toolCalls };
}

async function filesIn(folder: string): Promise<readonly { readonly path: string; readonly content: string }[]> {
  const entries = (await ifThere(readdir(folder, { recursive: true, withFileTypes: true }))) ?? [];
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    paths.sort().map(async (path) => ({ path: relative(folder, path).split(sep).join("/"), content: await readFile(path, "utf8") })),
  );
}
