/** How many slips in a word still count as mistyped, unless said otherwise. */
const SLIPS = 2;

/** The one of some words that a word is nearest to, if it is at most so many slips away from it. */
export function nearestWord(given: string, words: readonly string[], most: number = SLIPS): string | undefined {
  const near = words
    .map((word) => ({ word, slips: editDistance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ slips }) => slips <= most);
  return near.sort((a, b) => a.slips - b.slips)[0]?.word;
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
