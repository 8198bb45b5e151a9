import type { Style } from "./text.ts";

/** Cells that a text takes on a terminal. East Asian wide characters and emoji take two, combining marks none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

const COLOR_CODES = /\u001b\[[0-9;?]*[A-Za-z]/g;

export function withoutCodes(text: string): string {
  return text.replace(COLOR_CODES, "");
}

/**
 * The text in lines of at most `width` cells, broken between words; a word that is too long has a line of its own. Color codes take no cell.
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

export function column(text: string, width: number): string {
  const cut = fitted(text, width);
  return cut + " ".repeat(Math.max(0, width - widthOf(cut)));
}

const NO_CELL = /^[\p{M}\p{Cf}]$/u;
const TWO_CELLS =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

function cellsOf(character: string): number {
  if (character < "\u0300") return 1;
  return NO_CELL.test(character) ? 0 : TWO_CELLS.test(character) ? 2 : 1;
}

export interface TextStyle {
  readonly style: Style;
  /** Cells of a line; Infinity where nothing is cut or broken. */
  readonly width: number;
}

/** Rows below faint heads, each column as wide as its widest cell. A line is cut at the width. Cells must be safe for a terminal. */
export function tableLines(heads: readonly string[], rows: readonly (readonly string[])[], o: TextStyle): readonly string[] {
  const widths = heads.map((head, nth) => Math.max(widthOf(head), ...rows.map((row) => widthOf(row[nth] ?? ""))));
  const line = (row: readonly string[]): string => {
    const text = row.map((cell, nth) => (nth === row.length - 1 ? cell : column(cell, widths[nth] ?? 0))).join("  ");
    return fitted(text.trimEnd(), o.width);
  };
  return [o.style.faint(line(heads)), ...rows.map(line)];
}

export type Fact = readonly [label: string, text: string | undefined];

/** Fewest cells of a text beside its label; where there are fewer, it goes below. */
const MIN_TEXT = 24;

export function factLines(facts: readonly Fact[], o: TextStyle): readonly string[] {
  return labelledLines(facts, { ...o, labels: 8, margin: 0 });
}

/** Facts below each other. Labels have `labels` cells, after `margin` spaces; on a narrow terminal each text goes below its label. */
export function labelledLines(
  facts: readonly Fact[],
  { style, width, labels, margin }: TextStyle & { readonly labels: number; readonly margin: number },
): readonly string[] {
  const [before, beside] = [" ".repeat(margin), margin + labels + 1];
  const isStacked = width - beside < MIN_TEXT;
  return facts.flatMap(([label, text]) => {
    if (text === undefined) return [];
    if (!isStacked) return wrapped(`${before}${style.faint(column(label, labels))} ${text}`, width, beside);
    const below = wrapped(`${before}  ${text}`, width, margin + 2);
    return label === "" ? below : [`${before}${style.faint(label)}`, ...below];
  });
}
