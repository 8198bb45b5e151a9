import { defineTool } from "../tool/tool.js";
import { ToolCollection } from "../tool/tool-collection.js";
import { z } from "zod";
// ../../work/wt/lead/src/agent/terminate.ts
const Parameters = z.object({
	status: z.enum(["success", "failure"]).describe("failure: the task cannot be done, or not as asked"),
	answer: z.string().optional().describe("the answer to the task, whole; of a failure, why it cannot be done")
});
const strict = defineTool({
	name: "terminate",
	description: "Ends the work on the task. Call it alone, when the task is done or cannot be done; nothing is run after it.",
	parameters: Parameters,
	effect: "read",
	ends: true,
	execute: ({ status, answer }) => ((globalThis.__t?.("agent/terminate.js#execute@662"),({
		output: `Task completed: ${status}`,
		data: {
			status,
			answer: answer ?? ""
		}
	})))
});
/** Ends the work on the task, with its answer. A status in other words is a success unless it tells of a failure. */
const terminate = Object.freeze({
	...strict,
	check: (args) => (globalThis.__t?.("agent/terminate.js#check@957"),(strict.check(withPlainStatus(args))))
});
/** Plain words for a status, which hold no answer. */
const SUCCESS = /^\W*(?:success(?:ful(?:ly)?)?|succeeded|completed?|finished|done|ok(?:ay)?|yes|true)\W*$/i;
const FAILURE = /^\W*(?:fail(?:ed|ure)?|errors?|unsuccessful|aborted|impossible|no|false)\W*$/i;
/** A sentence that begins with a failure. A failure further on is part of an answer. */
const SAYS_FAILURE = /^\W*(?:(?:i|we|it|this|the task|the request)\s+)?(?:(?:am|are|is|was|were|has|have)\s+)?(?:fail(?:ed|ure)?\b|errors?\b|can(?:no|')t\b|can not\b|could ?n[o']t\b|unable\b|impossible\b|not (?:possible|done|completed)\b|unsuccessful|gave up\b|giving up\b)/i;
function withPlainStatus(args) {globalThis.__t?.("agent/terminate.js#withPlainStatus@1634");
	const { status, answer } = args;
	if (typeof status !== "string" || status === "success" || status === "failure") return args;
	if (SUCCESS.test(status)) return {
		...args,
		status: "success"
	};
	if (FAILURE.test(status)) return {
		...args,
		status: "failure"
	};
	if (status.trim() === "") return args;
	const read = SAYS_FAILURE.test(status) ? "failure" : "success";
	return {
		...args,
		status: read,
		...typeof answer === "string" && answer !== "" ? {} : { answer: status }
	};
}
/** A view of a collection as it is at any time, with `terminate` at the end unless it has a tool of that name. Changes pass through to it. */
var EndableTools = class extends ToolCollection {
	#own;
	constructor(own) {globalThis.__t?.("agent/terminate.js#constructor@2372");
		super();
		this.#own = own;
	}
	get specs() {globalThis.__t?.("agent/terminate.js#specs get@2423");
		return this.#own.has(terminate.name) ? this.#own.specs : [...this.#own.specs, terminate.spec];
	}
	get(name) {globalThis.__t?.("agent/terminate.js#get@2532");
		return this.#own.get(name) ?? (name === terminate.name ? terminate : void 0);
	}
	find(name) {globalThis.__t?.("agent/terminate.js#find@2629");
		return this.#own.find(name) ?? (name.toLowerCase() === terminate.name ? terminate : void 0);
	}
	add(tools) {globalThis.__t?.("agent/terminate.js#add@2740");
		if (#own in this) this.#own.add(tools);
	}
	remove(name) {globalThis.__t?.("agent/terminate.js#remove@2802");
		return this.#own.remove(name);
	}
	[Symbol.iterator]() {globalThis.__t?.("agent/terminate.js#EndableTools@2865");
		return (this.#own.has(terminate.name) ? [...this.#own] : [...this.#own, terminate])[Symbol.iterator]();
	}
};
export { EndableTools, terminate };
