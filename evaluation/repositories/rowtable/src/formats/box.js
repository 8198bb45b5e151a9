import { padText, textWidth } from "../text-width.js";

/** A table with lines around its cells. */
export function renderBox({ columns, cells, header }) {
  const widths = columns.map((column, n) => Math.max(header ? textWidth(column) : 0, ...cells.map((row) => textWidth(row[n]))));
  const rule = (left, middle, right) => left + widths.map((width) => "─".repeat(width + 2)).join(middle) + right;
  const line = (texts) => `│ ${texts.map((text, n) => padText(text, widths[n])).join(" │ ")} │`;
  return [
    rule("┌", "┬", "┐"),
    ...(header ? [line(columns), rule("├", "┼", "┤")] : []),
    ...cells.map(line),
    rule("└", "┴", "┘"),
  ];
}
