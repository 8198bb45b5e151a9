import { UsageError } from "../kernel/errors.ts";
import { nearestWord } from "../kernel/known-options.ts";
import { systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { COMMANDS as TABLE } from "./command-table.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";
import { bytesOf, decodedText } from "./text-file.ts";

/** The path `-` is standard input. */
export type IdeaSource = { readonly kind: "words"; readonly text: string } | { readonly kind: "file"; readonly path: string };

export interface IdeaHints {
  readonly isMeant: boolean;
  readonly isBundled?: (text: string) => boolean;
  /** The advice when there is no idea. Default: how to give a company one. */
  readonly example?: string;
}

/** The longest idea, in bytes: about 30,000 tokens, which every role reads again. */
export const IDEA_BYTES: number = 128 * 1024;

const COMMANDS: readonly string[] = [...Object.keys(TABLE).map((words) => words.split(" ", 1)[0] ?? ""), "help"];
/** Every short word is near to a command of two letters. */
const LONG_COMMANDS: readonly string[] = COMMANDS.filter((command) => command.length > 2);
const MAX_SLIPS = 2;
const EXAMPLE = 'Say what to build: troupe "Create a 2048 game", or see it work: troupe demo';

export function ideaSource(words: readonly string[], file: string | undefined, hints: IdeaHints): IdeaSource {
  const { isMeant, isBundled = () => false, example = EXAMPLE } = hints;
  const [first, ...others] = words;
  if (first !== undefined && first !== "-" && !isMeant && !(others.length === 0 && isBundled(first))) refuseMistyped(first, others);
  if (others.length > 0) {
    const whole = shown(words.join(" "), 200);
    throw new UsageError("IDEA_UNQUOTED", `Expected one idea, got ${words.length} words. Put it in quotes: troupe "${whole}"`);
  }
  if (first !== undefined && file !== undefined)
    throw new UsageError("IDEA_TWICE", "Expected one idea, got one on the command line and one by --file. Leave one out.");
  if (file !== undefined || first === "-") return { kind: "file", path: file ?? "-" };
  if (first !== undefined) return { kind: "words", text: checkedIdea(first) };
  throw new UsageError("IDEA_MISSING", `Expected an idea, got none. ${example}`);
}

export async function readIdea(source: IdeaSource, host: Host): Promise<string> {
  if (source.kind === "words") return source.text;
  const file = shown(source.path, 200);
  const from = source.path === "-" ? "standard input" : `the file "${file}"`;
  const bytes = await bytesOf(host, source.path, IDEA_BYTES + 1).catch((cause: unknown) => {
    const why = READ_FAILURES[systemCode(cause)] ?? `${shown(thrownText(cause), 200)}. Read it as input: troupe - < ${file}`;
    throw new UsageError("IDEA_UNREADABLE", `Expected to read the idea from ${from}, but ${why}.`, { cause });
  });
  if (bytes.length > IDEA_BYTES) throw tooLong(`in ${from}`);
  const text = decodedText(bytes);
  if (text !== undefined) return checkedIdea(text, from);
  throw new UsageError("IDEA_BINARY", `Expected the idea in ${from} to be text in UTF-8, got other bytes. Save it as plain text.`);
}

export function mistypedCommand(word: string): string | undefined {
  const given = word.trim().toLowerCase();
  return COMMANDS.includes(given) ? given : nearestWord(given, LONG_COMMANDS, MAX_SLIPS);
}

/** Refuses a first word that may be a mistyped command: an unwanted run costs money. A first word that is a sentence is an idea. */
function refuseMistyped(first: string, others: readonly string[]): void {
  const word = first.trim();
  if (word === "" || /\s/.test(word)) return;
  const command = mistypedCommand(word);
  const run = `troupe run ${quoted(shown([word, ...others].join(" "), 200))}`;
  if (command !== undefined) {
    const reason = command === word ? `"${word}" is a command and comes first` : `"${shown(word, 60)}" looks like the command "${command}"`;
    const meant = ["troupe", command, ...others.map((other) => quoted(shown(other, 60)))].join(" ");
    const expected = `Expected a command or an idea, but ${reason}`;
    throw new UsageError("COMMAND_MISTYPED", `${expected}. Did you mean: ${meant}? To use it as an idea: ${run}`);
  }
  if (others.length > 0) return;
  const expected = `Expected an idea of more than one word: "${shown(word, 60)}" may be a mistyped command`;
  throw new UsageError("IDEA_DOUBTFUL", `${expected}. If it is your idea, say: ${run}, or add --yes.`);
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `"${text}"`;
}

const READ_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

function checkedIdea(text: string, from = "the command line"): string {
  const idea = text.trim();
  if (idea === "") {
    const expected = `Expected an idea, got an empty string from ${from}`;
    throw new UsageError("IDEA_MISSING", `${expected}. Say what to build: troupe "Create a 2048 game"`);
  }
  if (new TextEncoder().encode(idea).length > IDEA_BYTES) throw tooLong("on the command line");
  return idea;
}

function tooLong(where: string): UsageError {
  const expected = `Expected an idea of at most ${IDEA_BYTES} bytes, got more ${where}`;
  return new UsageError("IDEA_TOO_LONG", `${expected}. Make it shorter; every role reads it.`);
}
