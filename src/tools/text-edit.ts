/** The result of an edit: the new text and the first new line (from 1), or why nothing was changed. */
export type TextEdit =
  | { readonly kind: "edited"; readonly text: string; readonly line: number }
  | { readonly kind: "refused"; readonly reason: string };

const SHOWN = 10;
const NEAR_LINES = 3;

/** Replaces `old`, which must occur exactly once. Line ends of both arguments become those of the text. */
export function replaceOnce(text: string, old: string, replacement: string): TextEdit {
  if (old === "") return refused("Expected the text to replace, got nothing. To add lines, insert them.");
  const end = lineEnd(text);
  const adapted = replaceExactly(text, withLineEnd(old, end), withLineEnd(replacement, end));
  const edit = adapted ?? replaceExactly(text, old, replacement);
  if (edit !== undefined) return edit;
  return refused(
    `Expected the old text in the file, but it is not there.${nearText(text, old)} View the file and copy the text as it stands.`,
  );
}

/** Inserts whole lines after line `after`, from 0 to the number of lines. */
export function insertLines(text: string, after: number, lines: string): TextEdit {
  const starts = lineStarts(text);
  const count = linesOf(text).length;
  if (after > count) return refused(`Expected a line from 0 to ${count}, got ${after}.`);
  const at = after === count ? text.length : (starts[after] ?? text.length);
  const usual = pieceWith(lineEnd(text), text, at, lines);
  // In a file of mixed line ends, a single one could become half of another.
  const piece = isSplit(text, at, usual) ? usual : pieceWith("\r\n", text, at, lines);
  return { kind: "edited", text: text.slice(0, at) + piece + text.slice(at), line: after + 1 };
}

function pieceWith(end: string, text: string, at: number, lines: string): string {
  const added = withLineEnd(lines, end);
  const piece = added.endsWith(end) ? added.slice(0, -end.length) : added;
  const isUnended = at === text.length && text !== "" && !/[\r\n]$/.test(text);
  if (!isUnended) return `${piece}${end}`;
  // An empty last line counts only with a line end.
  return /(^|[\r\n])$/.test(piece) ? `${end}${piece}${end}` : `${end}${piece}`;
}

function isSplit(text: string, at: number, piece: string): boolean {
  return !(text[at - 1] === "\r" && piece.startsWith("\n")) && !(piece.endsWith("\r") && text[at] === "\n");
}

/** The line end of most lines of a text; `\n` when it has none. */
export function lineEnd(text: string): "\n" | "\r\n" | "\r" {
  const [windows, unix, old] = [/\r\n/g, /(?<!\r)\n/g, /\r(?!\n)/g].map((end) => text.match(end)?.length ?? 0) as [number, number, number];
  if (windows > unix && windows >= old) return "\r\n";
  return old > unix ? "\r" : "\n";
}

/** The lines of a text without their ends; a line end at the very end begins no line. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\r\n|\n|\r/g)].map((found) => found.index + found[0].length)];
}

function withLineEnd(text: string, end: string): string {
  return text.replace(/\r\n|\n|\r/g, () => end);
}

function replaceExactly(text: string, old: string, replacement: string): TextEdit | undefined {
  const places = placesOf(text, old);
  const [place] = places;
  if (place === undefined) return undefined;
  if (places.length > 1) {
    const lines = places.slice(0, SHOWN).map((at) => lineAt(text, at));
    const more = places.length > SHOWN ? ", ..." : "";
    return refused(
      `Expected the old text once in the file, but it is there ${places.length} times, at lines ${lines.join(", ")}${more}. Give more of the lines around it.`,
    );
  }
  if (old === replacement) return refused("Expected a new text that differs from the old one.");
  return { kind: "edited", text: text.slice(0, place) + replacement + text.slice(place + old.length), line: lineAt(text, place) };
}

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

function lineAt(text: string, place: number): number {
  return lineStarts(text.slice(0, place)).length;
}

function nearText(text: string, old: string): string {
  const wanted = plain(linesOf(old).find((line) => line.trim() !== "") ?? "");
  if (wanted === "") return "";
  const near = linesOf(text).flatMap((line, place) => (plain(line) === wanted ? [place + 1] : []));
  if (near.length === 0) return "";
  return ` Its first line is at ${near.length === 1 ? "line" : "lines"} ${near.slice(0, NEAR_LINES).join(", ")}, with other spaces or other lines after it.`;
}

function plain(line: string): string {
  return line.split(/\s+/).filter(Boolean).join(" ");
}

function refused(reason: string): TextEdit {
  return { kind: "refused", reason };
}

export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** An empty range. */
export const NO_LINES: LineRange = { from: 1, to: 0 };

const LONGEST_VIEW = 16_000;
const LONGEST_LINE = 2000;
const UNPRINTABLE = /[^\P{Cc}\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Lines of a file as a model reads them, and which they are. */
export interface LineView {
  readonly text: string;
  /** The lines that it shows; an empty range when it shows none, or one of them is cut. */
  readonly shown: LineRange;
  readonly of: number;
}

/** How lines are shown. */
export interface LineViewOptions {
  /** Default: all lines. */
  readonly range?: LineRange | undefined;
  /** Characters. The view ends before the line that is too much; one line is shown always. Default 16,000. */
  readonly limit?: number;
  /** Default true. */
  readonly isNumbered?: boolean;
}

/** Shows lines of a file. Long lines are cut with a mark; invisible characters are written as `\u{...}`. */
export function lineView(text: string, options: LineViewOptions = {}): LineView {
  const { range, limit = LONGEST_VIEW, isNumbered = true } = options;
  const lines = linesOf(text);
  if (lines.length === 0) return { text: "(the file is empty)", shown: NO_LINES, of: 0 };
  const from = Math.max(1, range?.from ?? 1);
  const to = Math.min(lines.length, range?.to ?? lines.length);
  if (from > to) return { text: `(no such lines: the file has ${lines.length})`, shown: NO_LINES, of: lines.length };
  const shown: string[] = [];
  let size = 0;
  for (let number = from; number <= to; number++) {
    const line = shownLine(lines[number - 1] ?? "");
    const whole = isNumbered ? `${String(number).padStart(6)}\t${line}` : line;
    size += whole.length + 1;
    if (size > limit && shown.length > 0) break;
    shown.push(whole);
  }
  const last = from + shown.length - 1;
  const isCut = lines.slice(from - 1, last).some((line) => line.length > LONGEST_LINE);
  const mark = from === 1 && last === lines.length ? "" : `\n[lines ${from} to ${last} of ${lines.length}]`;
  return { text: shown.join("\n") + mark, shown: isCut ? NO_LINES : { from, to: last }, of: lines.length };
}

/** Lines of a file with their numbers. */
export function numberedLines(text: string, range?: LineRange): string {
  return lineView(text, { range }).text;
}

function shownLine(line: string): string {
  const cut = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)} [cut: ${LONGEST_LINE} of ${line.length} characters]` : line;
  return cut.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A whole file as it is written. One that is there keeps its byte order mark, its line ends and the end of its last line. */
export function wholeText(content: string, before?: string): string {
  const text = content.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const isEnded = before === undefined || before === "" || /[\r\n]$/.test(before);
  const body = text.replace(/\n$/, "");
  const ended = isEnded && text !== "" ? `${body}\n` : body;
  const mark = before?.startsWith("\uFEFF") === true ? "\uFEFF" : "";
  return mark + withLineEnd(ended, before === undefined ? "\n" : lineEnd(before));
}

/** Text between fences that are longer than any run of backticks in it. */
export function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
