import type { Style } from "./style.ts";
import { column, fitted, widthOf } from "./text.ts";

/** How a table is shown. */
export interface TableStyle {
  readonly style: Style;
  /** Cells of a line; Infinity where nothing is cut. */
  readonly width: number;
}

/** Rows below faint heads, each column as wide as its widest cell. The last one is cut where the line ends. Cells must be fit to be shown. */
export function tableLines(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  { style, width }: TableStyle,
): readonly string[] {
  const widths = heads.map((head, nth) => Math.max(widthOf(head), ...rows.map((row) => widthOf(row[nth] ?? ""))));
  const line = (row: readonly string[]): string => {
    const text = row.map((cell, nth) => (nth === row.length - 1 ? cell : column(cell, widths[nth] ?? 0))).join("  ");
    return width === Infinity ? text.trimEnd() : fitted(text.trimEnd(), width);
  };
  return [style.faint(line(heads)), ...rows.map(line)];
}
