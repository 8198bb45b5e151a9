import { AbortedError, BudgetError, WaitingError } from "../kernel/errors.js";
import { lazyMembers } from "../kernel/lazily.js";
import { pendingQuestions } from "./record/questions.js";
import { OUTSIDE, roundsOf } from "./record/run-state.js";
import { failureError } from "./run-failure.js";
// ../../work/wt/lead/src/runtime/run-result.ts
/**
* The result of a run as it stands, without secrets. It costs nothing that nobody looks at, and stays what it is while the run goes on: its
* lists are told from those of the run, which only grow, by how long they were.
*/
function runResult(state, end, mask) {globalThis.__t?.("runtime/run-result.js#runResult@571");
	const { status, error } = statusOf(end, mask);
	const result = {
		runId: state.runId,
		status,
		rounds: roundsOf(state),
		messages: unseen,
		output: lastWord(state),
		outputs: unseen,
		deadLetters: unseen,
		dropped: state.dropped,
		usage: state.ledger.usage,
		cost: state.ledger.cost(),
		byRole: state.byRole.record(),
		byModel: state.byModel.record(),
		uncertain: state.uncertain,
		questions: pendingQuestions(state).map(({ id, role, text }) => ((globalThis.__t?.("runtime/run-result.js#questions@1047"),({
			id,
			role,
			text
		})))),
		...state.parent === void 0 ? {} : { fork: forkReport(state, state.parent) },
		...error === void 0 ? {} : { error }
	};
	return lazyMembers(result, {
		messages: saidSoFar(state),
		outputs: soFar(state.outputs),
		deadLetters: soFar(state.dead)
	});
}
function lastWord(state) {globalThis.__t?.("runtime/run-result.js#lastWord@1360");
	return state.outputs.at(-1) ?? waitingWords(state).findLast(({ order }) => (globalThis.__t?.("runtime/run-result.js#anonymous@1448"),(order !== OUTSIDE)))?.sent.message ?? state.lastSaid;
}
/** What was said in a round that has not ended, in the order in which it will be delivered. */
function waitingWords({ pending }) {globalThis.__t?.("runtime/run-result.js#waitingWords@1613");
	return pending.filter(({ sent }) => (globalThis.__t?.("runtime/run-result.js#anonymous@1673"),(sent.dropped !== true))).toSorted((a, b) => (globalThis.__t?.("runtime/run-result.js#anonymous@1719"),(a.order - b.order)));
}
/** Stands where a list will: it says in which order the members of a result come. */
const unseen = Object.freeze([]);
/** What a list that only grows holds now. */
function soFar(grows) {globalThis.__t?.("runtime/run-result.js#soFar@1917");
	const { length } = grows;
	return () => (globalThis.__t?.("runtime/run-result.js#anonymous@1976"),(grows.slice(0, length)));
}
function saidSoFar(state) {globalThis.__t?.("runtime/run-result.js#saidSoFar@2008");
	const { history, hasHistory } = state;
	if (!hasHistory) return () => (globalThis.__t?.("runtime/run-result.js#anonymous@2101"),([]));
	const { size } = history;
	const waiting = waitingWords(state).map(({ sent }) => (globalThis.__t?.("runtime/run-result.js#waiting@2179"),(sent.message)));
	return () => (globalThis.__t?.("runtime/run-result.js#anonymous@2216"),([...history.get().slice(0, size), ...waiting]));
}
function forkReport({ reused, reusedCalls, calls, saved }, parent) {globalThis.__t?.("runtime/run-result.js#forkReport@2271");
	return {
		parent,
		reused,
		reusedCalls,
		paid: calls,
		saved
	};
}
/** The status an end stands for, and the error that explains it. */
function statusOf(end, mask) {globalThis.__t?.("runtime/run-result.js#statusOf@2483");
	if (end.failure !== void 0) return {
		status: "failed",
		error: failureError(end.failure, mask)
	};
	if (end.control !== void 0) return {
		status: statusOfControl(end.control),
		error: end.control
	};
	switch (end.reason) {
		case "idle": return { status: "finished" };
		case "rounds": return { status: "rounds" };
		case "checkpoint": return { status: "stopped" };
		case "interrupted": return {
			status: "stopped",
			error: new AbortedError()
		};
	}
}
function statusOfControl(control) {globalThis.__t?.("runtime/run-result.js#statusOfControl@2978");
	if (control instanceof BudgetError) return "budget";
	if (control instanceof WaitingError) return "waiting";
	return control.code === "DIFFERENCE" ? "failed" : "stopped";
}
export { runResult, statusOf };
