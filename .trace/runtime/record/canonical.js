import { iterable, takes } from "../../kernel/argument.js";
import { canonicalJson } from "../../kernel/json.js";
import { deliveryOf } from "../schedulers/scheduler.js";
// ../../work/wt/lead/src/runtime/record/canonical.ts
/**
* Returns what a run did as text, one line for each entry, that is equal for equal behaviour. Steps stand in the order they were asked
* within their activation, activations by round and hire order (with the scheduler `eager`, in the order they ended). Left out is what may
* differ between two such runs: run id, sequence numbers, times, tries, holds, spend, resumes, and the random ids of messages from
* outside.
*
* @throws UsageError `ARGUMENT_INVALID` for events that cannot be iterated
* @example
* import { canonical, type RunEvent } from "troupe";
*
* export function didTheSame(one: readonly RunEvent[], other: readonly RunEvent[]): boolean {
*   return canonical(one) === canonical(other);
* }
*/
function canonical(events) {globalThis.__t?.("runtime/record/canonical.js#canonical@937");
	return canonicalLines(events).join("\n");
}
/** The lines of {@link canonical}. */
function canonicalLines(events) {globalThis.__t?.("runtime/record/canonical.js#canonicalLines@1050");
	takes("canonical", "events", events, iterable("events of a run"));
	const log = new CanonicalLog();
	for (const event of events) log.add(event);
	return log.lines();
}
/** The order of a message from outside that waits for the end of a round: after all roles. */
const AFTER_ROLES = Number.MAX_SAFE_INTEGER;
var CanonicalLog = class {
	#entries = [];
	#hireOrder = /* @__PURE__ */ new Map();
	#steps = /* @__PURE__ */ new Map();
	/** Names of messages from outside by id, because their ids may be random. */
	#outside = /* @__PURE__ */ new Map();
	#header = {};
	#end = { type: "open" };
	#isDeliveredAtOnce = false;
	#round = 0;
	#nth = 0;
	add(event) {globalThis.__t?.("runtime/record/canonical.js#add@1730");
		switch (event.type) {
			case "run.started":
				this.#hire(event.roles);
				this.#isDeliveredAtOnce = (event.delivery ?? deliveryOf(event.scheduler)) === "turn";
				this.#header = {
					type: event.type,
					team: event.team,
					roles: event.roles,
					seed: event.seed,
					scheduler: event.scheduler,
					...event.parameters === void 0 ? {} : { parameters: event.parameters }
				};
				return;
			case "message":
				this.#outside.set(event.message.id, `outside#${this.#outside.size + 1}`);
				return this.#push(event.atBarrier === true ? AFTER_ROLES : -1, [{
					type: event.type,
					...sent(event, this.#outside)
				}]);
			case "step.started":
				this.#stepsOf(event.act).set(event.key, {
					started: event,
					ended: void 0
				});
				return;
			case "step.ended":
				if (event.retry !== true) this.#endStep(event);
				return;
			case "act.ended": return this.#push(this.#orderOf(event.role), [...this.#stepLines(event.act), ended(event, this.#outside)]);
			case "act.failed": return this.#push(this.#orderOf(event.role), [...this.#stepLines(event.act), failed(event)]);
			case "round.ended":
				this.#round = event.round + 1;
				return;
			case "run.ended":
				this.#end = {
					type: event.type,
					status: event.status,
					...event.error === void 0 ? {} : { error: event.error }
				};
				return;
			case "run.resumed":
				if (event.roles !== void 0) this.#hire(event.roles);
				if (event.hired === true) this.#push(-1, [{
					type: "hired",
					roles: event.roles
				}]);
				return;
			case "act.started":
			case "act.resumed": return;
		}
	}
	/** New roles come after the known ones. */
	#hire(roles) {globalThis.__t?.("runtime/record/canonical.js#hire@3388");
		for (const { name } of roles) if (!this.#hireOrder.has(name)) this.#hireOrder.set(name, this.#hireOrder.size);
	}
	lines() {globalThis.__t?.("runtime/record/canonical.js#lines@3520");
		const open = [...this.#steps.keys()].toSorted().flatMap((act) => (globalThis.__t?.("runtime/record/canonical.js#open@3583"),(this.#stepLines(act))));
		const entries = this.#entries.toSorted((a, b) => (globalThis.__t?.("runtime/record/canonical.js#entries@3656"),(a.place[0] - b.place[0] || a.place[1] - b.place[1] || a.place[2] - b.place[2])));
		return [
			this.#header,
			...entries.flatMap((entry) => (globalThis.__t?.("runtime/record/canonical.js#anonymous@3796"),(entry.lines))),
			...open,
			this.#end
		].map(canonicalJson);
	}
	#push(order, lines) {globalThis.__t?.("runtime/record/canonical.js#push@3879");
		this.#entries.push({
			place: [
				this.#round,
				this.#isDeliveredAtOnce ? 0 : order,
				this.#nth
			],
			lines
		});
		this.#nth += 1;
	}
	#orderOf(role) {globalThis.__t?.("runtime/record/canonical.js#orderOf@4054");
		return this.#hireOrder.get(role) ?? 0;
	}
	#stepsOf(act) {globalThis.__t?.("runtime/record/canonical.js#stepsOf@4116");
		const known = this.#steps.get(act);
		if (known !== void 0) return known;
		const steps = /* @__PURE__ */ new Map();
		this.#steps.set(act, steps);
		return steps;
	}
	#endStep(event) {globalThis.__t?.("runtime/record/canonical.js#endStep@4302");
		const step = this.#stepsOf(event.act).get(event.key);
		if (step !== void 0) step.ended = event;
	}
	#stepLines(act) {globalThis.__t?.("runtime/record/canonical.js#stepLines@4425");
		const steps = [...this.#steps.get(act)?.values() ?? []];
		this.#steps.delete(act);
		return inOrder(steps).map(({ started, ended: end }) => ((globalThis.__t?.("runtime/record/canonical.js#anonymous@4547"),({
			type: "step",
			act,
			kind: started.kind,
			name: started.name,
			in: started.in,
			key: started.key,
			request: started.request,
			ok: end?.ok,
			value: started.kind === "memory" ? renamed(end?.value, this.#outside) : end?.value,
			error: end?.error
		}))));
	}
};
/** Steps inside a step run at the same time and are asked in an order that latencies decide, so they are ordered by key. */
function inOrder(steps) {globalThis.__t?.("runtime/record/canonical.js#inOrder@4981");
	const within = /* @__PURE__ */ new Map();
	for (const step of steps) {
		const siblings = within.get(step.started.in);
		if (siblings === void 0) within.set(step.started.in, [step]);
		else siblings.push(step);
	}
	const byKey = (a, b) => (globalThis.__t?.("runtime/record/canonical.js#byKey@5237"),(a.started.key < b.started.key ? -1 : 1));
	const byPlace = (a, b) => (globalThis.__t?.("runtime/record/canonical.js#byPlace@5304"),(a.started.asked - b.started.asked));
	const below = (parent) => (globalThis.__t?.("runtime/record/canonical.js#below@5364"),((within.get(parent) ?? []).toSorted(parent === void 0 ? byPlace : byKey).flatMap((step) => (globalThis.__t?.("runtime/record/canonical.js#anonymous@5457"),([step, ...below(step.started.key)])))));
	return below(void 0);
}
/** The end of an activation as text, without times: equal for equal ends. */
function canonicalEnd(event) {globalThis.__t?.("runtime/record/canonical.js#canonicalEnd@5607");
	return canonicalJson(event.type === "act.ended" ? ended(event, /* @__PURE__ */ new Map()) : failed(event));
}
function sent(event, names) {globalThis.__t?.("runtime/record/canonical.js#sent@5749");
	return {
		message: timeless(event.message, names),
		to: event.to,
		dead: event.dead,
		dropped: event.dropped
	};
}
function timeless(message, names) {globalThis.__t?.("runtime/record/canonical.js#timeless@5899");
	const { timestamp: _timestamp, ...rest } = message;
	return {
		...rest,
		id: named(message.id, names),
		parents: message.parents.map((id) => (globalThis.__t?.("runtime/record/canonical.js#parents@6072"),(named(id, names))))
	};
}
function renamed(value, names) {globalThis.__t?.("runtime/record/canonical.js#renamed@6104");
	if (typeof value === "string") return named(value, names);
	if (Array.isArray(value)) return value.map((item) => (globalThis.__t?.("runtime/record/canonical.js#anonymous@6241"),(renamed(item, names))));
	if (typeof value !== "object" || value === null) return value;
	return mapValues(value, (member) => (globalThis.__t?.("runtime/record/canonical.js#anonymous@6363"),(renamed(member, names))));
}
function named(id, names) {globalThis.__t?.("runtime/record/canonical.js#named@6402");
	return names.get(id) ?? id;
}
function ended(event, names) {globalThis.__t?.("runtime/record/canonical.js#ended@6461");
	return {
		type: event.type,
		act: event.act,
		round: event.round,
		take: event.take,
		said: event.said.map((each) => (globalThis.__t?.("runtime/record/canonical.js#said@6605"),(sent(each, names)))),
		memory: event.memory.map((op) => (globalThis.__t?.("runtime/record/canonical.js#memory@6662"),(timelessOp(op, names)))),
		working: event.working.map((op) => (globalThis.__t?.("runtime/record/canonical.js#working@6723"),(timelessOp(op, names)))),
		state: event.state,
		plan: event.plan,
		joins: event.joins === void 0 ? void 0 : mapValues(event.joins, (inputs) => (globalThis.__t?.("runtime/record/canonical.js#joins@6863"),(mapValues(inputs, (id) => (globalThis.__t?.("runtime/record/canonical.js#anonymous@6893"),(named(id, names))))))),
		summary: event.summary === void 0 ? void 0 : {
			...event.summary,
			covered: event.summary.covered.map((id) => (globalThis.__t?.("runtime/record/canonical.js#covered@7029"),(named(id, names))))
		}
	};
}
function timelessOp(op, names) {globalThis.__t?.("runtime/record/canonical.js#timelessOp@7065");
	if (op[0] === "0") return op;
	return [op[0], typeof op[1] === "string" ? named(op[1], names) : timeless(op[1], names)];
}
function mapValues(record, change) {globalThis.__t?.("runtime/record/canonical.js#mapValues@7222");
	return Object.fromEntries(Object.entries(record).map(([key, value]) => (globalThis.__t?.("runtime/record/canonical.js#anonymous@7313"),([key, change(value)]))));
}
function failed(event) {globalThis.__t?.("runtime/record/canonical.js#failed@7357");
	return {
		type: event.type,
		act: event.act,
		round: event.round,
		take: event.take,
		error: event.error,
		then: event.then
	};
}
export { canonical, canonicalEnd, canonicalLines };
