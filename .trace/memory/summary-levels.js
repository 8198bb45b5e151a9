const NO_SUMMARY = {
	oldest: "",
	older: [],
	recent: []
};
const NOTHING_SUMMED_UP = {
	...NO_SUMMARY,
	covered: []
};
/** The whole of it as one text, from the oldest to the newest. */
function summaryText({ oldest, older, recent }) {globalThis.__t?.("memory/summary-levels.js#summaryText@188");
	return [
		oldest,
		...older,
		...recent
	].filter((text) => (globalThis.__t?.("memory/summary-levels.js#anonymous@292"),(text !== ""))).join("\n\n");
}
/** What is due, the coarser level first so that there is room for what comes from the finer. */
function dueMerge({ oldest, older, recent }) {globalThis.__t?.("memory/summary-levels.js#dueMerge@428");
	if (older.length >= 10) return {
		level: "older",
		items: older.slice(0, 10),
		earlier: oldest
	};
	if (recent.length < 10) return void 0;
	return {
		level: "recent",
		items: recent.slice(0, 10),
		earlier: summaryText({
			oldest,
			older,
			recent: []
		})
	};
}
/**
* After `text` has been made of a merge's items; of the coarsest level it takes the place of `oldest`, which it was made with. Levels that
* are not those of the merge any more, because others were loaded meanwhile, stay as they are.
*/
function merged(levels, { level, items }, text) {globalThis.__t?.("memory/summary-levels.js#merged@989");
	if (items.some((item, place) => (globalThis.__t?.("memory/summary-levels.js#anonymous@1055"),(levels[level][place] !== item)))) return levels;
	if (level === "older") return {
		...levels,
		oldest: text,
		older: levels.older.slice(items.length)
	};
	return {
		...levels,
		older: [...levels.older, text],
		recent: levels.recent.slice(items.length)
	};
}
function withRecent(levels, text) {globalThis.__t?.("memory/summary-levels.js#withRecent@1334");
	return {
		...levels,
		recent: [...levels.recent, text]
	};
}
/** What was stored, then what was summed up here before it was known. */
function joined(stored, here) {globalThis.__t?.("memory/summary-levels.js#joined@1508");
	const known = /* @__PURE__ */ new Set([
		stored.oldest,
		...stored.older,
		...stored.recent
	]);
	const news = [
		here.oldest,
		...here.older,
		...here.recent
	].filter((text) => (globalThis.__t?.("memory/summary-levels.js#news@1716"),(text !== "" && !known.has(text))));
	return {
		...stored,
		recent: [...stored.recent, ...news]
	};
}
export { NOTHING_SUMMED_UP, NO_SUMMARY, dueMerge, joined, merged, summaryText, withRecent };
