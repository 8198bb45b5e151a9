import { diffArrays } from "diff";

/** A line of a difference. `same` lines have a number, from 1, on both sides. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** More edits are not searched for: the texts are shown as all removed and all added. */
const MOST_EDITS = 1_500;

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const changes = diffArrays(a, b, { maxEditLength: MOST_EDITS }) ?? [
    { value: a, removed: true, added: false },
    { value: b, removed: false, added: true },
  ];
  let [x, y] = [0, 0];
  return changes.flatMap(({ value, added, removed }) =>
    value.map((text): DiffLine => {
      const kind = added ? "added" : removed ? "removed" : "same";
      return { kind, text, before: added ? undefined : (x += 1), after: removed ? undefined : (y += 1) };
    }),
  );
}

/** The parts of a difference, without `same` lines that are further than `around` lines from a change. */
export function diffHunks(lines: readonly DiffLine[], around = 3): readonly (readonly DiffLine[])[] {
  const isNear = new Uint8Array(lines.length);
  for (const [index, { kind }] of lines.entries()) if (kind !== "same") isNear.fill(1, Math.max(0, index - around), index + around + 1);
  const hunks: DiffLine[][] = [];
  for (const [index, line] of lines.entries()) {
    if (isNear[index] !== 1) continue;
    if (isNear[index - 1] === 1) hunks.at(-1)?.push(line);
    else hunks.push([line]);
  }
  return hunks;
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
