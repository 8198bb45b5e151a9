// ../../work/wt/lead/src/memory/rank-merge.ts
/** How little the first places count above the next ones: the constant of Cormack, Clarke and Büttcher (2009). */
const DAMPING = 60;
/**
* One ranking of several, by reciprocal rank: what stands high in more of them stands higher, and scores that cannot be compared do not
* matter. Best first; equal ones by key.
*/
function fuseRankings(rankings) {globalThis.__t?.("memory/rank-merge.js#fuseRankings@366");
	const points = /* @__PURE__ */ new Map();
	for (const ranking of rankings) for (const [place, key] of ranking.entries()) points.set(key, (points.get(key) ?? 0) + 1 / (DAMPING + place + 1));
	return [...points].sort(([a, first], [b, second]) => (globalThis.__t?.("memory/rank-merge.js#anonymous@616"),(second - first || a - b))).map(([key]) => (globalThis.__t?.("memory/rank-merge.js#anonymous@674"),(key)));
}
export { fuseRankings };
