/** How little the first places count above the next ones: the constant of Cormack, Clarke and Büttcher (2009). */
const DAMPING = 60;

/**
 * One ranking of several, by reciprocal rank: what stands high in more of them stands higher, and scores that cannot be compared do not
 * matter. Best first; equal ones by key.
 */
export function fuseRankings(rankings: readonly (readonly number[])[]): number[] {
  const points = new Map<number, number>();
  for (const ranking of rankings) {
    for (const [place, key] of ranking.entries()) points.set(key, (points.get(key) ?? 0) + 1 / (DAMPING + place + 1));
  }
  return [...points].sort(([a, first], [b, second]) => second - first || a - b).map(([key]) => key);
}

/** One list of several that are sorted already by the same order, the first `k` of it. Equal ones come as their lists do. */
export function mergeSorted<T>(lists: readonly (readonly T[])[], k: number, order: (a: T, b: T) => number): T[] {
  const places = lists.map(() => 0);
  const merged: T[] = [];
  while (merged.length < k) {
    let best = -1;
    for (const [which, list] of lists.entries()) {
      const place = places[which] as number;
      if (place >= list.length) continue;
      const isBetter = best === -1 || order(list[place] as T, (lists[best] as readonly T[])[places[best] as number] as T) < 0;
      if (isBetter) best = which;
    }
    if (best === -1) break;
    merged.push((lists[best] as readonly T[])[places[best] as number] as T);
    places[best] = (places[best] as number) + 1;
  }
  return merged;
}
