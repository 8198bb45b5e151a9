import { hiredRole } from "../runtime/hired-roles.js";
import { JournalError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
// ../../work/wt/lead/src/team/crew.ts
/** Longest text of a trait that is shown. */
const SHOWN = 120;
/** The crew as a run records it. */
function hiredBy(crew) {globalThis.__t?.("team/crew.js#hiredBy@299");
	return crew.roles.map(([name, role]) => (globalThis.__t?.("team/crew.js#anonymous@347"),(hiredRole(role, name))));
}
/** In what a crew differs from a team of a record, a line each. */
function teamDifferences(team, crew) {globalThis.__t?.("team/crew.js#teamDifferences@459");
	const hired = hiredBy(crew);
	const names = new Set(hired.map(({ name }) => (globalThis.__t?.("team/crew.js#names@561"),(name))));
	const then = new Map([...team].map((role) => (globalThis.__t?.("team/crew.js#then@619"),([role.name, role]))));
	return [...[...then.keys()].filter((name) => (globalThis.__t?.("team/crew.js#anonymous@686"),(!names.has(name)))).map((name) => (globalThis.__t?.("team/crew.js#anonymous@718"),(`${name} is missing`))), ...hired.flatMap((role) => (globalThis.__t?.("team/crew.js#anonymous@768"),(differencesOf(then.get(role.name), role))))];
}
/** @throws JournalError `TEAM_CHANGED` when the crew is not the one of the run. */
function assertSameTeam({ runId, roles }, crew) {globalThis.__t?.("team/crew.js#assertSameTeam@908");
	const differences = teamDifferences(roles.values(), crew);
	if (differences.length > 0) throw teamChanged(runId, differences, "Go on with the team it was started with, or force it.");
}
/** The refusal of a crew that is not the one of a run, with what to do. */
function teamChanged(runId, differences, advice) {globalThis.__t?.("team/crew.js#teamChanged@1221");
	const text = `Expected the team of run ${runId}, got another: ${differences.join("; ")}. ${advice}`;
	return new JournalError("TEAM_CHANGED", text, { data: { differences } });
}
/** Whoever a run had hired must be there: there may be mail for them. @throws JournalError `TEAM_CHANGED` */
function assertSameNames({ runId, parent, roles }, crew) {globalThis.__t?.("team/crew.js#assertSameNames@1561");
	assertHired(parent?.runId ?? runId, roles.values(), crew);
}
/** The same for those who were hired on the way. @throws JournalError `TEAM_CHANGED` */
function assertHired(runId, roles, crew) {globalThis.__t?.("team/crew.js#assertHired@1771");
	const names = new Set(crew.roles.map(([name]) => (globalThis.__t?.("team/crew.js#names@1852"),(name))));
	const missing = [...roles].map(({ name }) => (globalThis.__t?.("team/crew.js#missing@1904"),(name))).filter((name) => (globalThis.__t?.("team/crew.js#missing@1931"),(!names.has(name))));
	if (missing.length === 0) return;
	throw new JournalError("TEAM_CHANGED", `Expected everyone that run ${runId} had hired, but ${missing.join(", ")} is missing. Hire them; they may be others than they were.`, { data: { differences: missing.map((name) => (globalThis.__t?.("team/crew.js#differences@2204"),(`${name} is missing`))) } });
}
/** The crew as a fork records it: those of the parent in their order, with whoever is missing as they were, then those who are new. */
function hiredInOrder(before, crew) {globalThis.__t?.("team/crew.js#hiredInOrder@2380");
	const now = new Map(hiredBy(crew).map((role) => (globalThis.__t?.("team/crew.js#now@2457"),([role.name, role]))));
	const known = new Set(before.map(({ name }) => (globalThis.__t?.("team/crew.js#known@2522"),(name))));
	return [...before.map((role) => (globalThis.__t?.("team/crew.js#anonymous@2567"),(now.get(role.name) ?? role))), ...[...now.values()].filter(({ name }) => (globalThis.__t?.("team/crew.js#anonymous@2634"),(!known.has(name))))];
}
/** The roles as the run hired them: who hears what is told in that order, whatever order they are hired in now. Who is new comes last. */
function inOrderOf(state, crew) {globalThis.__t?.("team/crew.js#inOrderOf@2809");
	const place = (name) => (globalThis.__t?.("team/crew.js#place@2858"),(state.roles.get(name)?.index ?? Infinity));
	return crew.roles.toSorted(([a], [b]) => (globalThis.__t?.("team/crew.js#anonymous@2938"),(place(a) === place(b) ? 0 : place(a) - place(b))));
}
function differencesOf(then, now) {globalThis.__t?.("team/crew.js#differencesOf@3004");
	if (then === void 0) return [`${now.name} is new`];
	if (then.fingerprint === now.fingerprint) return [];
	const changed = [.../* @__PURE__ */ new Set([...Object.keys(then.traits), ...Object.keys(now.traits)])].filter((trait) => (globalThis.__t?.("team/crew.js#changed@3259"),(canonicalJson(then.traits[trait] ?? null) !== canonicalJson(now.traits[trait] ?? null))));
	if (changed.length === 0) return [`${now.name} is another role`];
	return changed.map((trait) => (globalThis.__t?.("team/crew.js#anonymous@3446"),(`${now.name}: ${trait} was ${shortened(then.traits[trait])}, is ${shortened(now.traits[trait])}`)));
}
function shortened(value = null) {globalThis.__t?.("team/crew.js#shortened@3558");
	const text = canonicalJson(value);
	return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}...`;
}
export { assertHired, assertSameNames, assertSameTeam, hiredBy, hiredInOrder, inOrderOf, teamChanged, teamDifferences };
