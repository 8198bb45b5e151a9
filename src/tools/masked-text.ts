/** Stands in a record for a secret. */
const LEFT_OUT = "[secret]";

/** Whether a text from a record may lack secrets. */
export function isMasked(text: string): boolean {
  return text.includes(LEFT_OUT);
}

/** Whether a text is what a record has of it, but for secrets; a secret has one line. */
export function fitsMasked(text: string, masked: string): boolean {
  const [first = "", ...pieces] = masked.split(LEFT_OUT);
  if (!text.startsWith(first)) return false;
  let place = first.length;
  for (const [number, piece] of pieces.entries()) {
    const found = number === pieces.length - 1 ? text.length - piece.length : text.indexOf(piece, place);
    if (found < place || !text.startsWith(piece, found) || text.slice(place, found).includes("\n")) return false;
    place = found + piece.length;
  }
  return place === text.length;
}
