import { notRun, toolMessage } from "../tool/tool-result.js";
/** True for a message of the goal. A memory may return copies. */
function isOneOf(goal, message) {globalThis.__t?.("agent/agent-memory.js#isOneOf@129");
	return goal.some((one) => (globalThis.__t?.("agent/agent-memory.js#anonymous@181"),(one === message || one.role === message.role && one.content === message.content)));
}
/** A note that counts; 0 when it is not set. */
async function numberNote(memory, key) {globalThis.__t?.("agent/agent-memory.js#numberNote@323");
	const note = await memory.note(key);
	return typeof note === "number" ? note : 0;
}
/** The calls of the latest group that have no result yet. */
function openCalls(messages) {globalThis.__t?.("agent/agent-memory.js#openCalls@511");
	const last = messages.findLastIndex((message) => (globalThis.__t?.("agent/agent-memory.js#last@579"),(message.role !== "tool")));
	const calls = messages[last]?.toolCalls ?? [];
	if (calls.length === 0) return [];
	const answered = new Set(messages.slice(last + 1).map((message) => (globalThis.__t?.("agent/agent-memory.js#answered@757"),(message.toolCallId))));
	return calls.filter((call) => (globalThis.__t?.("agent/agent-memory.js#anonymous@813"),(!answered.has(call.id))));
}
const NOT_BEGUN = "the run was stopped before this call was made.";
const UNKNOWN = "the run was stopped here. Nobody knows whether this call has run; look before you call it again.";
/** Gives every open call a result, before a new task takes the place of the old one. The result tells whether the call began. */
async function closeAllCalls(memory) {globalThis.__t?.("agent/agent-memory.js#closeAllCalls@1164");
	const waiting = new Set((memory.nextAction?.calls ?? []).map(({ id }) => (globalThis.__t?.("agent/agent-memory.js#waiting@1265"),(id))));
	if (await answerOpenCalls(memory, ({ id }) => (globalThis.__t?.("agent/agent-memory.js#anonymous@1318"),(waiting.has(id) ? NOT_BEGUN : UNKNOWN)))) memory.nextAction = void 0;
}
/** Gives every open call a result, unless the calls are to be run now. Servers refuse a conversation with a call without one. */
async function closeOpenCalls(memory) {globalThis.__t?.("agent/agent-memory.js#closeOpenCalls@1530");
	if (!memory.done && memory.nextAction === void 0) await answerOpenCalls(memory, () => (globalThis.__t?.("agent/agent-memory.js#anonymous@1651"),(UNKNOWN)));
}
async function answerOpenCalls(memory, why) {globalThis.__t?.("agent/agent-memory.js#answerOpenCalls@1669");
	const open = openCalls(await memory.dump());
	if (open.length > 0) await memory.update(open.map((call) => (globalThis.__t?.("agent/agent-memory.js#anonymous@1812"),(toolMessage(notRun(call, "skipped", why(call)))))));
	return open.length > 0;
}
export { closeAllCalls, closeOpenCalls, isOneOf, numberNote, openCalls };
