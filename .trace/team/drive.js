import { Environment } from "../runtime/environment.js";
import { runResult } from "../runtime/run-result.js";
import "../runtime/environment-options.js";
import { progressOf } from "../runtime/stop-condition.js";
import { Funds } from "../model/budget-pool.js";
import { roundsOf } from "../runtime/record/run-state.js";
import { nothingLeft } from "./bounds.js";
import { noteModels, otherModelText, otherModels } from "./known-models.js";
import { rememberRecord } from "./remember.js";
import { unheardCauses } from "./unheard-causes.js";
// ../../work/wt/lead/src/team/drive.ts
/** Takes a run to its end, for now. */
async function drive(parts) {globalThis.__t?.("team/drive.js#drive@623");
	const funds = await fundsOf(parts);
	let isDone = false;
	try {
		const result = await driveOn(parts, environmentOf(parts, funds));
		isDone = isFinished(parts.state);
		return result;
	} finally {
		funds?.close(isDone);
	}
}
/** Whether a run needs nothing any more: it has finished, and no mail waits for a role that a later team may hire. */
function isFinished({ phase, ready }) {globalThis.__t?.("team/drive.js#isFinished@1000");
	return phase.phase === "ended" && phase.status === "finished" && ready.size === 0;
}
/** What was under way when it last stopped counts at what it may have cost, as the record will tell it. */
function fundsOf({ crew, state: { runId, ledger } }) {globalThis.__t?.("team/drive.js#fundsOf@1234");
	return Funds.open(crew.pools, {
		name: runId,
		spent: ledger.spent + ledger.held
	});
}
async function driveOn(parts, environment) {globalThis.__t?.("team/drive.js#driveOn@1380");
	const { controls, crew, opening, said, past, lost, state } = parts;
	const { runId, parent, seq } = state;
	const stood = state.phase.phase === "ended" || parent !== void 0 ? roundsOf(state) : void 0;
	for (const event of opening) environment.log.record(event);
	for (const [name, role] of crew.roles) environment.addRole(role, { name });
	for (const message of said) environment.publishMessage(message);
	await environment.log.durable();
	controls.started();
	await rememberRecord(environment, {
		journal: parts.journal,
		runId,
		parent,
		seq,
		signal: controls.signal
	});
	if (lost !== void 0) environment.warn(lost);
	compareModels(parts, environment);
	if (opening[0]?.type === "run.started") for (const warning of unheardCauses(crew.roles, said)) environment.warn(warning);
	const failure = environment.failPoisoned(state.bounds.poisonAfter ?? Infinity);
	const end = failure === void 0 ? await environment.drive(state.bounds.rounds ?? 100, boundsOf(parts)) : {
		reason: "interrupted",
		failure,
		control: void 0
	};
	if (failure !== void 0) await environment.memories.rest();
	const result = withDifference(await environment.finish(end), past);
	const nothing = stood === roundsOf(state) && result.error === void 0 ? nothingLeft(state, end.reason) : void 0;
	if (nothing === void 0) return result;
	environment.warn(nothing.message);
	return parts.idea === void 0 ? {
		...result,
		error: nothing
	} : result;
}
/** Who takes answers of another run should know when they are another model's. */
function compareModels({ journal, state: { runId, parent }, past, options, crew }, environment) {globalThis.__t?.("team/drive.js#compareModels@2937");
	const models = [options.model, ...crew.roles.map(([, role]) => (globalThis.__t?.("team/drive.js#models@3085"),(role.model)))].filter((model) => (globalThis.__t?.("team/drive.js#models@3119"),(model !== void 0)));
	noteModels(journal, runId, models);
	if (past === void 0 || parent === void 0) return;
	for (const id of otherModels(journal, parent.runId, models)) environment.warn(otherModelText(parent.runId, id));
}
/** The result of a run that needs nothing any more. */
function resultAtRest(state, mask) {globalThis.__t?.("team/drive.js#resultAtRest@3409");
	return runResult(state, {
		reason: "idle",
		failure: void 0,
		control: void 0
	}, mask);
}
/** A run that needs nothing any more, but that its roles keep what they remember: it may have died before. */
async function rest(parts) {globalThis.__t?.("team/drive.js#rest@3652");
	const { state, mask, crew, journal, controls } = parts;
	const { runId, parent, seq } = state;
	const environment = environmentOf(parts);
	for (const [name, role] of crew.roles) environment.addRole(role, { name });
	await rememberRecord(environment, {
		journal,
		runId,
		parent,
		seq,
		signal: controls.signal
	});
	await environment.memories.rest();
	return resultAtRest(state, mask);
}
function environmentOf({ options, journal, controls, crew, state, past, epoch }, funds) {globalThis.__t?.("team/drive.js#environmentOf@4075");
	const { limits } = crew;
	const isBound = (crew.budget ?? state.budget) !== void 0 || funds?.isBinding === true;
	return new Environment({
		...options,
		...limits === void 0 ? {} : { limits },
		description: options.description ?? options.name ?? ""
	}, {
		state,
		observers: controls.observers,
		owned: {
			journal,
			epoch
		},
		funds,
		requirePrice: isBound && options.allowUnpriced !== true,
		resumed: controls.resumed,
		grew: controls.grew,
		...past === void 0 ? {} : { past }
	});
}
function withDifference(result, past) {globalThis.__t?.("team/drive.js#withDifference@4667");
	if (result.fork === void 0 || past?.difference === void 0) return result;
	return {
		...result,
		fork: {
			...result.fork,
			difference: past.difference
		}
	};
}
function boundsOf({ stopWhen, controls: { signal }, state }) {globalThis.__t?.("team/drive.js#boundsOf@4875");
	return {
		signal,
		checkpoint: stopWhen && (() => (globalThis.__t?.("team/drive.js#checkpoint@4985"),(stopWhen(progressOf(state)))))
	};
}
export { drive, isFinished, rest, resultAtRest };
