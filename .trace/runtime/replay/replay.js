import { errorRecord } from "../../kernel/troupe-error.js";
import { DifferenceError } from "../../kernel/errors.js";
import { deepFreeze } from "../../kernel/json.js";
import { roleNameIn } from "../record/names.js";
import { canonicalEnd } from "../record/canonical.js";
import { roleOf } from "../record/damage.js";
// ../../work/wt/lead/src/runtime/replay/replay.ts
/** Failures that come from outside of what is replayed: time, and the death of the process. */
const OUTER_FAILURES = /* @__PURE__ */ new Set(["TimeoutError TIMEOUT", "StepError POISONED"]);
/**
* The regime of a replay: it follows a record, event by event. What came from outside and what steps answered is taken over as it is;
* every activation lives again, in the order in which they had ended, and must end as it had. It owns the time of the replay, which is
* that of the record.
*
* P1 no effect happens: a step without a recorded answer is a difference. P2 what had no end in the record gets none. P3 what ran out of
* time then is taken over as it is, for time is not replayed. P4 so is what a fork shares with its parent: other roles may have lived it,
* and its messages may have been changed. P5 and so is what another team lived, where the run was forced to go on with another one.
*/
var Replay = class {
	#record;
	#log;
	/** The last event that the run shares with the one it was forked from. */
	#sharedTo;
	#isOurs;
	/** Steps that are shared, of activations that were open there: the run itself may not have asked for them. */
	#shared = /* @__PURE__ */ new Map();
	/** The end, in the record, of the activation that lives again now. */
	#living;
	#now = 0;
	constructor({ record, sharedTo = -1, isOurs, log }) {globalThis.__t?.("runtime/replay/replay.js#constructor@1660");
		this.#record = record;
		this.#isOurs = isOurs;
		this.#sharedTo = sharedTo;
		this.#log = log;
	}
	/** Tells the time of the record, and waits by `clock`. */
	clock(clock) {globalThis.__t?.("runtime/replay/replay.js#clock@1870");
		return {
			now: () => (globalThis.__t?.("runtime/replay/replay.js#now@1899"),(this.#now)),
			timer: (ms, fire) => (globalThis.__t?.("runtime/replay/replay.js#timer@1926"),(clock.timer(ms, fire)))
		};
	}
	/** @throws DifferenceError always: what the record does not answer must not happen. */
	answer(question) {globalThis.__t?.("runtime/replay/replay.js#answer@2066");
		throw asked(question, this.#log().state);
	}
	startOf() {globalThis.__t?.("runtime/replay/replay.js#startOf@2134");}
	askAgain({ recorded, asked: place, nth }) {globalThis.__t?.("runtime/replay/replay.js#askAgain@2149");
		const order = this.#living?.asked;
		const isShared = this.#shared.get(recorded.act)?.has(recorded.key) === true;
		if (!(order === void 0 ? isShared || recorded.asked === place : order[nth] === recorded.key)) throw misplaced(recorded, order === void 0 ? place : order[nth] ?? "", this.#log().state);
	}
	unrepeated(act, key) {globalThis.__t?.("runtime/replay/replay.js#unrepeated@2502");
		return this.#living?.act === act ? this.#living.unrepeated?.find((step) => (globalThis.__t?.("runtime/replay/replay.js#anonymous@2582"),(step.key === key)))?.error : void 0;
	}
	notAsked(act, unasked, failure) {globalThis.__t?.("runtime/replay/replay.js#notAsked@2639");
		const missed = unasked.find(({ started }) => (globalThis.__t?.("runtime/replay/replay.js#missed@2695"),(this.#mustAsk(started))));
		return missed && differenceOfMissed(act, missed, failure);
	}
	#mustAsk({ act, key }) {globalThis.__t?.("runtime/replay/replay.js#mustAsk@2810");
		const order = this.#living?.asked;
		return order === void 0 ? this.#shared.get(act)?.has(key) !== true : order.includes(key);
	}
	async run(host) {globalThis.__t?.("runtime/replay/replay.js#run@2969");
		for await (const read of this.#record) {
			const event = deepFreeze(read);
			if (host.scope.ended !== void 0) return "interrupted";
			this.#now = event.time;
			const isShared = event.seq <= this.#sharedTo;
			if (isShared) this.#share(event);
			if (!(isEnd(event) && !isShared && !isOuter(event) && this.#isOurs(this.#log().state.team))) this.#log().record(bodyOf(event));
			else if (await this.#liveAgain(event, host) === "suspended") return "interrupted";
		}
		return "idle";
	}
	#share(event) {globalThis.__t?.("runtime/replay/replay.js#share@3475");
		if (event.type === "act.started") this.#shared.set(event.act, /* @__PURE__ */ new Set());
		else if (event.type === "step.started") this.#shared.get(event.act)?.add(event.key);
		else if (isEnd(event)) this.#shared.delete(event.act);
	}
	async #liveAgain(event, host) {globalThis.__t?.("runtime/replay/replay.js#liveAgain@3741");
		const log = this.#log();
		if (log.state.roles.get(event.role)?.open === void 0) log.record(beginningOf(event, log.state, this.#now));
		this.#living = event;
		const end = await host.turn(roleOf(log.state, event.role));
		const now = log.latest;
		if (end !== "suspended" && now !== void 0 && isEnd(now) && canonicalEnd(now) !== canonicalEnd(event)) throw ended(event, now);
		return end;
	}
};
/** What an activation asked then and did not ask now, because of an error perhaps. */
function differenceOfMissed(act, { started }, failure) {globalThis.__t?.("runtime/replay/replay.js#differenceOfMissed@4242");
	const { name, request } = started;
	return differenceOf(`${act} asked for "${name}" then, and does not now${failure === void 0 ? "" : `, but fails: ${errorRecord(failure).message}`}`, {
		kind: "not asked",
		act,
		name,
		recorded: request,
		now: null
	}, failure);
}
function asked({ act, name, request, asked: place, in: parent }, state) {globalThis.__t?.("runtime/replay/replay.js#asked@4571");
	const then = stepsOf(act, state).find((started) => (globalThis.__t?.("runtime/replay/replay.js#then@4684"),(started.asked === place && started.in === parent)));
	return differenceOf(then === void 0 ? `${act} asks for "${name}" now, and did not then` : `${act} asks "${name}" otherwise than "${then.name}" then`, {
		kind: "asked",
		act,
		name,
		recorded: then?.request ?? null,
		now: request
	});
}
/** @param wanted the key, or the place in the order of asking, of the step that was asked for there */
function misplaced({ act, name, request }, wanted, state) {globalThis.__t?.("runtime/replay/replay.js#misplaced@5094");
	const then = stepsOf(act, state).filter((started) => (globalThis.__t?.("runtime/replay/replay.js#then@5195"),(started.in === void 0))).find((started) => (globalThis.__t?.("runtime/replay/replay.js#then@5236"),((typeof wanted === "string" ? started.key : started.asked) === wanted)));
	return differenceOf(`${act} asks for "${name}" where it asked for ${then === void 0 ? "nothing" : `"${then.name}"`} then: its steps come in another order`, {
		kind: "asked",
		act,
		name,
		recorded: then?.request ?? null,
		now: request
	});
}
function stepsOf(act, state) {globalThis.__t?.("runtime/replay/replay.js#stepsOf@5569");
	return [...state.roles.get(roleNameIn(act))?.open?.steps.values() ?? []].map(({ started }) => (globalThis.__t?.("runtime/replay/replay.js#anonymous@5678"),(started)));
}
function ended(then, now) {globalThis.__t?.("runtime/replay/replay.js#ended@5707");
	const text = `${then.act} does not end as it did`;
	const plain = (event) => (globalThis.__t?.("runtime/replay/replay.js#plain@5802"),(JSON.parse(canonicalEnd(event))));
	return differenceOf(text, {
		kind: "ended",
		act: then.act,
		recorded: plain(then),
		now: plain(now)
	});
}
function differenceOf(text, data, cause) {globalThis.__t?.("runtime/replay/replay.js#differenceOf@5959");
	return new DifferenceError("DIFFERENCE", `Expected the run to repeat its record, but ${text}. The code, a prompt or the team is not what it was: replay it with those it was made with, or fork it.`, {
		data,
		cause
	});
}
function isEnd(event) {globalThis.__t?.("runtime/replay/replay.js#isEnd@6226");
	return event.type === "act.ended" || event.type === "act.failed";
}
/** A step that was late is none of them: that is recorded, and comes back as another error of the same code. */
function isOuter(event) {globalThis.__t?.("runtime/replay/replay.js#isOuter@6432");
	return event.type === "act.failed" && OUTER_FAILURES.has(`${event.error.name} ${event.error.code}`);
}
/** Live, an activation without steps has no beginning in the record; a replay needs to know what it consumed and when. */
function beginningOf({ act, role, take, at }, state, now) {globalThis.__t?.("runtime/replay/replay.js#beginningOf@6685");
	const known = state.roles.get(role);
	const attempt = (known?.retry.failures ?? 0) + 1;
	return {
		type: "act.started",
		act,
		role,
		n: known?.n ?? 0,
		attempt,
		take,
		at: at ?? now
	};
}
function bodyOf({ v: _v, runId: _runId, seq: _seq, time: _time, ...body }) {globalThis.__t?.("runtime/replay/replay.js#bodyOf@6943");
	return body;
}
export { Replay };
