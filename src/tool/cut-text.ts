/** Of a text that is cut, so much of what is shown is its beginning; the rest is its end, where errors stand. */
const HEAD = 0.7;

/**
 * A text of at most `limit` characters and a mark that says what is left out: `[cut: 12,000 of 50,000 characters shown]`. Its beginning
 * and its end stay.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = upTo(text, Math.ceil(limit * HEAD));
  const tail = onFrom(text, text.length - (limit - Math.ceil(limit * HEAD)));
  return `${head}\n${cutMark(head.length + tail.length, text.length)}\n${tail}`;
}

/** What stands where something was left out. */
function cutMark(shown: number, of: number): string {
  return `[cut: ${grouped(shown)} of ${grouped(of)} characters shown]`;
}

/** A number as people read it: 12,000. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A text up to a place, or one less: half of a character is none. */
export function upTo(text: string, end: number): string {
  return text.slice(0, isLowHalf(text, end) ? end - 1 : end);
}

/** A text from a place on, or from the next. */
export function onFrom(text: string, start: number): string {
  return text.slice(isLowHalf(text, start) ? start + 1 : start);
}

function isLowHalf(text: string, place: number): boolean {
  return /^[\udc00-\udfff]/.test(text.charAt(place)) && /^[\ud800-\udbff]/.test(text.charAt(place - 1));
}
