import { readable, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { TroupeError } from "../kernel/troupe-error.js";
import { throwIfAborted, untilAborted } from "../kernel/abort.js";
import { BudgetError, ControlError, ModelError, UsageError } from "../kernel/errors.js";
import { isRecord } from "../kernel/value-kind.js";
import { thrownText, valueText } from "../kernel/value-text.js";
import { ChatMemory } from "../memory/chat-memory.js";
import { outputSchema } from "../model/json-schema.js";
import { checkPolicy } from "../tool/permission.js";
import { checkChoiceForm } from "../tool/call-options.js";
import { ToolCollection } from "../tool/tool-collection.js";
import { closeAllCalls } from "./agent-memory.js";
import { brainOptions, checkBrainLimits } from "./brain-options.js";
import { Brain } from "./brain.js";
import { EventLog, agentEventKinds } from "./events.js";
import { Lifecycle } from "./lifecycle.js";
import { MessagesMemory } from "./messages-memory.js";
import { Net } from "./net.js";
import { RunTally, TokenLimitError } from "./run-tally.js";
import { EndableTools } from "./terminate.js";
// ../../work/wt/lead/src/agent/agent.ts
const agentOptions = {
	...brainOptions,
	name: true,
	description: true,
	tools: true,
	memory: true,
	terminate: true
};
const agentRunOptions = { signal: true };
/**
* A session of a net over a memory. It owns its lifecycle and its memory; a {@link Brain} drives the net.
*
* `Agent.A1` one run at a time (`run`). `Agent.A2` a run always ends with a result, never with a rejection (`#live`). `Agent.A3` the
* conversation stays in the memory, so the next run goes on in it (`memory`). `Agent.A4` an agent that has not run holds its options and
* nothing else (`memory`, `#live`).
*
* @example
* import { Agent } from "troupe/agents";
* import { scriptedModel } from "troupe/testing";
*
* const agent = new Agent({ name: "guide", model: scriptedModel(["Take a coat."]) });
* const { status, answer } = await agent.run("Do I need a coat in Oslo?").result;
* console.log(status, answer); // finished Take a coat.
*/
var Agent = class {
	name;
	description;
	#options;
	#life = new Lifecycle();
	#memory;
	#brain;
	/** @throws UsageError `AGENT_INVALID`, `TOOL_INVALID`, `TOOL_CHOICE_INVALID` or `PERMISSION_INVALID` for options that can never work; `TOOL_DUPLICATE` for two tools of one name; `SCHEMA_UNSUPPORTED` for an output that JSON cannot carry. */
	constructor(options) {globalThis.__t?.("agent/agent.js#constructor@2494");
		takes("new Agent", "options", options, readable);
		checkParts(options);
		checkKnownOptions("new Agent", options, agentOptions);
		checkOptions(options);
		const { name, description = "", tools } = options;
		this.name = name;
		this.description = description;
		const isList = tools !== void 0 && !(tools instanceof ToolCollection);
		this.#options = {
			...options,
			...isList ? { tools: [...new ToolCollection(tools)] } : {}
		};
	}
	get state() {globalThis.__t?.("agent/agent.js#state get@2958");
		return this.#life.state;
	}
	/** Steps of the latest run. */
	get steps() {globalThis.__t?.("agent/agent.js#steps get@3036");
		return this.#life.steps;
	}
	get memory() {globalThis.__t?.("agent/agent.js#memory get@3082");
		this.#memory ??= memoryOf(this.#options);
		return this.#memory;
	}
	/**
	* Back to `IDLE`; the memory stays.
	*
	* @throws UsageError `AGENT_TRANSITION` while it runs
	*/
	reset() {globalThis.__t?.("agent/agent.js#reset@3267");
		this.#life.move("reset");
	}
	/**
	* Works on a task until it has an answer; without a task it goes on with the one it has. From `FINISHED` and `ERROR` it resets itself.
	* It begins at once and does not wait for readers of its events.
	*
	* @throws UsageError `AGENT_RUNNING` while it runs
	*/
	run(task, o = {}) {globalThis.__t?.("agent/agent.js#run@3573");
		checkKnownOptions("run of an agent", o, agentRunOptions);
		if (this.#life.state === "RUNNING") throw alreadyRunning(this.name);
		if (this.#life.state !== "IDLE") this.#life.move("reset");
		const log = new EventLog(agentEventKinds);
		return {
			result: this.#live(task, o.signal, log),
			[Symbol.asyncIterator]: () => (globalThis.__t?.("agent/agent.js#undefined@3909"),(log.read()))
		};
	}
	async #live(task, signal, log) {globalThis.__t?.("agent/agent.js#live@3946");
		this.#move("start", log);
		let run;
		let ended;
		try {
			throwIfAborted(signal);
			if (task !== void 0) await this.#begin(task, signal);
			this.#brain ??= new Brain(brainOptionsOf(this.#options));
			const tell = (event) => {globalThis.__t?.("agent/agent.js#tell@4189");
				if (event.type === "step.started") this.#move("step", log);
				log.add(event);
			};
			run = this.#brain.begin(this.memory, {
				tell,
				...signal === void 0 ? {} : { signal }
			});
			ended = endOf(await run.through((text) => (globalThis.__t?.("agent/agent.js#anonymous@4429"),(tell({
				type: "text",
				step: this.#life.steps,
				text
			})))), this.memory);
		} catch (error) {
			ended = failed(error, signal);
		}
		this.#move(ended.move, log);
		const { usage, cost, byModel } = run?.tally ?? new RunTally();
		const denied = run?.denied() ?? [];
		const result = {
			answer: "",
			...ended.result,
			steps: this.#life.steps,
			usage,
			cost,
			byModel,
			denied
		};
		log.add({
			type: "run.ended",
			result
		});
		log.end();
		return result;
	}
	#move(name, log) {globalThis.__t?.("agent/agent.js#move@4932");
		this.#life.move(name, (move, from, to) => {globalThis.__t?.("agent/agent.js#anonymous@4970");
			if (move !== "step") log.add({
				type: "state.changed",
				from,
				to,
				move
			});
		});
	}
	async #begin(task, signal) {globalThis.__t?.("agent/agent.js#begin@5109");
		const { memory } = this;
		const within = (work) => (globalThis.__t?.("agent/agent.js#within@5170"),(signal === void 0 ? work : untilAborted(work, signal)));
		await within(closeAllCalls(memory));
		await within(memory.setGoal(task));
	}
};
function endOf({ status, output }, memory) {globalThis.__t?.("agent/agent.js#endOf@5318");
	if (status !== "finished") return {
		move: "give_up",
		result: { status }
	};
	const answer = memory.answer ?? {
		text: "",
		status: "success"
	};
	const typed = output === void 0 ? {} : { output };
	if (answer.status === "success") return {
		move: "finish",
		result: {
			status: "finished",
			answer: answer.text,
			...typed
		}
	};
	return {
		move: "finish",
		result: {
			status: "failed",
			answer: answer.text,
			error: gaveUp(answer.text)
		}
	};
}
/** An interruption leaves an agent that can go on; any other error does not. */
function failed(thrown, signal) {globalThis.__t?.("agent/agent.js#failed@5913");
	const error = thrown instanceof Error ? thrown : new TroupeError("THROWN", `A value that is not an Error was thrown: ${thrownText(thrown)}`);
	if (error instanceof BudgetError) return {
		move: "give_up",
		result: {
			status: "budget",
			error
		}
	};
	if (error instanceof TokenLimitError) return {
		move: "give_up",
		result: {
			status: "tokens",
			error
		}
	};
	if (error instanceof ControlError || signal?.aborted === true) return {
		move: "give_up",
		result: {
			status: "stopped",
			error
		}
	};
	return {
		move: "fail",
		result: {
			status: "failed",
			error
		}
	};
}
function gaveUp(why) {globalThis.__t?.("agent/agent.js#gaveUp@6541");
	return new ModelError("AGENT_GAVE_UP", `The agent says that it cannot do the task: ${why === "" ? "it does not say why" : why}`);
}
function alreadyRunning(name) {globalThis.__t?.("agent/agent.js#alreadyRunning@6697");
	return new UsageError("AGENT_RUNNING", `Expected the agent ${name} to have ended its run before the next one, but it still runs. Await the result of its run, or make another agent.`);
}
/** Checks what programs without types get wrong, before the names of the options are checked. */
function checkParts(options) {globalThis.__t?.("agent/agent.js#checkParts@7014");
	if (!isRecord(options)) throw invalid("the parts of an agent, new Agent({ name, model, ... })", options);
	const { name, net, toolChoice } = options;
	if (typeof name !== "string" || name.trim() === "") throw invalid("an agent to have a name", name);
	if (net !== void 0 && !(net instanceof Net)) throw invalid(`the net of the agent ${name} to be one, such as react()`, net);
	if (toolChoice !== void 0) checkChoiceForm(toolChoice);
}
function checkOptions(options) {globalThis.__t?.("agent/agent.js#checkOptions@7481");
	const { name, memory, tools, permissions = {}, output } = options;
	const { model } = options;
	if (output !== void 0) outputSchema(output);
	checkBrainLimits(options);
	checkPolicy(permissions);
	if (typeof model?.chat !== "function") throw invalid(`a model for the agent ${name}`, model, " Give one, for example openai().");
	if (memory === void 0 || memory instanceof ChatMemory || tools === void 0) return;
	throw new UsageError("AGENT_INVALID", "Expected either tools or a memory of agents, which has its own, got both. Give the memory the tools.");
}
function invalid(expected, got, advice = "") {globalThis.__t?.("agent/agent.js#invalid@8072");
	return new UsageError("AGENT_INVALID", `Expected ${expected}, got ${valueText(got)}.${advice}`);
}
function brainOptionsOf({ description: _d, tools: _t, memory: _m, terminate: _e, ...brain }) {globalThis.__t?.("agent/agent.js#brainOptionsOf@8219");
	return brain;
}
function memoryOf({ memory, tools = [], terminate: canEnd = true }) {globalThis.__t?.("agent/agent.js#memoryOf@8331");
	if (memory !== void 0 && !(memory instanceof ChatMemory)) return memory;
	const own = tools instanceof ToolCollection ? tools : new ToolCollection(tools);
	return new MessagesMemory({
		tools: canEnd ? new EndableTools(own) : own,
		...memory === void 0 ? {} : { messages: memory }
	});
}
export { Agent };
