// ../../work/wt/lead/src/team/known-models.ts
/** Runs of one journal that are remembered. */
const MOST_RUNS = 1e3;
const known = /* @__PURE__ */ new WeakMap();
/** Notes the models that a run was begun or gone on with. */
function noteModels(journal, runId, models) {globalThis.__t?.("team/known-models.js#noteModels@225");
	const runs = known.get(journal) ?? /* @__PURE__ */ new Map();
	known.set(journal, runs);
	const noted = runs.get(runId) ?? /* @__PURE__ */ new Map();
	runs.delete(runId);
	for (const model of models) noted.set(model.id, (noted.get(model.id) ?? /* @__PURE__ */ new WeakSet()).add(model));
	runs.set(runId, noted);
	const [oldest] = runs.keys();
	if (runs.size > MOST_RUNS && oldest !== void 0) runs.delete(oldest);
}
/** Ids under which a run had another model object than these. */
function otherModels(journal, runId, models) {globalThis.__t?.("team/known-models.js#otherModels@754");
	const noted = known.get(journal)?.get(runId);
	if (noted === void 0) return [];
	const others = [...models].filter((model) => (globalThis.__t?.("team/known-models.js#others@917"),(noted.get(model.id)?.has(model) === false)));
	return [...new Set(others.map(({ id }) => (globalThis.__t?.("team/known-models.js#anonymous@1003"),(id))))];
}
/** What a fork says of them before it takes their answers. */
function otherModelText(parentId, id) {globalThis.__t?.("team/known-models.js#otherModelText@1087");
	return `The model "${id}" is another object than the one that run ${parentId} asked under this id, and the answers of that one are taken where the request is the same. Give it an id of its own, or fork with reuse: "none" to ask it.`;
}
export { noteModels, otherModelText, otherModels };
