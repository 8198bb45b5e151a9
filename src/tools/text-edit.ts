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
  return refused(`Expected the old text in the file, but it is not there.${nearText(text, old)} View the file and copy the text as it is.`);
}

export function insertLines(text: string, after: number, lines: string): TextEdit {
  const count = linesOf(text).length;
  if (after > count) return refused(`Expected a line from 0 to ${count}, got ${after}.`);
  const end = lineEnd(text);
  const added = withLineEnd(lines, end).replace(/\r?\n$/, "");
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const at = after === count ? text.length : (starts[after] ?? text.length);
  // A last line without an end keeps none; an empty one counts only with one.
  const isUnended = at === text.length && text !== "" && !text.endsWith("\n");
  const piece = `${isUnended ? end : ""}${added}${isUnended && !/(^|\n)$/.test(added) ? "" : end}`;
  return { kind: "edited", text: text.slice(0, at) + piece + text.slice(at), line: after + 1 };
}

function lineEnd(text: string): "\n" | "\r\n" {
  const windows = text.split("\r\n").length - 1;
  return windows > text.split("\n").length - 1 - windows ? "\r\n" : "\n";
}

/** The lines of a text without their ends; a line end at the very end begins no line. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function withLineEnd(text: string, end: string): string {
  return text.replace(/\r?\n/g, () => end);
}

function replaceExactly(text: string, old: string, replacement: string): TextEdit | undefined {
  const found: number[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) found.push(at);
  const [at] = found;
  if (at === undefined) return undefined;
  const lines = found.map((index) => text.slice(0, index).split("\n").length);
  if (found.length > 1) {
    const shown = `${lines.slice(0, SHOWN).join(", ")}${found.length > SHOWN ? ", ..." : ""}`;
    return refused(
      `Expected the old text once in the file, but it is there ${found.length} times, at lines ${shown}. Give more of the lines around it.`,
    );
  }
  if (old === replacement) return refused("Expected a new text that differs from the old one.");
  return { kind: "edited", text: text.slice(0, at) + replacement + text.slice(at + old.length), line: lines[0] ?? 1 };
}

function nearText(text: string, old: string): string {
  const plain = (line: string): string => line.split(/\s+/).filter(Boolean).join(" ");
  const wanted = plain(linesOf(old).find((line) => line.trim() !== "") ?? "");
  const near = linesOf(text).flatMap((line, at) => (wanted !== "" && plain(line) === wanted ? [at + 1] : []));
  if (near.length === 0) return "";
  return ` Its first line is at ${near.length === 1 ? "line" : "lines"} ${near.slice(0, NEAR_LINES).join(", ")}, with other spaces or other lines after it.`;
}

function refused(reason: string): TextEdit {
  return { kind: "refused", reason };
}

export interface LineRange {
  readonly from: number;
  readonly to: number;
}

const MAX_VIEW = 16_000;
const MAX_LINE = 2000;
/** Control and format characters but tab. */
const UNPRINTABLE = /[^\P{Cc}\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

export interface LineView {
  readonly text: string;
  /** The lines that it shows whole. */
  readonly shown: readonly LineRange[];
}

export interface LineViewOptions {
  /** Default: all lines. */
  readonly range?: LineRange | undefined;
  /** Characters. The view ends before the line that is too much; one line is shown always. Default 16,000. */
  readonly limit?: number;
  /** Default true. */
  readonly isNumbered?: boolean;
}

/** Shows lines of a file. Long lines are cut with a mark; invisible characters are written as `\u{...}`. */
export function lineView(text: string, { range, limit = MAX_VIEW, isNumbered = true }: LineViewOptions = {}): LineView {
  const lines = linesOf(text);
  if (lines.length === 0) return { text: "(the file is empty)", shown: [] };
  const from = Math.max(1, range?.from ?? 1);
  const to = Math.min(lines.length, range?.to ?? lines.length);
  if (from > to) return { text: `(no such lines: the file has ${lines.length})`, shown: [] };
  const views: string[] = [];
  const shown: LineRange[] = [];
  let size = 0;
  for (let number = from; number <= to; number++) {
    const line = shownLine(lines[number - 1] ?? "");
    const whole = isNumbered ? `${String(number).padStart(6)}\t${line}` : line;
    size += whole.length + 1;
    if (size > limit && views.length > 0) break;
    views.push(whole);
    const run = shown.at(-1);
    if ((lines[number - 1] ?? "").length > MAX_LINE) continue;
    if (run?.to === number - 1) shown[shown.length - 1] = { from: run.from, to: number };
    else shown.push({ from: number, to: number });
  }
  const last = from + views.length - 1;
  const mark = from === 1 && last === lines.length ? "" : `\n[lines ${from} to ${last} of ${lines.length}]`;
  return { text: views.join("\n") + mark, shown };
}

function shownLine(line: string): string {
  const cut = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)} [cut: ${MAX_LINE} of ${line.length} characters]` : line;
  return cut.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A whole file as it is written. One that is there keeps its byte order mark, its line ends and the end of its last line. */
export function wholeText(content: string, before?: string): string {
  const text = content.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const isEnded = before === undefined || before === "" || before.endsWith("\n");
  const body = text.replace(/\n$/, "");
  const ended = isEnded && text !== "" ? `${body}\n` : body;
  const mark = before?.startsWith("\uFEFF") === true ? "\uFEFF" : "";
  return mark + withLineEnd(ended, before === undefined ? "\n" : lineEnd(before));
}

export function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
