import { damaged, openNamed, roleOf } from "./damage.js";
import { roleNameIn } from "./names.js";
import { progress } from "./run-state.js";
// ../../work/wt/lead/src/runtime/record/apply-steps.ts
/** Kinds of steps that are named by the model they ask. */
const BY_MODELS = /* @__PURE__ */ new Set(["model", "embedding"]);
/** A try of a step began, and holds what it may cost. */
function openStep(state, event) {globalThis.__t?.("runtime/record/apply-steps.js#openStep@383");
	const open = openNamed(state, event.act);
	const { steps } = open;
	open.isUnderWay = true;
	const before = steps.get(event.key);
	if (before?.outcome !== void 0) throw damaged(`a step was tried again after its answer: ${event.act} ${event.key}`);
	if (before?.inFlight === true) settleAtHold(state, before.started);
	steps.set(event.key, {
		started: event,
		inFlight: true,
		paid: before?.paid ?? 0,
		outcome: void 0
	});
	state.ledger.open(holdKey(event), event.hold, event.unpriced === true);
}
/** A try of a step ended, and is settled. */
function endStep(state, event) {globalThis.__t?.("runtime/record/apply-steps.js#endStep@966");
	const open = openNamed(state, event.act);
	const { steps } = open;
	const record = steps.get(event.key);
	if (record === void 0) throw damaged(`a step ended that had not started: ${event.act} ${event.key}`);
	if (record.outcome !== void 0 || event.retry === true && !record.inFlight) throw damaged(`a step ended twice: ${event.act} ${event.key}`);
	if (record.inFlight) settleTry(state, record.started, event);
	state.saved += event.saved ?? 0;
	const paid = record.paid + (event.cost ?? 0);
	if (event.retry === true) {
		steps.set(event.key, {
			...record,
			inFlight: false,
			paid
		});
		return;
	}
	progress(state);
	open.deaths = 0;
	if (record.started.reused !== void 0) {
		state.reused += 1;
		if (record.started.kind === "model") state.reusedCalls += 1;
	} else if (record.started.kind === "model") state.calls += 1;
	steps.set(event.key, {
		...record,
		inFlight: false,
		paid,
		outcome: {
			ok: event.ok,
			value: event.value ?? null,
			error: event.error,
			at: event.at
		}
	});
}
function settleTry(state, started, event) {globalThis.__t?.("runtime/record/apply-steps.js#settleTry@2006");
	if (event.try !== started.try) throw damaged(`try ${event.try} of a step ended while try ${started.try} was open: ${event.act} ${event.key}`);
	settle(state, started, {
		cost: event.cost === null ? void 0 : event.cost,
		basis: event.basis,
		...event.usage === void 0 ? {} : { usage: event.usage }
	});
}
function settle(state, started, settlement) {globalThis.__t?.("runtime/record/apply-steps.js#settle@2358");
	state.ledger.settle(holdKey(started), settlement);
	state.byRole.add(roleNameIn(started.act), settlement);
	if (BY_MODELS.has(started.kind)) state.byModel.add(started.name, settlement);
}
function holdKey(event) {globalThis.__t?.("runtime/record/apply-steps.js#holdKey@2593");
	return `${event.act} ${event.key} ${event.try}`;
}
/** Nobody knows whether it happened, so it counts as paid. */
function settleAtHold(state, started) {globalThis.__t?.("runtime/record/apply-steps.js#settleAtHold@2734");
	const { hold, unpriced } = started;
	settle(state, started, unpriced === true ? {
		cost: void 0,
		basis: "usage"
	} : {
		cost: hold,
		basis: hold > 0 ? "hold" : "none"
	});
}
/** Steps whose last try was never ended: nobody knows whether they happened. */
function stepsInFlight(state) {globalThis.__t?.("runtime/record/apply-steps.js#stepsInFlight@3035");
	return [...state.open].flatMap((name) => {globalThis.__t?.("runtime/record/apply-steps.js#anonymous@3099");
		const role = roleOf(state, name);
		return [...role.open?.steps.values() ?? []].filter((record) => (globalThis.__t?.("runtime/record/apply-steps.js#anonymous@3200"),(record.inFlight))).map((record) => ((globalThis.__t?.("runtime/record/apply-steps.js#anonymous@3233"),({
			role,
			record
		}))));
	});
}
export { endStep, openStep, settleAtHold, stepsInFlight };
