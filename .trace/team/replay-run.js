import "../_virtual/_rolldown/runtime.js";
import { deliveryOf } from "../runtime/schedulers/scheduler.js";
import { Environment } from "../runtime/environment.js";
import { Replay } from "../runtime/replay/replay.js";
import { runResult } from "../runtime/run-result.js";
import { systemClock } from "../kernel/clock.js";
import { JournalError, stepErrorFrom } from "../kernel/errors.js";
import { RunState, addRoleState } from "../runtime/record/run-state.js";
import { inOrderOf, teamChanged, teamDifferences } from "./crew.js";
import { resultAtRest } from "./drive.js";
import { heard } from "./heard.js";
// ../../work/wt/lead/src/team/replay-run.ts
/** Lets a recorded run happen again from its record alone: see {@link Replay}. */
async function replayRun(parts) {globalThis.__t?.("team/replay-run.js#replayRun@739");
	const { scratch, crew, controls, mask } = parts;
	const { opening, stretches } = await outlineOf(parts);
	const others = stretches.filter(({ team }) => (globalThis.__t?.("team/replay-run.js#others@912"),(!isTeam(team, crew))));
	assertLivedSome(parts, stretches, others);
	await scratch.create(controls.id);
	const state = new RunState(controls.id);
	state.scheduler = opening.scheduler;
	state.parameters = opening.parameters ?? null;
	state.delivery = opening.delivery ?? deliveryOf(opening.scheduler);
	state.seed = opening.seed;
	const environment = await environmentOf(parts, state, opening.parent?.at);
	environment.log.record(opening);
	for (const role of stretches.flatMap(({ team }) => (globalThis.__t?.("team/replay-run.js#anonymous@1401"),(team)))) if (!state.roles.has(role.name)) addRoleState(state, role.name, role);
	for (const [name, role] of inOrderOf(state, crew)) environment.addRole(role, { name });
	controls.started();
	if (others.length > 0) environment.warn(othersText(controls.id, others));
	const end = await environment.drive(Infinity, {
		checkpoint: void 0,
		signal: controls.signal
	});
	await environment.log.durable();
	return end.control === void 0 && end.failure === void 0 ? asRecorded(state, mask) : runResult(state, end, mask);
}
async function environmentOf({ options, journal, scratch, controls, crew }, state, sharedTo) {globalThis.__t?.("team/replay-run.js#environmentOf@1930");
	const { human: _human, ...rest } = options;
	const record = heard(journal, controls.id, {
		from: 1,
		signal: void 0
	});
	const replay = new Replay({
		record,
		sharedTo,
		isOurs: isTeamOf(crew),
		log: () => (globalThis.__t?.("team/replay-run.js#log@2233"),(environment.log))
	});
	const environment = new Environment({
		...rest,
		clock: replay.clock(options.clock ?? systemClock),
		description: options.description ?? options.name ?? ""
	}, {
		state,
		observers: controls.observers,
		owned: {
			journal: scratch,
			epoch: await scratch.claim(controls.id)
		},
		grew: controls.grew,
		mode: "replay",
		past: replay,
		driver: replay
	});
	return environment;
}
/** How a run began, and with whom it went on. @throws JournalError `RUN_NOT_STARTED` */
async function outlineOf({ journal, controls: { id, signal } }) {globalThis.__t?.("team/replay-run.js#outlineOf@2739");
	let opening;
	const stretches = [];
	for await (const event of heard(journal, id, {
		from: 0,
		signal
	})) {
		if (event.seq === 0 && event.type !== "run.started") break;
		if (event.type === "run.started") {
			const { v: _v, runId: _runId, seq: _seq, time: _time, ...body } = event;
			opening = body;
		}
		if ((event.type === "run.started" || event.type === "run.resumed") && event.roles !== void 0) stretches.push({
			from: event.seq,
			team: event.roles
		});
	}
	if (opening !== void 0) return {
		opening,
		stretches
	};
	throw new JournalError("RUN_NOT_STARTED", `Expected a run with a record, but ${id} has none. Run it first.`);
}
/** @throws JournalError `TEAM_CHANGED` when no part of the run was lived by this team. */
function assertLivedSome({ crew, controls }, stretches, others) {globalThis.__t?.("team/replay-run.js#assertLivedSome@3544");
	if (others.length < stretches.length) return;
	const differences = teamDifferences(stretches.at(-1)?.team ?? [], crew);
	throw teamChanged(controls.id, differences, "Replay it with the team it was made with, or fork it.");
}
/** What came of the run then. A record that was cut off ends where it does. */
function asRecorded(state, mask) {globalThis.__t?.("team/replay-run.js#asRecorded@3916");
	const result = resultAtRest(state, mask);
	if (state.phase.phase === "running") return {
		...result,
		status: "stopped"
	};
	const { status, error } = state.phase;
	return {
		...result,
		status,
		...error === void 0 ? {} : { error: stepErrorFrom(error) }
	};
}
function isTeam(team, crew) {globalThis.__t?.("team/replay-run.js#isTeam@4218");
	return teamDifferences(team, crew).length === 0;
}
/** The same, for teams that come again and again. */
function isTeamOf(crew) {globalThis.__t?.("team/replay-run.js#isTeamOf@4354");
	const known = /* @__PURE__ */ new WeakMap();
	return (team) => {globalThis.__t?.("team/replay-run.js#anonymous@4434");
		const answer = known.get(team) ?? isTeam(team, crew);
		known.set(team, answer);
		return answer;
	};
}
function othersText(runId, others) {globalThis.__t?.("team/replay-run.js#othersText@4552");
	return `Run ${runId} was forced to go on with another team: what that one lived from event ${others.map(({ from }) => (globalThis.__t?.("team/replay-run.js#anonymous@4694"),(from))).join(", ")} on is taken over as it is recorded, and is not replayed.`;
}
export { replayRun };
