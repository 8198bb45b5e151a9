/** `*` stands for any characters, everything else for itself: patterns come from users, and a regular expression could run for hours. */
export function fitsGlob(text: string, pattern: string): boolean {
  const [first = "", ...pieces] = pattern.split("*");
  if (pieces.length === 0) return text === pattern;
  const last = pieces.pop() ?? "";
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let index = first.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, index);
    if (found === -1 || found + piece.length > end) return false;
    index = found + piece.length;
  }
  return true;
}

/** For patterns that ask or deny: decoded, in lower case and plain letters, without detours in a path. */
export function comparable(text: string): string {
  return withoutDetours(decoded(text).normalize("NFKC").toLowerCase());
}

function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
}

function withoutDetours(text: string): string {
  const kept: string[] = [];
  for (const [index, part] of text.split(/[/\\]/).entries()) {
    const last = kept.at(-1);
    if (part === ".." && last !== undefined && last !== "..") {
      if (last !== "") kept.pop();
    } else if (part !== "." && (part !== "" || index === 0)) kept.push(part);
  }
  return kept.join("/");
}
