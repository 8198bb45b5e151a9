import { UsageError } from "../kernel/errors.ts";
import { mistypedCommand } from "./mistyped.ts";
import { shown } from "./screen/text.ts";

/** Where an idea comes from. */
export type IdeaSource =
  | { readonly kind: "words"; readonly text: string; readonly isCommandNamed: boolean }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "stdin" };

/** What an idea is read through: bytes, so that what is no text can be told. */
export interface IdeaReaders {
  /** At most `limit` bytes of a regular file. @throws UsageError in words of its own, or what the system says */
  file(path: string, limit: number): Promise<Uint8Array>;
  /** At most `limit` bytes of standard input. */
  stdin(limit: number): Promise<Uint8Array>;
}

/** The longest idea, in bytes: about 30,000 tokens, which every role reads again. */
export const IDEA_BYTES: number = 128 * 1024;

/** What tells an idea from a mistyped command. */
export interface IdeaHints {
  /** Whether `run` was written, so that any word was meant as an idea. */
  readonly isCommandNamed: boolean;
  /** Whether the user said beforehand not to be asked. */
  readonly isConfirmed?: boolean;
  /** Whether a text is a bundled idea. */
  readonly isBundled?: (text: string) => boolean;
  /** What to do where there is none. Default: how a company is given an idea. */
  readonly example?: string;
}

const EXAMPLE = 'Say what to build: troupe "Create a 2048 game", or see it work: troupe demo';

/**
 * What the words on the command line mean.
 *
 * @throws UsageError `COMMAND_MISTYPED` when the words look like a command, `IDEA_UNQUOTED`, `IDEA_TWICE`, `IDEA_MISSING`
 */
export function ideaSource(words: readonly string[], file: string | undefined, hints: IdeaHints): IdeaSource {
  const [first, ...others] = words;
  const isMeant = hints.isCommandNamed || (others.length === 0 && isMeantAsIdea(first, hints));
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
  if (first !== undefined) return { kind: "words", text: checkedIdea(first), isCommandNamed: hints.isCommandNamed };
  throw new UsageError("IDEA_MISSING", `Expected an idea, got none. ${hints.example ?? EXAMPLE}`);
}

/**
 * The text of an idea.
 *
 * @throws UsageError `IDEA_UNREADABLE`, `IDEA_TOO_LONG`, `IDEA_BINARY`, `IDEA_MISSING`
 */
export async function readIdea(source: IdeaSource, readers: IdeaReaders): Promise<string> {
  if (source.kind === "words") return source.text;
  const from = source.kind === "file" ? `the file "${shown(source.path, 200)}"` : "standard input";
  const bytes = source.kind === "file" ? await readFile(source.path, from, readers) : await readers.stdin(IDEA_BYTES + 1);
  if (bytes.length > IDEA_BYTES) {
    throw new UsageError(
      "IDEA_TOO_LONG",
      `Expected an idea of at most ${IDEA_BYTES} bytes, got more in ${from}. Say it shorter; every role reads it.`,
    );
  }
  return checkedIdea(decoded(bytes, from), from);
}

/** Whether an idea is a single word: it may be a slip as well. */
export function isOneWord(idea: string): boolean {
  return !/\s/.test(idea.trim());
}

function isMeantAsIdea(text: string | undefined, { isConfirmed, isBundled }: IdeaHints): boolean {
  return text !== undefined && (isConfirmed === true || isBundled?.(text) === true);
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

async function readFile(path: string, from: string, readers: IdeaReaders): Promise<Uint8Array> {
  try {
    return await readers.file(path, IDEA_BYTES + 1);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = (error as { readonly code?: unknown }).code;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: "it does not exist",
      EISDIR: "it is a folder",
      EACCES: "it may not be read",
    };
    const reason = reasons[String(code)] ?? (error instanceof Error ? error.message : String(error));
    throw new UsageError("IDEA_UNREADABLE", `Expected to read the idea from ${from}, but ${shown(reason, 200)}.`, { cause: error });
  }
}

function decoded(bytes: Uint8Array, from: string): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Not UTF-8; told below like a file with zeros in it.
  }
  throw new UsageError("IDEA_BINARY", `Expected the idea in ${from} to be text in UTF-8, got other bytes. Save it as plain text.`);
}

function checkedIdea(text: string, from = "the command line"): string {
  const idea = text.trim();
  if (idea === "")
    throw new UsageError(
      "IDEA_MISSING",
      `Expected an idea, got an empty text from ${from}. Say what to build: troupe "Create a 2048 game"`,
    );
  if (new TextEncoder().encode(idea).length <= IDEA_BYTES) return idea;
  throw new UsageError(
    "IDEA_TOO_LONG",
    `Expected an idea of at most ${IDEA_BYTES} bytes, got more on the command line. Say it shorter; every role reads it.`,
  );
}
