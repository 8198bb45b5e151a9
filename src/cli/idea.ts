import { resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import { nearestWord } from "../kernel/known-options.ts";
import { systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import type { CommandSpec } from "./command-spec.ts";
import { COMMANDS as TABLE } from "./command-table.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";
import { decodedText, fileStart, firstBytes, isEndless } from "./text-file.ts";

export type IdeaSource =
  | { readonly kind: "words"; readonly text: string; readonly isCommandNamed: boolean }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "stdin" };

export interface IdeaReaders {
  /** At most `limit` bytes of a regular file. */
  file(path: string, limit: number): Promise<Uint8Array>;
  /** At most `limit` bytes of standard input. */
  stdin(limit: number): Promise<Uint8Array>;
}

export interface IdeaHints {
  /** True when `run` was typed: any word is meant as an idea then. */
  readonly isCommandNamed: boolean;
  readonly isConfirmed?: boolean;
  /** True for the text of a bundled idea. */
  readonly isBundled?: (text: string) => boolean;
  /** The advice when there is no idea. Default: how to give a company one. */
  readonly example?: string;
}

/** The longest idea, in bytes: about 30,000 tokens, which every role reads again. */
export const IDEA_BYTES: number = 128 * 1024;

const COMMANDS: readonly string[] = [...commandNames(TABLE), "help"];

/** Commands that a word can be a slip of: every short text is near to one of two letters. */
const LONG_COMMANDS: readonly string[] = COMMANDS.filter((command) => command.length > 2);

const EXAMPLE = 'Say what to build: troupe "Create a 2048 game", or see it work: troupe demo';
const SLIPS_ALONE = 2;
const SLIPS_FIRST = 1;
/** Most words that may be a command with its arguments; a longer text is an idea. */
const COMMAND_WORDS = 3;
/** Letters of the shortest first of several words that is compared: shorter ones, such as "an", are near to many. */
const SHORTEST_FIRST = 3;
/** Words that ideas begin with, although they are one slip away from a command. */
const ORDINARY: ReadonlySet<string> = new Set(
  "work word words workers shop step top logo log lots train brain grain form for ford fort reply relay rung rune ran ruin memory agents tall till toll sell cell bell well yell tells tale being boring ring rings spring string strings fire wire here hired hires hive hide tire retired retires insect inspects experiments".split(
    " ",
  ),
);

export function readersOf(host: Host): IdeaReaders {
  return {
    async file(path, limit) {
      const place = resolve(host.cwd, path);
      if (!(await isEndless(place))) return fileStart(place, limit);
      const file = shown(path, 200);
      const expected = `Expected to read the idea from a regular file, but "${file}" is a pipe, a device or a socket`;
      throw new UsageError("IDEA_UNREADABLE", `${expected}. Read it as input: troupe - < ${file}`);
    },
    stdin: (limit) => firstBytes(host.stdin, limit),
  };
}

export function ideaSource(words: readonly string[], file: string | undefined, hints: IdeaHints): IdeaSource {
  const { isCommandNamed, isConfirmed, isBundled, example = EXAMPLE } = hints;
  const [first, ...others] = words;
  const isOneText = first !== undefined && others.length === 0;
  const isMeant = isCommandNamed || (isOneText && (isConfirmed === true || isBundled?.(first) === true));
  if (first !== undefined && !isMeant) refuseMistyped(first, others);
  if (others.length > 0) {
    const whole = shown(words.join(" "), 200);
    throw new UsageError("IDEA_UNQUOTED", `Expected one idea, got ${words.length} words. Put it in quotes: troupe "${whole}"`);
  }
  if (first !== undefined && file !== undefined) {
    throw new UsageError("IDEA_TWICE", "Expected one idea, got one on the command line and one by --file. Leave one out.");
  }
  if (first === "-" || file === "-") return { kind: "stdin" };
  if (file !== undefined) return { kind: "file", path: file };
  if (first !== undefined) return { kind: "words", text: checkedIdea(first), isCommandNamed };
  throw new UsageError("IDEA_MISSING", `Expected an idea, got none. ${example}`);
}

export async function readIdea(source: IdeaSource, readers: IdeaReaders): Promise<string> {
  if (source.kind === "words") return source.text;
  const from = source.kind === "file" ? `the file "${shown(source.path, 200)}"` : "standard input";
  const bytes = source.kind === "file" ? await readFile(source.path, from, readers) : await readers.stdin(IDEA_BYTES + 1);
  if (bytes.length > IDEA_BYTES) throw tooLong(`in ${from}`);
  const text = decodedText(bytes);
  if (text !== undefined) return checkedIdea(text, from);
  throw new UsageError("IDEA_BINARY", `Expected the idea in ${from} to be text in UTF-8, got other bytes. Save it as plain text.`);
}

/** True for an idea of a single word, which may be a mistyped command. */
export function isOneWord(idea: string): boolean {
  return !/\s/.test(idea.trim());
}

/**
 * The command that words were probably meant to be, in any case of letters. A single word counts when it is at most two slips away from
 * one, words of one or two letters too: no idea is that short, and an unwanted run costs money. Two or three words count when the first, of
 * three letters or more, is at most one slip away.
 */
export function mistypedCommand(words: string): string | undefined {
  const [given = "", ...others] = words.trim().toLowerCase().split(/\s+/);
  if (others.length >= COMMAND_WORDS || (others.length > 0 && given.length < SHORTEST_FIRST)) return undefined;
  if (others.length > 0 && ORDINARY.has(given)) return undefined;
  if (COMMANDS.includes(given)) return given;
  return nearestWord(given, LONG_COMMANDS, others.length > 0 ? SLIPS_FIRST : SLIPS_ALONE);
}

/** Refuses a word that is no command of a group. */
export function refuseWords([word]: readonly string[], group: string): void {
  if (word === undefined) return;
  const commands = commandNames(TABLE.find(({ name }) => name === group)?.commands ?? []);
  const near = nearestWord(word, commands);
  const guess = near === undefined ? "" : ` Did you mean: troupe ${group} ${near}?`;
  const expected = `Expected one of ${commands.join(", ")} after troupe ${group}`;
  throw new UsageError("COMMAND_INVALID", `${expected}, got "${shown(word, 60)}".${guess}`);
}

function commandNames(commands: readonly CommandSpec[]): readonly string[] {
  return commands.map(({ name }) => name.split(" ", 1)[0] ?? "");
}

function refuseMistyped(first: string, others: readonly string[]): void {
  const command = mistypedCommand(first);
  if (command === undefined) return;
  const [given = "", ...within] = first.trim().split(/\s+/);
  const word = shown(given, 60);
  const rest = [...within, ...others].map((other) => ` ${quoted(shown(other, 60))}`).join("");
  const idea = quoted(shown([first, ...others].join(" "), 200));
  const reason = command === given ? `"${word}" is a command and stands first` : `"${word}" looks like the command "${command}"`;
  throw new UsageError(
    "COMMAND_MISTYPED",
    `Expected a command or an idea, but ${reason}. Did you mean: troupe ${command}${rest}? To use it as an idea: troupe run ${idea}`,
  );
}

function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `"${text}"`;
}

const READ_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

async function readFile(path: string, from: string, readers: IdeaReaders): Promise<Uint8Array> {
  try {
    return await readers.file(path, IDEA_BYTES + 1);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = READ_FAILURES[systemCode(error)] ?? thrownText(error);
    throw new UsageError("IDEA_UNREADABLE", `Expected to read the idea from ${from}, but ${shown(reason, 200)}.`, { cause: error });
  }
}

function checkedIdea(text: string, from = "the command line"): string {
  const idea = text.trim();
  if (idea === "") {
    const expected = `Expected an idea, got an empty text from ${from}`;
    throw new UsageError("IDEA_MISSING", `${expected}. Say what to build: troupe "Create a 2048 game"`);
  }
  if (new TextEncoder().encode(idea).length > IDEA_BYTES) throw tooLong("on the command line");
  return idea;
}

function tooLong(where: string): UsageError {
  const expected = `Expected an idea of at most ${IDEA_BYTES} bytes, got more ${where}`;
  return new UsageError("IDEA_TOO_LONG", `${expected}. Make it shorter; every role reads it.`);
}
