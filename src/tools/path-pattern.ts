/** Longer patterns are refused. */
const LONGEST_PATTERN = 200;
const MOST_STARS = 20;

/**
 * Whether a path fits a pattern as a whole: `*` stands for any characters but `/`, `?` for one of them, `**` as a segment for any number of folders, also
 * none. A pattern without `/` is looked for in every folder. It is compared step by step in time that grows with both lengths, never more.
 */
export function fitsPath(path: string, pattern: string): boolean {
  const segments = path.split("/");
  return fitsSegments(
    pattern.includes("/") ? segments : segments.slice(-1),
    pattern.split("/").filter((segment) => segment !== "." && segment !== ""),
  );
}

/** What is wrong with a pattern; undefined: nothing. */
export function patternFault(pattern: string): string | undefined {
  if (pattern === "") return "Expected a pattern such as *.ts or src/**/*.ts, got nothing.";
  if (pattern.length > LONGEST_PATTERN) return `Expected a pattern of at most ${LONGEST_PATTERN} characters, got ${pattern.length}.`;
  if (pattern.split("*").length - 1 > MOST_STARS) return `Expected at most ${MOST_STARS} stars in a pattern.`;
  if (pattern.startsWith("/") || pattern.split("/").includes(".."))
    return "Expected a pattern of paths inside the project, without .. and without / at its start.";
  return undefined;
}

/** Which beginnings of the path each beginning of the pattern fits; one row at a time. */
function fitsSegments(segments: readonly string[], patterns: readonly string[]): boolean {
  let row = segments.map(() => false);
  let none = true;
  for (const pattern of patterns) {
    const next: boolean[] = [];
    for (const [place, segment] of segments.entries()) {
      const before = place === 0 ? none : (row[place - 1] ?? false);
      if (pattern === "**") next.push(before || (row[place] ?? false) || (next[place - 1] ?? false));
      else next.push(before && fitsSegment(segment, pattern));
    }
    row = next;
    none = none && pattern === "**";
  }
  return row.at(-1) ?? none;
}

/** The usual walk with one place to come back to: the last star takes one more character each time. */
function fitsSegment(text: string, pattern: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let mark = 0;
  while (at < text.length) {
    const wanted = pattern[place];
    if (wanted === "*") {
      star = place++;
      mark = at;
    } else if (wanted === "?" || wanted === text[at]) {
      at++;
      place++;
    } else if (star !== -1) {
      place = star + 1;
      at = ++mark;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(place));
}
