/** Share of a cut text that is its beginning; the rest is its end, where errors stand. */
const HEAD = 0.7;

/**
 * Cuts the middle of a text to `limit` characters, and puts a mark in its place: `[cut: 12,000 of 50,000 characters shown]`.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = upTo(text, Math.ceil(limit * HEAD));
  const tail = onFrom(text, text.length - (limit - Math.ceil(limit * HEAD)));
  return `${head}\n${cutMark(head.length + tail.length, text.length)}\n${tail}`;
}

function cutMark(shown: number, of: number): string {
  return `[cut: ${grouped(shown)} of ${grouped(of)} characters shown]`;
}

/** A number with separators of thousands: 12,000. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A text up to a place, or one less so that no character is halved. */
export function upTo(text: string, end: number): string {
  return text.slice(0, isLowHalf(text, end) ? end - 1 : end);
}

/** A text from a place on, or one more so that no character is halved. */
export function onFrom(text: string, start: number): string {
  return text.slice(isLowHalf(text, start) ? start + 1 : start);
}

function isLowHalf(text: string, place: number): boolean {
  return /^[\udc00-\udfff]/.test(text.charAt(place)) && /^[\ud800-\udbff]/.test(text.charAt(place - 1));
}
