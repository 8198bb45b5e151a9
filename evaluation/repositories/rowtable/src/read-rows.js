import { TableError } from "./errors.js";

/** Reads rows from the text of a JSON array of objects, or from lines of JSON. */
export function readRows(text, name = "<input>") {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  if (trimmed.startsWith("[")) return parse(trimmed, name).map((row, n) => checked(row, `${name}, row ${n + 1}`));
  return trimmed.split("\n").flatMap((line, n) => (line.trim() === "" ? [] : [checked(parse(line, `${name}:${n + 1}`), `${name}:${n + 1}`)]));
}

function parse(text, place) {
  try {
    return JSON.parse(text);
  } catch {
    throw new TableError(`${place}: no JSON`);
  }
}

function checked(row, place) {
  if (typeof row === "object" && row !== null && !Array.isArray(row)) return row;
  throw new TableError(`${place}: expected an object`);
}
