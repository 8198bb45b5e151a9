import { renderBox } from "./box.js";
import { renderCsv } from "./csv.js";
import { renderPlain } from "./plain.js";

/** Each format takes { columns, cells, header } and returns lines. */
export const formats = new Map([
  ["box", renderBox],
  ["plain", renderPlain],
  ["csv", renderCsv],
]);

export function formatNames() {
  return [...formats.keys()];
}
