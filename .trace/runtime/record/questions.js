import { roleOf } from "./damage.js";
import { stepId } from "./step-address.js";
// ../../work/wt/lead/src/runtime/record/questions.ts
/** The questions that wait for an answer, in the order in which the roles that ask were hired. */
function pendingQuestions(state) {globalThis.__t?.("runtime/record/questions.js#pendingQuestions@235");
	return [...state.open].map((name) => (globalThis.__t?.("runtime/record/questions.js#anonymous@298"),(roleOf(state, name)))).sort((a, b) => (globalThis.__t?.("runtime/record/questions.js#anonymous@334"),(a.index - b.index))).flatMap((role) => (globalThis.__t?.("runtime/record/questions.js#anonymous@371"),([...role.open?.steps.values() ?? []].filter(({ started, outcome }) => (globalThis.__t?.("runtime/record/questions.js#anonymous@425"),(started.kind === "human" && outcome === void 0))).map(({ started }) => (globalThis.__t?.("runtime/record/questions.js#anonymous@503"),(questionOf(state.runId, started)))))));
}
/** True for an event that asks a question whose id begins with `id`. */
function asks(event, id) {globalThis.__t?.("runtime/record/questions.js#asks@631");
	return id !== "" && event.type === "step.started" && event.kind === "human" && stepId(event.runId, event.act, event.key).startsWith(id);
}
function questionOf(runId, { act, key, request, try: nth }) {globalThis.__t?.("runtime/record/questions.js#questionOf@798");
	const { role, question } = request;
	return {
		id: stepId(runId, act, key),
		role,
		text: question,
		act,
		key,
		try: nth
	};
}
export { asks, pendingQuestions };
