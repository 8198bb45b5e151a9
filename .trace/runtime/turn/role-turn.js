import { TimeoutError } from "../../kernel/errors.js";
import { TimeLimit } from "../../kernel/cancellation.js";
import { mailboxOf } from "../record/delivery.js";
import { ActivationSteps } from "../steps/steps.js";
import { Activation } from "./activation.js";
import { NO_STEPS, commit, failedWith, recordBegin } from "./commit.js";
// ../../work/wt/lead/src/runtime/turn/role-turn.ts
/**
* One attempt at an activation of a role that observes, thinks and acts. It owns the scope of its work, the limit on its time, and its steps. What
* the activation changed belongs to the activation until it is committed.
*
* RoleTurn.T1 (`#over`) what takes effect is what the body had done when it ended; work that it started and did not await is waited for, and the
* time limit holds for that too. RoleTurn.T2 (`scope`, `steps`) without a step there are no steps, and without a wait no promise, no scope and
* no timer.
*/
var RoleTurn = class {
	definition;
	role;
	tools;
	begun;
	#activation;
	#phase = "running";
	#scope;
	#limit;
	#steps;
	constructor(tools, definition, role, begun) {globalThis.__t?.("runtime/turn/role-turn.js#constructor@1051");
		this.tools = tools;
		this.definition = definition;
		this.role = role;
		this.begun = begun;
		this.#activation = new Activation(this);
	}
	/** Cancels the work of this attempt. */
	get scope() {globalThis.__t?.("runtime/turn/role-turn.js#scope get@1280");
		if (this.#scope === void 0) {
			this.#scope = this.tools.scopes.begin();
			if (this.#phase === "over") this.#scope.close();
		}
		return this.#scope;
	}
	get steps() {globalThis.__t?.("runtime/turn/role-turn.js#steps get@1452");
		return this.#steps ??= this.#makeSteps();
	}
	/** Milliseconds: the time of the last released answer, or of the beginning. */
	get now() {globalThis.__t?.("runtime/turn/role-turn.js#now get@1593");
		return this.#steps === void 0 ? this.begun.at : this.#steps.now;
	}
	/** Runs the body and commits its outcome: at once, where nothing in it waits. */
	run() {globalThis.__t?.("runtime/turn/role-turn.js#run@1755");
		let body;
		try {
			body = this.#activation.run();
		} catch (error) {
			return this.#over(this.#interruption() ?? failedWith(error));
		}
		return body === void 0 ? this.#over(this.#interruption()) : this.#await(body);
	}
	#await(body) {globalThis.__t?.("runtime/turn/role-turn.js#await@1994");
		const { state } = this.tools.log;
		if (state.delivery === "turn" && mailboxOf(state, this.role).overflow === "drop-oldest") recordBegin(this.tools, this.role, this.begun);
		this.#timeLimit();
		return this.scope.until(body).then(() => (globalThis.__t?.("runtime/turn/role-turn.js#anonymous@2236"),(this.#over())), (error) => (globalThis.__t?.("runtime/turn/role-turn.js#anonymous@2256"),(this.#over(failedWith(error)))));
	}
	/** What came from outside while the body ran without a wait. */
	#interruption() {globalThis.__t?.("runtime/turn/role-turn.js#interruption@2382");
		const ended = this.tools.scopes.ended ?? this.#scope?.ended;
		return ended && failedWith(ended.reason);
	}
	/** @param failure how the body failed, if it did */
	#over(failure) {globalThis.__t?.("runtime/turn/role-turn.js#over@2557");
		this.#activation.close();
		const outcome = failure ?? this.#changes();
		if (this.#steps === void 0) return this.#commit(outcome);
		this.#timeLimit();
		return this.#steps.close().then(() => (globalThis.__t?.("runtime/turn/role-turn.js#anonymous@2758"),(this.#commit(outcome))));
	}
	/** A state that left its schema, or that is no JSON, fails the activation at its end. */
	#changes() {globalThis.__t?.("runtime/turn/role-turn.js#changes@2891");
		try {
			return {
				kind: "done",
				changes: this.#activation.changes()
			};
		} catch (error) {
			return failedWith(error);
		}
	}
	#commit(outcome) {globalThis.__t?.("runtime/turn/role-turn.js#commit@3044");
		this.#phase = "over";
		this.#limit?.stop();
		this.#scope?.close();
		const judged = this.#judged(outcome);
		const placed = judged.kind === "failed" ? {
			...judged,
			place: this.#placeOf(judged.error)
		} : judged;
		const result = commit(this.tools, this.definition.spec, this.role, this.begun, placed, this.#stepsSummary());
		if (judged.kind === "done") this.#activation.settle();
		return result;
	}
	/** What came from outside while the body ended counts more than its own outcome. */
	#judged(outcome) {globalThis.__t?.("runtime/turn/role-turn.js#judged@3562");
		const late = this.#scope?.ended?.reason;
		const control = this.tools.mode === "replay" && outcome.kind !== "interrupted" ? this.#notAsked(outcome) : void 0;
		if (control !== void 0) return {
			kind: "interrupted",
			control
		};
		if (late instanceof TimeoutError) return {
			kind: "failed",
			error: late
		};
		return this.#steps?.control === void 0 ? outcome : {
			kind: "interrupted",
			control: this.#steps.control
		};
	}
	#notAsked(outcome) {globalThis.__t?.("runtime/turn/role-turn.js#notAsked@4022");
		if (!this.#hasSteps) return void 0;
		return this.tools.past.notAsked(this.begun.act, this.steps.unasked, outcome.kind === "failed" ? outcome.error : void 0);
	}
	#placeOf(error) {globalThis.__t?.("runtime/turn/role-turn.js#placeOf@4207");
		return {
			action: this.#activation.actionBehind(error),
			step: this.#steps?.failedStep
		};
	}
	#stepsSummary() {globalThis.__t?.("runtime/turn/role-turn.js#stepsSummary@4332");
		if (!this.#hasSteps) return NO_STEPS;
		return {
			life: this.steps.life,
			failedStep: this.#steps?.failedStep
		};
	}
	get #hasSteps() {globalThis.__t?.("runtime/turn/role-turn.js#hasSteps get@4475");
		return this.#steps !== void 0 || this.role.open !== void 0;
	}
	#makeSteps() {globalThis.__t?.("runtime/turn/role-turn.js#makeSteps@4556");
		const { log, clock, gate, mask, past, mode } = this.tools;
		const { role, begun } = this;
		return new ActivationSteps({
			act: begun.act,
			log,
			gate,
			mask,
			now: () => (globalThis.__t?.("runtime/turn/role-turn.js#now@4738"),(clock.now())),
			scope: this.scope,
			begin: () => (globalThis.__t?.("runtime/turn/role-turn.js#begin@4789"),(recordBegin(this.tools, role, begun))),
			waitsForPerson: (isAsked) => (globalThis.__t?.("runtime/turn/role-turn.js#waitsForPerson@4852"),(this.#timeLimit().hold(isAsked))),
			recorded: role.open?.steps,
			carried: role.retry.carry,
			paid: role.retry.paid,
			past,
			mode,
			runId: log.state.runId,
			role: role.name,
			startedAt: begun.at,
			isOver: this.#phase === "over"
		});
	}
	/** Counts from the beginning of the attempt, whenever it is made. */
	#timeLimit() {globalThis.__t?.("runtime/turn/role-turn.js#timeLimit@5199");
		if (this.#limit !== void 0) return this.#limit;
		const { clock } = this.tools;
		const { timeout } = this.definition.spec.role;
		const name = `the activation ${this.begun.act} (steps inside a step go through the door that its effect is given)`;
		const fire = () => (globalThis.__t?.("runtime/turn/role-turn.js#fire@5468"),(this.scope.end(this.#steps?.control ?? new TimeoutError(name, timeout))));
		this.#limit = new TimeLimit(clock, Math.max(0, timeout - (clock.now() - this.begun.beganAt)), fire);
		return this.#limit;
	}
};
export { RoleTurn };
