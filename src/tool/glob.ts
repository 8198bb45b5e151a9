/** Longer patterns are refused. */
export const MAX_PATTERN = 500;

/**
 * Whether a text fits a pattern as a whole. `*` stands for any characters, everything else for itself: patterns come from users, and a
 * regular expression could be made to run for hours.
 */
export function fitsGlob(text: string, pattern: string): boolean {
  const [first = "", ...pieces] = pattern.split("*");
  if (pieces.length === 0) return text === pattern;
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
