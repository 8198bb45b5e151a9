import { linesOf } from "./text-edit.ts";

/** Which lines to show, from 1, both included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** Characters of one view. */
const LONGEST_VIEW = 16_000;
const LONGEST_LINE = 2000;
/** Control and format characters but tab. */
const UNPRINTABLE = /[^\P{Cc}\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Lines of a file with their numbers. What is too long is cut with a mark; characters that do not show are written as `\u{...}`. */
export function numberedLines(text: string, range?: LineRange): string {
  const lines = linesOf(text);
  if (lines.length === 0) return "(the file is empty)";
  const from = Math.max(1, range?.from ?? 1);
  const to = Math.min(lines.length, range?.to ?? lines.length);
  if (from > to) return `(no such lines: the file has ${lines.length})`;
  const shown: string[] = [];
  let size = 0;
  for (let number = from; number <= to; number++) {
    const line = `${String(number).padStart(6)}\t${shownLine(lines[number - 1] ?? "")}`;
    size += line.length + 1;
    if (size > LONGEST_VIEW && shown.length > 0) break;
    shown.push(line);
  }
  const last = from + shown.length - 1;
  const isWhole = from === 1 && last === lines.length;
  return isWhole ? shown.join("\n") : `${shown.join("\n")}\n[lines ${from} to ${last} of ${lines.length}]`;
}

function shownLine(line: string): string {
  const cut = line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)} [cut: ${LONGEST_LINE} of ${line.length} characters]` : line;
  return cut.replace(UNPRINTABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
