/** Characters of a window when none are asked for. */
const DEFAULT_WINDOW = 500;
/** So many characters stand in two windows, so that what is said across the cut is seen whole once. */
const OVERLAP = 20;

/**
 * A text as windows that follow each other: each has at most `window` characters (500 when it is not positive), and begins with the last
 * 20 of the one before where a window is longer than that. A text that fits is one window. No window ends in the middle of a character.
 */
export function splitTexts(text: string, window: number): string[] {
  const size = Number.isFinite(window) && window >= 1 ? Math.floor(window) : DEFAULT_WINDOW;
  const overlap = size > OVERLAP ? OVERLAP : 0;
  const windows: string[] = [];
  for (let start = 0; ;) {
    const end = wholeBefore(text, start + size, start);
    windows.push(text.slice(start, end));
    if (end >= text.length) return windows;
    const next = wholeBefore(text, end - overlap, start);
    start = next > start ? next : end;
  }
}

/** The place itself, or one beside it when it lies inside a pair: before it, unless nothing would be left after `start`. */
function wholeBefore(text: string, place: number, start: number): number {
  if (place >= text.length) return text.length;
  if (!isInsidePair(text, place)) return place;
  return place - 1 > start ? place - 1 : place + 1;
}

function isInsidePair(text: string, place: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(place - 1, place + 1));
}
