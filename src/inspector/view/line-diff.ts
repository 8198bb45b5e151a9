/** A line of a difference. `same` lines have a number on both sides. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  /** Number of the line before, from 1. */
  readonly before: number | undefined;
  /** Number of the line after, from 1. */
  readonly after: number | undefined;
}

/** Most edits that are searched for. Texts that differ more are shown as all removed and all added. */
const MOST_EDITS = 1_500;

/**
 * Returns the lines of two texts: what both have, what is removed, and what is added, with the fewest changes (the greedy search of Myers, 1986,
 * which takes time in proportion to the length times the number of changes).
 */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < least - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = editsOf(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const same = (from: number, count: number): readonly Edit[] => a.slice(from, from + count).map((text) => ({ kind: "same", text }));
  return numbered([...same(0, start), ...middle, ...same(a.length - end, end)]);
}

/** Leaves out `same` lines that are further than `around` lines from a change. A gap stands for each left out part. */
export function diffHunks(lines: readonly DiffLine[], around = 3): readonly (readonly DiffLine[])[] {
  const isNear = new Uint8Array(lines.length);
  for (const [place, { kind }] of lines.entries()) if (kind !== "same") isNear.fill(1, Math.max(0, place - around), place + around + 1);
  const hunks: DiffLine[][] = [];
  for (const [place, line] of lines.entries()) {
    if (isNear[place] !== 1) continue;
    if (isNear[place - 1] === 1) hunks.at(-1)?.push(line);
    else hunks.push([line]);
  }
  return hunks;
}

type Edit = Pick<DiffLine, "kind" | "text">;

function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function editsOf(a: readonly string[], b: readonly string[]): readonly Edit[] {
  const trail = trailOf(a, b);
  if (trail === undefined)
    return [...a.map((text): Edit => ({ kind: "removed", text })), ...b.map((text): Edit => ({ kind: "added", text }))];
  const edits: Edit[] = [];
  let [x, y] = [a.length, b.length];
  for (let d = trail.length - 1; d > 0; d -= 1) {
    const reached = trail[d - 1] as Int32Array;
    const at = (k: number): number => reached[k + d] ?? -1;
    const k = x - y;
    const isDown = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const fromX = at(isDown ? k + 1 : k - 1);
    const fromY = fromX - (isDown ? k + 1 : k - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      x -= 1;
      y -= 1;
      edits.push({ kind: "same", text: a[x] ?? "" });
    }
    if (isDown) edits.push({ kind: "added", text: b[(y -= 1)] ?? "" });
    else edits.push({ kind: "removed", text: a[(x -= 1)] ?? "" });
  }
  while (x > 0) edits.push({ kind: "same", text: a[(x -= 1)] ?? "" });
  return edits.reverse();
}

/**
 * The furthest place in `a` for each diagonal, by the number of edits. Entry `d` holds the diagonals -d-1 to d+1 at `k + d + 1`. Undefined when
 * the texts differ too much.
 */
function trailOf(a: readonly string[], b: readonly string[]): readonly Int32Array[] | undefined {
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const trail: Int32Array[] = [];
  let before = new Int32Array([-1, 0, -1]);
  for (let d = 0; d <= most; d += 1) {
    const reached = new Int32Array(2 * d + 3).fill(-1);
    for (let k = -d; k <= d; k += 2) {
      const at = (diagonal: number): number => before[diagonal + d] ?? -1;
      let x = d === 0 ? 0 : k === -d || (k !== d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reached[k + d + 1] = x;
      if (x >= a.length && x - k >= b.length) return [...trail, reached];
    }
    trail.push(reached);
    before = reached;
  }
  return undefined;
}

function numbered(edits: readonly Edit[]): readonly DiffLine[] {
  let [before, after] = [0, 0];
  return edits.map(({ kind, text }) => {
    if (kind !== "added") before += 1;
    if (kind !== "removed") after += 1;
    return { kind, text, before: kind === "added" ? undefined : before, after: kind === "removed" ? undefined : after };
  });
}
