import { visible } from "../../workspace/path-rules.ts";

/** Longest text of someone else that one place on the screen shows. */
const LONGEST = 2_000;
/** A question is shown to its end, also that of a long call: nobody can say yes to what they have not seen. */
export const LONGEST_QUESTION = 10_000;

/**
 * Text of a model, a server or a user, fit for one place on the screen: white space becomes single spaces, what a terminal would obey
 * or hide becomes `\u{...}`.
 */
export function shown(text: string, limit: number = LONGEST): string {
  return visible(
    text
      .slice(0, 4 * limit)
      .replace(/\s+/g, " ")
      .trim(),
    limit,
  );
}

/** Cells that a text takes on a terminal. East Asian wide characters and emoji take two, combining marks none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

const COLOR_CODES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** The text without the codes of colours and cursors, as its cells are counted. */
export function withoutCodes(text: string): string {
  return text.replace(COLOR_CODES, "");
}

/**
 * The text in lines of at most `width` cells, broken between words; a word that is too long stands alone. Codes of colours take no cell.
 *
 * @param indent spaces before all lines but the first
 */
export function wrapped(text: string, width: number, indent: number = 0): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const [part] of text.matchAll(/ *[^ ]+/g)) {
    if (line.trim() !== "" && widthOf(withoutCodes(line + part)) > width) {
      lines.push(line);
      line = " ".repeat(indent) + part.trimStart();
    } else {
      line += part;
    }
  }
  return [...lines, line];
}

/** The text, cut to at most `width` cells; a cut text ends with an ellipsis. */
export function fitted(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return "";
  let [kept, cells] = ["", 1];
  for (const character of text) {
    cells += cellsOf(character);
    if (cells > width) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** The text, cut or filled with spaces to exactly `width` cells. */
export function column(text: string, width: number): string {
  const cut = fitted(text, width);
  return cut + " ".repeat(Math.max(0, width - widthOf(cut)));
}

/** A whole number with thousands separated: `12,345`. */
export function counted(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number of tokens in few characters: `950`, `1.2k`, `34k`, `1.2M`. */
export function brief(n: number): string {
  if (n < 1_000) return String(Math.round(n));
  const [value, unit] = n < 999_500 ? [n / 1_000, "k"] : [n / 1_000_000, "M"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** `0:42`, `12:05`, `1:02:03`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (n: number): string => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** `1 file`, `3 files`. */
export function plural(n: number, one: string, many: string = `${one}s`): string {
  return `${counted(n)} ${n === 1 ? one : many}`;
}

const NO_CELL = /^[\p{M}\p{Cf}]$/u;
const TWO_CELLS =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

function cellsOf(character: string): number {
  if (character < "\u0300") return 1;
  return NO_CELL.test(character) ? 0 : TWO_CELLS.test(character) ? 2 : 1;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];

/** A number of bytes: `950 B`, `12 kB`, `3.4 MB`. */
export function bytesText(bytes: number): string {
  let [value, nth] = [bytes, 0];
  while (value >= 999.5 && nth < BYTE_UNITS.length - 1) [value, nth] = [value / 1_000, nth + 1];
  return `${nth > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${BYTE_UNITS[nth] ?? ""}`;
}
