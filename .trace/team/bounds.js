import "../runtime/environment-options.js";
import { conditionOf, recordOf, stopText } from "../runtime/stop-condition.js";
import { ControlError, JournalError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
import { roundsOf } from "../runtime/record/run-state.js";
// ../../work/wt/lead/src/team/bounds.ts
/** Deaths of the process under one activation, unless said otherwise. */
const DEFAULT_POISON_AFTER = 3;
/**
* The bounds of a run from now on: what is given explicitly, else what its record says, else the defaults.
*
* @throws JournalError `STOP_CONDITION_NEEDED` when the record names a condition that only its program has, and none is given
*/
function boundsNow(state, asked, options) {globalThis.__t?.("team/bounds.js#boundsNow@689");
	const { bounds: before, delivery } = state;
	const stopWhen = stopConditionNow(state, asked.stopWhen);
	const stop = stopWhen === void 0 ? before.stopWhen === void 0 ? {} : { stopWhen: null } : { stopWhen: recordOf(stopWhen) };
	const mailbox = options.mailbox ?? before.mailbox;
	const concurrency = options.concurrency ?? before.concurrency ?? 16;
	const own = typeof asked.budget === "number" ? asked.budget : before.budget;
	return {
		recorded: {
			...own === void 0 ? {} : { budget: own },
			rounds: asked.rounds ?? before.rounds ?? 100,
			...stop,
			messageLimit: options.messageLimit ?? before.messageLimit ?? 1e6,
			...mailbox === void 0 ? {} : { mailbox },
			...delivery === "round" ? {} : { concurrency },
			poisonAfter: options.poisonAfter ?? before.poisonAfter ?? DEFAULT_POISON_AFTER
		},
		stopWhen
	};
}
/** The crew with the budget of one run: what that run was given for itself comes before what the team allows each run. */
function crewOf(crew, { recorded: { budget = crew.budget } }) {globalThis.__t?.("team/bounds.js#crewOf@1684");
	return {
		...crew,
		budget
	};
}
/** The bounds that are others than the run's were, for its record; undefined: none. */
function changedBounds(before, { recorded }) {globalThis.__t?.("team/bounds.js#changedBounds@1872");
	const changed = Object.keys(recorded).filter((name) => (globalThis.__t?.("team/bounds.js#changed@1965"),(canonicalJson(before[name] ?? null) !== canonicalJson(recorded[name] ?? null))));
	return changed.length === 0 ? void 0 : Object.fromEntries(changed.map((name) => (globalThis.__t?.("team/bounds.js#anonymous@2126"),([name, recorded[name]]))));
}
/** Why a run that had ended came no further, although somebody asked for more; undefined: something else ended it. */
function nothingLeft(state, reason) {globalThis.__t?.("team/bounds.js#nothingLeft@2283");
	const { runId, bounds } = state;
	const rounds = roundsOf(state);
	if (reason === "rounds") {
		const text = `Expected rounds left for run ${runId} to go on with, but it has had ${rounds} of at most ${bounds.rounds} rounds in all.`;
		return new ControlError("ROUNDS_REACHED", `${text} Raise the bound by the option rounds: { rounds: ${2 * Math.max(rounds, 1)} }.`, { data: {
			rounds,
			bound: bounds.rounds
		} });
	}
	if (reason !== "checkpoint" || bounds.stopWhen === void 0 || bounds.stopWhen === null) return void 0;
	const text = `Expected run ${runId} to go on, but its stop condition holds already: ${stopText(bounds.stopWhen)}.`;
	return new ControlError("STOP_CONDITION_HOLDS", `${text} Give another one as stopWhen, or null to go on without.`);
}
function stopConditionNow({ runId, bounds }, asked) {globalThis.__t?.("team/bounds.js#stopConditionNow@3083");
	if (asked !== void 0) return asked ?? void 0;
	const { stopWhen: before } = bounds;
	if (before === void 0 || before === null) return void 0;
	const rebuilt = conditionOf(before);
	if (rebuilt !== void 0) return rebuilt;
	throw new JournalError("STOP_CONDITION_NEEDED", `Expected the stop condition that run ${runId} was begun with, ${stopText(before)}, which only its program has. Pass it as stopWhen again, or null to go on without.`, { data: { stopWhen: stopText(before) } });
}
export { boundsNow, changedBounds, crewOf, nothingLeft };
