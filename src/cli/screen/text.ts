import { shownText } from "../../kernel/value-text.ts";
import type { Variables } from "../host.ts";

const MAX_SHOWN = 2_000;
/** A question is shown in full, also for a long call: a person must see what they agree to. */
export const MAX_QUESTION = 10_000;
/** Cells of a line where the terminal does not say; one without a size says 0. */
const DEFAULT_COLUMNS = 80;

export function columnsOf({ columns = 0 }: { readonly columns?: number | undefined }): number {
  return columns > 0 ? columns : DEFAULT_COLUMNS;
}

/**
 * Text of a model, a server or a user, safe for the screen: white space becomes single spaces, and characters that a terminal
 * would obey or hide become `\u{...}`.
 */
export function shown(text: string, limit: number = MAX_SHOWN): string {
  return shownText(
    text
      .slice(0, 4 * limit)
      .replace(/\s+/g, " ")
      .trim(),
    limit,
  );
}

/** The lines of a text; a line end at its end begins no line. */
export function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

export function shownLine(line: string, limit: number = MAX_QUESTION): string {
  return shownText(line.replaceAll("\t", "    "), limit);
}

/** Fewest characters of a shown id: the time in it, without its random part. */
const MIN_ID = 8;

/** The shortest beginning of an id that no other run has, but no shorter than its time. */
export function shortId(id: string, ids: readonly string[]): string {
  const dash = id.indexOf("-");
  return shortestPrefix(id, ids, Math.max(dash, MIN_ID));
}

/** The shortest beginning of an id, of at least `least` characters, that no other id has. */
export function shortestPrefix(id: string, ids: readonly string[], least: number): string {
  for (let length = least; length < id.length; length++) {
    const short = id.slice(0, length);
    if (!ids.some((other) => other !== id && other.startsWith(short))) return short;
  }
  return id;
}

/** A word as a shell takes it: quoted where it must be. */
export function shellWord(word: string): string {
  return /^[\w./~+-]+$/.test(word) ? word : `'${shown(word).replaceAll("'", String.raw`'\''`)}'`;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];

export function bytesText(bytes: number): string {
  let [value, nth] = [bytes, 0];
  while (value >= 999.5 && nth < BYTE_UNITS.length - 1) [value, nth] = [value / 1_000, nth + 1];
  return `${nth > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[nth] ?? ""}`;
}

export interface Style {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly active: (text: string) => string;
}

/** True when color is used: `--no-color` wins, then FORCE_COLOR, NO_COLOR, TERM=dumb, and whether the stream is a terminal. */
export function wantsColor({ isOff, env, isTTY }: { readonly isOff: boolean; readonly env: Variables; readonly isTTY: boolean }): boolean {
  if (isOff) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb") return false;
  return isTTY;
}

export function styleFor(color: boolean): Style {
  const paint =
    (on: number, off: number) =>
    (text: string): string =>
      color && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { strong: paint(1, 22), faint: paint(2, 22), good: paint(32, 39), bad: paint(31, 39), warn: paint(33, 39), active: paint(36, 39) };
}
