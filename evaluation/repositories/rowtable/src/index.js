import { cellText } from "./cell-text.js";
import { columnsOf } from "./columns.js";
import { TableError } from "./errors.js";
import { formats } from "./formats/index.js";
import { sortRows } from "./sort-rows.js";

export { TableError } from "./errors.js";
export { readRows } from "./read-rows.js";
export { textWidth } from "./text-width.js";

/**
 * Renders rows as a table.
 *
 * @param {readonly object[]} rows
 * @param {{ format?: string, columns?: readonly string[], sort?: string, header?: boolean }} options
 * @returns {string} ends with a line break, unless it is empty
 */
export function renderTable(rows, options = {}) {
  const { format = "box", sort, header = true } = options;
  const render = formats.get(format);
  if (render === undefined) throw new TableError(`unknown format ${format}`);
  const columns = options.columns ?? columnsOf(rows);
  const known = new Set(columnsOf(rows));
  const missing = columns.find((column) => rows.length > 0 && !known.has(column));
  if (missing !== undefined) throw new TableError(`no row has a column ${missing}`);
  const sorted = sort === undefined ? rows : sortRows(rows, sort);
  const cells = sorted.map((row) => columns.map((column) => cellText(row[column])));
  if (columns.length === 0) return "";
  return `${render({ columns, cells, header }).join("\n")}\n`;
}
