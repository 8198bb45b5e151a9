import { padText, textWidth } from "../text-width.js";

/** Columns with two blanks between them. */
export function renderPlain({ columns, cells, header }) {
  const rows = header ? [columns, ...cells] : cells;
  const widths = columns.map((_, n) => Math.max(0, ...rows.map((row) => textWidth(row[n]))));
  return rows.map((row) => row.map((text, n) => padText(text, widths[n])).join("  ").trimEnd());
}
