/** Longer patterns are refused. */
export const MAX_PATTERN = 500;

/** How much the `*` of a pattern may stand for. */
export type Reach = "anything" | "one plain word or path";

/** What leads elsewhere in a path, ends a line, or begins another command in a shell. */
const ELSEWHERE = /(?:^|[/\\])(?:\.|%2e){2}(?:$|[/\\])|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/i;
const SHELL = /[;&|`<>]|\$\(/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^*]/i;

/**
 * Whether a text fits a pattern as a whole. `*` stands for any characters, everything else for itself: patterns come from users, and a
 * regular expression could be made to run for hours.
 *
 * With the reach "one plain word or path" a `*` does not stand for what could lead somewhere else: `..` in a path, a new line, or, except
 * in an address, another command of a shell.
 */
export function fitsGlob(text: string, pattern: string, reach: Reach = "anything"): boolean {
  const [first = "", ...pieces] = pattern.split("*");
  if (pieces.length === 0) return text === pattern;
  if (reach !== "anything" && leadsElsewhere(text, pattern)) return false;
  const last = pieces.pop() ?? "";
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let place = first.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, place);
    if (found === -1 || found + piece.length > end) return false;
    place = found + piece.length;
  }
  return true;
}

function leadsElsewhere(text: string, pattern: string): boolean {
  return ELSEWHERE.test(text) || (!ADDRESS.test(pattern) && SHELL.test(text));
}
