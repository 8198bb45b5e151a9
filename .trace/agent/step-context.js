import { throwIfAborted, withTimeout } from "../kernel/abort.js";
import { forbiddenBy } from "../tool/call-options.js";
import { callTools } from "../tool/call-tools.js";
import { toldOf } from "../tool/plain-value.js";
import { LoopDetector } from "./loop-detector.js";
import { remark } from "./remarks.js";
// ../../work/wt/lead/src/agent/step-context.ts
/** Denied calls that a result names, and the longest reason and name that are kept of each. */
const MAX_DENIED = 100;
const SHOWN_REASON = 500;
const SHOWN_NAME = 100;
/** Milliseconds that a tool has to let go of what it holds. */
const CLOSING_TIME = 1e4;
/** Longest part of an error in a warning. */
const SHOWN_ERROR = 500;
/**
* What the states of one run work with. It owns the number of the step under way, the calls since loops were looked for, the denied calls,
* and which tools ran.
*/
var StepContext = class {
	step = 0;
	denied = [];
	#parts;
	#loops;
	#opened = /* @__PURE__ */ new Set();
	#called = [];
	/** A call that the choice of tools demanded has run. */
	#hasActed = false;
	#isWarned = false;
	constructor(parts) {globalThis.__t?.("agent/step-context.js#constructor@1091");
		const { loops = {} } = parts.options;
		this.#parts = parts;
		this.#loops = loops === false ? void 0 : new LoopDetector(loops);
	}
	get signal() {globalThis.__t?.("agent/step-context.js#signal get@1246");
		return this.#parts.signal;
	}
	get clock() {globalThis.__t?.("agent/step-context.js#clock get@1293");
		return this.#parts.clock;
	}
	get nextStepPrompt() {globalThis.__t?.("agent/step-context.js#nextStepPrompt get@1348");
		return this.#parts.options.nextStepPrompt;
	}
	/** A tool that is named must be called once; then the model chooses, or the run would never end. */
	get toolChoice() {globalThis.__t?.("agent/step-context.js#toolChoice get@1518");
		const { toolChoice = "auto" } = this.#parts.options;
		return this.#hasActed && typeof toolChoice === "object" ? "auto" : toolChoice;
	}
	get tally() {globalThis.__t?.("agent/step-context.js#tally get@1672");
		return this.#parts.client.tally;
	}
	ask(question) {globalThis.__t?.("agent/step-context.js#ask@1719");
		return this.#parts.client.ask(question);
	}
	read(schema, question) {globalThis.__t?.("agent/step-context.js#read@1783");
		return this.#parts.client.read(schema, question);
	}
	async act(calls) {globalThis.__t?.("agent/step-context.js#act@1869");
		throwIfAborted(this.signal);
		const choice = this.toolChoice;
		const called = await (choice === "auto" || choice === "required" ? this.#run(calls) : this.#runChosen(choice, calls));
		throwIfAborted(this.signal);
		if (this.#loops !== void 0) this.#called.push(...called);
		for (const one of called) if (one.outcome === "denied") this.#denied(one);
		return called;
	}
	warn(code, text) {globalThis.__t?.("agent/step-context.js#warn@2258");
		this.#parts.tell({
			type: "warning",
			step: this.step,
			code,
			text
		});
	}
	/** True when the run must end because a loop went on after the model was told of one. */
	async isLooping() {globalThis.__t?.("agent/step-context.js#isLooping@2467");
		if (this.#loops === void 0 || this.#called.length === 0) return false;
		const { memory } = this.#parts;
		const period = this.#loops.add(this.#called, (name) => (globalThis.__t?.("agent/step-context.js#period@2626"),(memory.tools.find(name)?.polls === true)));
		this.#called = [];
		if (period === 0) return false;
		const repeated = period === 1 ? "the same tools with the same arguments" : `the same ${period} steps in turns`;
		this.warn("LOOP", `It calls ${repeated} again and again, and gets the same results.`);
		if (this.#isWarned) return true;
		this.#isWarned = true;
		await memory.update([remark(`You call ${repeated} again and again, and nothing new comes of it. Do something else, or say what you know so far. If you go on like this, you are stopped.`)]);
		return false;
	}
	/** Closes the tools that ran, at the same time. Never rejects: a tool that fails or hangs is a warning. */
	async closeTools() {globalThis.__t?.("agent/step-context.js#closeTools@3333");
		await Promise.all([...this.#opened].map((tool) => (globalThis.__t?.("agent/step-context.js#anonymous@3380"),(this.#close(tool)))));
	}
	async #close(tool) {globalThis.__t?.("agent/step-context.js#close@3427");
		if (tool.close === void 0) return;
		const { clock, memory: session } = this.#parts;
		const name = `the closing of the tool "${tool.name}"`;
		try {
			await withTimeout(clock, CLOSING_TIME, name, new AbortController().signal, async (signal) => (globalThis.__t?.("agent/step-context.js#anonymous@3666"),(tool.close?.({
				session,
				signal
			}))));
		} catch (error) {
			const why = toldOf(error).slice(0, SHOWN_ERROR);
			this.warn("TOOL_NOT_CLOSED", `The tool "${tool.name}" may not have let go of what it holds: ${why}`);
		}
	}
	#run(calls) {globalThis.__t?.("agent/step-context.js#run@3920");
		const { memory, steps, clock, signal, tell, client, options } = this.#parts;
		const { permissions, approve, ask, deps, name, parallelTools } = options;
		return callTools(calls, {
			tools: memory.tools,
			steps,
			clock,
			signal,
			model: (door) => (globalThis.__t?.("agent/step-context.js#model@4178"),(client.modelOf(door))),
			tell: (notice) => (globalThis.__t?.("agent/step-context.js#tell@4219"),(tell(eventOf(notice, this.step)))),
			policy: permissions,
			approve,
			ask,
			role: name,
			concurrency: parallelTools,
			session: memory,
			deps,
			opened: (tool) => (globalThis.__t?.("agent/step-context.js#opened@4395"),(this.#opened.add(tool)))
		});
	}
	/** Runs only the calls that the choice of tools allows. */
	async #runChosen(choice, calls) {globalThis.__t?.("agent/step-context.js#runChosen@4515");
		const forbidden = new Map(calls.map((call) => (globalThis.__t?.("agent/step-context.js#forbidden@4571"),([call, forbiddenBy(choice, call, this.#parts.memory.tools)]))));
		const ran = await this.#run(calls.filter((call) => (globalThis.__t?.("agent/step-context.js#ran@4687"),(forbidden.get(call) === void 0))));
		this.#hasActed ||= ran.length > 0;
		const answers = new Map(ran.map((called) => (globalThis.__t?.("agent/step-context.js#answers@4802"),([called.call, called]))));
		return calls.flatMap((call) => (globalThis.__t?.("agent/step-context.js#anonymous@4862"),(forbidden.get(call) ?? answers.get(call) ?? [])));
	}
	#denied({ call, result }) {globalThis.__t?.("agent/step-context.js#denied@4932");
		const why = (result.error ?? "").slice(0, SHOWN_REASON);
		const tool = call.function.name;
		if (this.denied.length < MAX_DENIED) this.denied.push({
			step: this.step,
			tool,
			why
		});
		this.warn("CALL_DENIED", `The call of ${JSON.stringify(tool.slice(0, SHOWN_NAME))} was not made: ${why}`);
	}
};
function eventOf(notice, step) {globalThis.__t?.("agent/step-context.js#eventOf@5262");
	switch (notice.type) {
		case "tool.started": return {
			type: "call.started",
			step,
			call: notice.call
		};
		case "tool.progress": return {
			type: "call.progress",
			step,
			call: notice.call,
			text: notice.text
		};
		case "tool.ended": return {
			type: "call.ended",
			step,
			...notice.called
		};
	}
}
export { StepContext };
