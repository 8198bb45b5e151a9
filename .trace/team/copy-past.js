import "../_virtual/_rolldown/runtime.js";
import { JournalError } from "../kernel/errors.js";
import { deepFreeze } from "../kernel/json.js";
import { apply } from "../runtime/record/apply.js";
import { assertDistinct, assertUnread, changedMessage, forkedEvent } from "../runtime/replay/fork-copy.js";
import { ForkAnswers } from "../runtime/replay/fork-answers.js";
import { runInfo } from "../runtime/record/journal.js";
import { maskedBody } from "../runtime/record/masking.js";
import { RunState } from "../runtime/record/run-state.js";
import { assertHired, assertSameNames, hiredInOrder } from "./crew.js";
import { heard } from "./heard.js";
// ../../work/wt/lead/src/team/copy-past.ts
/** How many events are copied at once. */
const BATCH = 500;
/** Codes of a journal that has a run no more. */
const GONE = /* @__PURE__ */ new Set(["RUN_UNKNOWN", "RUN_FORGOTTEN"]);
/**
* Copies the past that a fork shares with its parent, and learns what else the parent knows. Damage behind the shared past only makes that
* less.
*
* @throws JournalError `RUN_UNKNOWN`, `RUN_FORGOTTEN`; `FORK_POINT` when the parent has no such event; `TEAM_CHANGED` when a role of the parent is not
* hired; `JOURNAL_DAMAGED` when the parent is damaged before `at`
* @throws UsageError `FORK_CHANGE`
* @throws ControlError when the signal aborts
*/
async function copyPast(parts) {globalThis.__t?.("team/copy-past.js#copyPast@1332");
	const { journal, parentId, runId, epoch, crew, changes, about, seed, mask, signal } = parts;
	const { events } = await runInfo(journal, parentId);
	const at = parts.at ?? events - 1;
	if (!Number.isInteger(at) || at < 0 || at >= events) throw noSuchEvent(parentId, at, events);
	if (changes.length > 0) await assertChangeable(parts, at);
	const state = new RunState(runId);
	const past = new ForkAnswers();
	let batch = [];
	const flush = async () => {globalThis.__t?.("team/copy-past.js#flush@1805");
		if (batch.length > 0) await journal.append(runId, epoch, batch[0]?.seq ?? 0, batch);
		batch = [];
	};
	const parent = {
		runId: parentId,
		at
	};
	const lost = await learned(heard(journal, parentId, {
		from: 0,
		signal
	}), parent, async (event) => {globalThis.__t?.("team/copy-past.js#lost@2058");
		past.learn(event, at);
		if (event.seq > at) return;
		if (event.type === "run.resumed" && event.roles !== void 0) assertHired(parentId, event.roles, crew);
		const roles = event.type === "run.started" ? hiredInOrder(event.roles, crew) : [];
		const forked = forkedEvent(event, {
			runId,
			parent,
			roles,
			budget: crew.budget,
			seed,
			about,
			changes
		});
		const copy = deepFreeze(maskedBody(mask, forked));
		apply(state, copy);
		batch.push(copy);
		if (batch.length >= BATCH) await flush();
	});
	assertSameNames(state, crew);
	await flush();
	return {
		state,
		past,
		lost
	};
}
/** Visits the events of a parent, and says what was lost where it is damaged behind what is shared. */
async function learned(events, { runId, at }, visit) {globalThis.__t?.("team/copy-past.js#learned@2785");
	let next = 0;
	try {
		for await (const event of events) {
			await visit(event);
			next = event.seq + 1;
		}
		return;
	} catch (error) {
		if (!(error instanceof JournalError && error.code === "JOURNAL_DAMAGED") || next <= at) throw error;
		return `The record of run ${runId} is damaged after event ${next - 1}: what it would have answered from there on is asked and paid again. ${error.message}`;
	}
}
/** Looks at the parent as it was, because a past in which a message is missing may not even fit together. */
async function assertChangeable({ journal, parentId, changes, signal }, at) {globalThis.__t?.("team/copy-past.js#assertChangeable@3358");
	assertDistinct(changes);
	const state = new RunState(parentId);
	const sent = /* @__PURE__ */ new Map();
	for await (const event of heard(journal, parentId, {
		from: 0,
		signal
	})) {
		for (const change of changes) if (change.seq === event.seq) sent.set(change, changedMessage(event, change));
		apply(state, event);
		if (event.seq === at) break;
	}
	for (const change of changes) {
		const message = sent.get(change);
		if (message === void 0) throw noSuchEvent(parentId, change.seq, at + 1);
		assertUnread(change, message, state);
	}
}
/** What the parent of a fork can still answer, for a fork that goes on after a stop. The parent may be gone: then nothing. */
async function recalledPast(journal, state, parent, signal) {globalThis.__t?.("team/copy-past.js#recalledPast@4107");
	const { runId } = state;
	const past = new ForkAnswers();
	let lost;
	try {
		lost = await learned(heard(journal, parent.runId, {
			from: 0,
			signal
		}), parent, (event) => (globalThis.__t?.("team/copy-past.js#anonymous@4336"),(past.learn(event, parent.at))));
	} catch (error) {
		if (error instanceof JournalError && GONE.has(error.code)) return {
			past: void 0,
			lost: goneText(state, parent)
		};
		throw error;
	}
	for await (const event of heard(journal, runId, {
		from: parent.at + 1,
		signal
	})) past.recall(event);
	return {
		past,
		lost
	};
}
function goneText({ runId }, parent) {globalThis.__t?.("team/copy-past.js#goneText@4679");
	return `Run ${parent.runId}, from which ${runId} was forked, is gone: what it would have answered is asked and paid again.`;
}
function noSuchEvent(runId, seq, events) {globalThis.__t?.("team/copy-past.js#noSuchEvent@4846");
	return new JournalError("FORK_POINT", `Expected the number of an event that run ${runId} shares, 0 to ${events - 1}, got ${seq}. Look at its events.`);
}
export { copyPast, recalledPast };
