/** The commands there are. `run` is what an idea alone stands for. */
export const COMMANDS: readonly string[] = ["run", "demo", "doctor", "help"];

/** How many slips still count as a mistyped command. */
const SLIPS = 2;

/**
 * The command a word probably was meant to be: a word without spaces that is at most two slips away from one, in any case. Words of
 * one or two letters are taken for mistyped too: no idea is that short, and a run that was not meant costs money.
 */
export function mistypedCommand(word: string): string | undefined {
  if (/\s/.test(word)) return undefined;
  const given = word.toLowerCase();
  const near = COMMANDS.map((command) => ({ command, slips: editDistance(given, command) })).filter(({ slips }) => slips <= SLIPS);
  return near.sort((a, b) => a.slips - b.slips)[0]?.command;
}

/** How many single letters must be added, removed, changed or swapped with their neighbour to make one word of the other. */
export function editDistance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swaps = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, change, swaps ? (before[j - 2] ?? 0) + 1 : Infinity));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
