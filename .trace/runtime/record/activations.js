import { applyMemoryOp } from "../../memory/memory-draft.js";
import { Plan } from "../../role/plan.js";
import { damaged, openNamed, roleOf } from "./damage.js";
import { deliver, deliverHeld } from "./delivery.js";
import { NO_RETRY } from "./role-state.js";
import { progress } from "./run-state.js";
// ../../work/wt/lead/src/runtime/record/activations.ts
/** Applies the beginning of an activation. */
function openActivation(state, event) {globalThis.__t?.("runtime/record/activations.js#openActivation@407");
	const { act, attempt, take, at } = event;
	const role = roleOf(state, event.role);
	if (role.open !== void 0) throw damaged(`${role.name} began ${act} while ${role.open.act} was open`);
	if (act !== role.nextAct) throw damaged(`${act} is not the next activation of ${role.name}`);
	if (take > role.waiting) throw damaged(`${act} takes ${take} messages of ${role.waiting}`);
	role.activation = {
		kind: "open",
		open: {
			act,
			attempt,
			take,
			at,
			steps: /* @__PURE__ */ new Map(),
			crashes: 0,
			deaths: 0,
			isUnderWay: true
		},
		retry: role.retry
	};
	state.open.add(role.name);
}
/** Applies that an open activation began again: if the process dies now, it may be the reason. */
function resumeActivation(state, event) {globalThis.__t?.("runtime/record/activations.js#resumeActivation@1149");
	openNamed(state, event.act).isUnderWay = true;
}
/** Applies everything that an activation changed. */
function endActivation(state, event) {globalThis.__t?.("runtime/record/activations.js#endActivation@1295");
	const role = actingRole(state, event);
	const taken = consume(state, role, event.take);
	if (event.memory.length > 0 || event.working.length > 0) rememberAll(role, event, taken);
	if (event.state !== void 0) role.custom = changedState(role.custom, event.state);
	if (event.plan !== void 0) role.plan = Plan.fromJSON(event.plan);
	if (event.joins !== void 0) role.joins = {
		...role.joins,
		...event.joins
	};
	if (event.summary !== void 0) role.summary = event.summary;
	completeActivation(state, role);
	for (const sent of event.said) if (state.delivery === "round") state.pending.push({
		order: role.index,
		sent
	});
	else deliver(state, sent, role.index);
}
/**
* Applies that an attempt failed. It is tried again with the same messages, at once or when the run goes on. The next attempt gets the good
* answers if a step was at fault, and also if the failure ended the run: then somebody has most likely mended the code.
*/
function failActivation(state, event) {globalThis.__t?.("runtime/record/activations.js#failActivation@2268");
	const role = actingRole(state, event);
	const { retry } = role;
	const keepsAnswers = event.stepFailed || event.then === "stop" && !blamesAnswers(event.error);
	const failed = {
		failures: retry.failures + 1,
		strikes: retry.strikes + 1,
		isolated: retry.isolated,
		carry: keepsAnswers ? goodAnswers(role) : NO_RETRY.carry,
		paid: paidSoFar(role),
		retake: event.take
	};
	progress(state);
	state.open.delete(role.name);
	const isolated = {
		...failed,
		isolated: event.take,
		retake: 1,
		strikes: 0
	};
	role.activation = {
		kind: "waiting",
		retry: event.then === "isolate" ? isolated : failed
	};
	if (event.then !== "dead") return;
	for (const message of consume(state, role, event.take)) state.dead.push({
		message,
		reason: {
			kind: "failed",
			role: role.name,
			error: event.error
		}
	});
	completeActivation(state, role);
}
/** Makes failed activations ask for everything again. */
function forgetCarried(state) {globalThis.__t?.("runtime/record/activations.js#forgetCarried@3219");
	for (const role of state.roles.values()) if (role.retry.carry.size > 0) role.activation = {
		...role.activation,
		retry: {
			...role.retry,
			carry: NO_RETRY.carry
		}
	};
}
/** A role's custom state after a change of it. Keys that were there keep their place. */
function changedState(before, { set, unset }) {globalThis.__t?.("runtime/record/activations.js#changedState@3520");
	const after = {
		...before,
		...set
	};
	for (const key of unset) delete after[key];
	return after;
}
function completeActivation(state, role) {globalThis.__t?.("runtime/record/activations.js#completeActivation@3673");
	progress(state);
	role.completeActivation();
	state.open.delete(role.name);
	state.activations += 1;
	if (role.n > state.busiest) state.busiest = role.n;
	if (state.delivery === "round") {
		role.ranIn = state.round;
		state.acted += 1;
	} else deliverHeld(state);
}
/** The role of an activation that ended: it must be the role's open one, or its next one. */
function actingRole(state, event) {globalThis.__t?.("runtime/record/activations.js#actingRole@4078");
	const role = roleOf(state, event.role);
	if (event.act !== (role.open?.act ?? role.nextAct)) throw damaged(`${event.act} ended, which is not open`);
	return role;
}
/** Takes messages out of the mailbox. A role that has more mail stands behind all others. */
function consume(state, role, take) {globalThis.__t?.("runtime/record/activations.js#consume@4374");
	if (take > role.waiting) throw damaged(`${role.name} consumed ${take} messages but had ${role.waiting}`);
	const taken = [];
	for (let place = 0; place < take; place += 1) taken.push(role.mailbox.pop());
	state.ready.delete(role);
	if (role.waiting > 0) state.ready.add(role);
	return taken;
}
/** An event names the messages that its activation took or said by their ids. */
function rememberAll(role, { said, memory, working }, taken) {globalThis.__t?.("runtime/record/activations.js#rememberAll@4789");
	const known = knownMessages(taken, said);
	for (const op of memory) applyMemoryOp(role.memory, resolved(op, known));
	for (const op of working) applyMemoryOp(role.workingMemory, resolved(op, known));
}
/** The messages that an event of an activation may name, by id: those it said, else those it took. */
function knownMessages(taken, said) {globalThis.__t?.("runtime/record/activations.js#knownMessages@5158");
	const known = /* @__PURE__ */ new Map();
	for (const message of taken) known.set(message.id, message);
	for (const { message } of said) known.set(message.id, message);
	return known;
}
function resolved(op, known) {globalThis.__t?.("runtime/record/activations.js#resolved@5382");
	if (op[0] !== "+" || typeof op[1] !== "string") return op;
	const message = known.get(op[1]);
	if (message === void 0) throw damaged(`a memory names message ${op[1]}, which the run does not have`);
	return ["+", message];
}
/** With the same answers such an attempt would fail again. */
function blamesAnswers({ name, code }) {globalThis.__t?.("runtime/record/activations.js#blamesAnswers@5701");
	return name === "OutputError" || code === "AGENT_UNFINISHED";
}
function goodAnswers(role) {globalThis.__t?.("runtime/record/activations.js#goodAnswers@5807");
	const good = new Map(role.retry.carry);
	for (const [key, { outcome }] of role.open?.steps ?? []) if (outcome?.ok === true) good.set(key, outcome);
	return good;
}
/** An effect has the same key in every attempt, so one that the failed attempt began may go on in the next one. */
function paidSoFar(role) {globalThis.__t?.("runtime/record/activations.js#paidSoFar@6117");
	const paid = new Map(role.retry.paid);
	for (const [key, record] of role.open?.steps ?? []) if (record.paid > 0) paid.set(key, (paid.get(key) ?? 0) + record.paid);
	return paid;
}
export { changedState, endActivation, failActivation, forgetCarried, knownMessages, openActivation, resumeActivation };
