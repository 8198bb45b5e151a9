import { abortReason, interruptionBy, onAbort, throwIfAborted } from "../kernel/abort.js";
import { ContextClosedError, TimeoutError } from "../kernel/errors.js";
import { CancellationScope, TimeLimit, cancellationOf, throwIfEnded } from "../kernel/cancellation.js";
import { isThenable } from "../kernel/value-kind.js";
import { plainResult, plainText } from "./plain-result.js";
import { interruptionIn, toldOf } from "./plain-value.js";
import { isFailure, toolFailure } from "./tool-result.js";
// ../../work/wt/lead/src/tool/run-tool.ts
/** Longest notice of progress, and most notices of one call. */
const MAX_PROGRESS = 2e3;
const MAX_NOTICES = 1e3;
/**
* Runs a tool within its time, whatever it does: it may throw, hang, or return something that is no JSON. Its late answer is ignored.
*
* @throws ControlError when the run stops, or when the tool was interrupted inside.
*/
async function runTool(tool, args, door, reach) {globalThis.__t?.("tool/run-tool.js#runTool@885");
	throwIfAborted(reach.signal);
	throwIfEnded(cancellationOf(door.ending ?? door.signal));
	const running = new RunningTool(tool, door, reach);
	try {
		const begun = running.begin(args);
		const result = plainResult(isThenable(begun) ? await begun : begun, tool.maxOutput);
		return {
			outcome: isFailure(result) ? "failed" : "ok",
			result
		};
	} catch (error) {
		if (running.isLate) return {
			outcome: "timeout",
			result: toolFailure(lateText(tool))
		};
		const interruption = interruptionIn(error);
		if (interruption !== void 0) throw interruption;
		return {
			outcome: "failed",
			result: toolFailure(plainText(toldOf(error), tool.maxOutput))
		};
	} finally {
		running.close();
	}
}
function lateText({ name, timeout }) {globalThis.__t?.("tool/run-tool.js#lateText@1638");
	return `the tool "${name}" did not end within ${timeout / 1e3} seconds and was stopped. What it had begun may have happened. Ask for less at once, or go another way.`;
}
/**
* One run of one tool. It owns the run's time and signal.
*
* `RunTool.N1` time spent waiting for a person does not count (`#askPerson`). `RunTool.N2` after its end the tool can do nothing through
* its context (`close`). `RunTool.N3` notices of progress are bounded (`#context`).
*/
var RunningTool = class {
	#tool;
	#door;
	#reach;
	/** The end of the step that the call is. */
	#ending;
	#life = new CancellationScope();
	#begun;
	/** Made when the tool waits: a tool that answers at once needs no timer. */
	#limit;
	#unlisten;
	#isLate = false;
	#isClosed = false;
	#persons = 0;
	#notices = 0;
	constructor(tool, door, reach) {globalThis.__t?.("tool/run-tool.js#constructor@2465");
		this.#tool = tool;
		this.#door = door;
		this.#reach = reach;
		this.#begun = reach.clock.now();
		this.#ending = cancellationOf(door.ending ?? door.signal);
		const interrupt = () => {globalThis.__t?.("tool/run-tool.js#interrupt@2668");
			const reason = this.#interruption();
			if (reason !== void 0) this.#life.end(reason);
		};
		this.#unlisten = [onAbort(reach.signal, interrupt), this.#ending.onEnd(interrupt)];
	}
	/** Calls the tool and waits for its answer within its time. An answer without a promise is never late. */
	begin(args) {globalThis.__t?.("tool/run-tool.js#begin@2974");
		let answer;
		try {
			answer = this.#tool.execute(args, this.#context());
		} catch (error) {
			throw this.#interruption() ?? error;
		}
		if (isThenable(answer)) {
			this.#limit ??= this.#timeLimit();
			return this.#life.until(Promise.resolve(answer));
		}
		const reason = this.#interruption();
		if (reason !== void 0) throw reason;
		return answer;
	}
	/** True when the time was up before anybody stopped the call. */
	get isLate() {globalThis.__t?.("tool/run-tool.js#isLate get@3423");
		return this.#isLate;
	}
	close() {globalThis.__t?.("tool/run-tool.js#close@3460");
		this.#isClosed = true;
		this.#limit?.stop();
		for (const unlisten of this.#unlisten) unlisten();
	}
	#interruption() {globalThis.__t?.("tool/run-tool.js#interruption@3583");
		const { signal } = this.#reach;
		if (signal.aborted) return abortReason(signal);
		const { ended } = this.#ending;
		return ended && interruptionBy(ended.reason);
	}
	#context() {globalThis.__t?.("tool/run-tool.js#context@3766");
		const door = this.#door;
		const { clock, ask, model, session, deps, progress } = this.#reach;
		const step = (spec, effect) => {globalThis.__t?.("tool/run-tool.js#step@3883");
			if (this.#isClosed) return Promise.reject(new ContextClosedError(this.#tool.name, `step ${spec.name}`));
			return door.step(spec, effect);
		};
		return Object.freeze({
			key: door.key,
			mode: door.mode,
			signal: this.#life.signal,
			model: model?.({ step }),
			step,
			clock,
			progress: (text) => {globalThis.__t?.("tool/run-tool.js#progress@4205");
				if (!this.#isClosed && this.#notices++ < MAX_NOTICES) progress(String(text).slice(0, MAX_PROGRESS));
			},
			...ask === void 0 ? {} : { ask: (question) => (globalThis.__t?.("tool/run-tool.js#ask@4363"),(this.#askPerson(step, ask, question))) },
			...session === void 0 ? {} : { session },
			...deps === void 0 ? {} : { deps }
		});
	}
	async #askPerson(step, ask, text) {globalThis.__t?.("tool/run-tool.js#askPerson@4526");
		const { role } = this.#reach;
		this.#hold(++this.#persons > 0);
		try {
			return await step({
				kind: "human",
				name: "ask",
				request: {
					role,
					question: text
				}
			}, async (door) => (globalThis.__t?.("tool/run-tool.js#anonymous@4738"),(ask({
				id: door.key,
				text,
				role
			}, { signal: this.#life.signal }))));
		} finally {
			this.#hold(--this.#persons > 0);
		}
	}
	#hold(isHeld) {globalThis.__t?.("tool/run-tool.js#hold@4899");
		if (this.#isClosed) return;
		this.#limit ??= this.#timeLimit();
		this.#limit.hold(isHeld);
	}
	#timeLimit() {globalThis.__t?.("tool/run-tool.js#timeLimit@5019");
		const { name, timeout } = this.#tool;
		const { clock } = this.#reach;
		return new TimeLimit(clock, Math.max(0, timeout - (clock.now() - this.#begun)), () => {globalThis.__t?.("tool/run-tool.js#anonymous@5179");
			this.#isLate = true;
			this.#life.end(new TimeoutError(`the tool "${name}"`, timeout));
		});
	}
};
export { runTool };
