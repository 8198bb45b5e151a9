import { JournalError } from "../kernel/errors.js";
import { asks, pendingQuestions } from "../runtime/record/questions.js";
import { stepsInFlight } from "../runtime/record/apply-steps.js";
import { heard } from "./heard.js";
// ../../work/wt/lead/src/team/going-on.ts
/**
* Refuses a run that has nothing to go on with.
*
* @throws JournalError `RUN_NOT_STARTED` when nobody has told it its idea; `FORK_CUT` when it is a fork whose past was not copied to its end
*/
function assertBegun(state, hasIdea) {globalThis.__t?.("team/going-on.js#assertBegun@468");
	if (state.parent !== void 0 && state.seq <= state.parent.at + 1) throw new JournalError("FORK_CUT", `Expected a fork with the whole past it shares, but ${state.runId} was stopped while that was copied. Remove it and fork again.`);
	if (state.outside > 0 || hasIdea) return;
	throw new JournalError("RUN_NOT_STARTED", `Expected a run that has its idea, but ${state.runId} ended before it was told. Start it: run(idea, { id }).`);
}
/** Calls that were in flight when the process died: nobody knows whether they were paid. */
function uncertainSteps(state) {globalThis.__t?.("team/going-on.js#uncertainSteps@1032");
	return stepsInFlight(state).filter(({ record: { started } }) => (globalThis.__t?.("team/going-on.js#anonymous@1101"),(started.kind !== "human" && started.reused === void 0))).map(({ record: { started } }) => ((globalThis.__t?.("team/going-on.js#anonymous@1189"),({
		act: started.act,
		key: started.key,
		hold: started.hold
	}))));
}
/**
* The pending question of an id, or of its first letters.
*
* @throws JournalError `QUESTION_UNKNOWN`, `QUESTION_ANSWERED`; ControlError when the signal aborts
*/
async function findQuestion(journal, state, id, signal) {globalThis.__t?.("team/going-on.js#findQuestion@1457");
	const pending = pendingQuestions(state);
	const meant = pending.filter((question) => (globalThis.__t?.("team/going-on.js#meant@1587"),(id !== "" && question.id.startsWith(id))));
	const [question] = meant;
	if (question !== void 0 && meant.length === 1) return question;
	if (await wasAsked(journal, state.runId, id, signal)) throw new JournalError("QUESTION_ANSWERED", `Expected a question that waits, but ${id} of run ${state.runId} has been answered.`);
	const known = pending.length === 0 ? "none waits" : pending.map((one) => (globalThis.__t?.("team/going-on.js#known@1986"),(`${one.id} (${one.role})`))).join(", ");
	throw new JournalError("QUESTION_UNKNOWN", `Expected a question of run ${state.runId} that waits, got ${id}. Waiting: ${known}.`);
}
/** The answer to a question as the record has it. */
function answerTo({ act, key, try: nth }, text, at) {globalThis.__t?.("team/going-on.js#answerTo@2222");
	return {
		type: "step.ended",
		act,
		key,
		try: nth,
		ok: true,
		value: text,
		cost: 0,
		basis: "none",
		at
	};
}
async function wasAsked(journal, runId, id, signal) {globalThis.__t?.("team/going-on.js#wasAsked@2400");
	for await (const event of heard(journal, runId, {
		from: 0,
		signal
	})) if (asks(event, id)) return true;
	return false;
}
export { answerTo, assertBegun, findQuestion, uncertainSteps };
