import { checkKnownOptions } from "../kernel/known-options.js";
import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
import { addressOf } from "../message/address.js";
import { assertActionParts, isActionName } from "./part.js";
// ../../work/wt/lead/src/role/action.ts
/** What to do about a value that should be an action and is none. */
const HOW_TO_MAKE_AN_ACTION = "Make it by defineAction, or by new of a subclass of Action.";
/**
* A unit of work: a definition that holds no data of a run. Its `name` identifies it in routing: the messages it says are caused by it.
* Use {@link defineAction}, or subclass it and override `run` or `prompt`. A subclass whose `name` differs from its class name must state
* it as `static actionName` too (`ACTION_NAME`).
*
* @example
* import { Action, type ActionContext } from "troupe";
*
* export class CountWords extends Action {
*   override run(ctx: ActionContext): string {
*     return `${ctx.text.split(/\s+/).length} words`;
*   }
* }
*/
var Action = class {
	name = addressOf(this.constructor);
	description = "";
	/** Actions whose newest messages this one works on; they become `ctx.inputs`. */
	needs = [];
	/** Guards and types what the action says. */
	output = void 0;
	/** The part of its role's custom state that it needs. A role whose state does not start with that cannot be hired. */
	state = void 0;
	/** The prompt for the model, when `run` is not given. Default: the description, then what there is to work on. */
	prompt(ctx) {globalThis.__t?.("role/action.js#prompt@1535");
		return defaultPrompt(this.description, ctx.text);
	}
	/** Does the work. Default: asks the model with `prompt`, for the `output` schema where there is one. */
	run(ctx) {globalThis.__t?.("role/action.js#run@1708");
		const prompt = this.prompt(ctx);
		return this.output === void 0 ? ctx.ask(prompt) : ctx.ask(prompt, { schema: this.output });
	}
};
const actionOptions = {
	name: true,
	description: true,
	needs: true,
	output: true,
	state: true,
	prompt: true,
	run: true,
	render: true,
	sendTo: true
};
/**
* Makes an action from its parts. Without `run` the role's model is asked with `prompt`, for the `output` schema where there is one.
* Defaults: no `needs`, the text of the news as prompt, a broadcast as recipient.
*
* @throws UsageError `ACTION_INVALID` when the name is empty or a part has the wrong type; `OPTION_UNKNOWN` for an unknown part;
* `SCHEMA_UNSUPPORTED` for a schema of zod 3.
* @example
* import { defineAction } from "troupe";
* import { z } from "zod";
*
* export const WriteDraft = defineAction({
*   name: "WriteDraft",
*   output: z.object({ title: z.string(), body: z.string() }),
*   prompt: (ctx) => `Write a short article on: ${ctx.text}`,
* });
*/
function defineAction(options) {globalThis.__t?.("role/action.js#defineAction@2688");
	assertActionParts(options);
	checkKnownOptions(`defineAction ${JSON.stringify(options.name)}`, options, actionOptions);
	return Object.freeze(new DefinedAction(options));
}
var DefinedAction = class extends Action {
	name;
	description;
	needs;
	output;
	state;
	constructor(options) {globalThis.__t?.("role/action.js#constructor@2996");
		super();
		this.name = options.name;
		this.description = options.description ?? "";
		this.needs = options.needs ?? [];
		this.output = options.output;
		this.state = options.state;
		if (options.prompt !== void 0) this.prompt = options.prompt.bind(options);
		if (options.run !== void 0) this.run = options.run.bind(options);
		if (options.render !== void 0) this.render = options.render.bind(options);
		if (options.sendTo !== void 0) this.sendTo = options.sendTo.bind(options);
	}
};
/**
* Refuses an action whose name in `watch: [Class]` would differ from its instances' name: such messages would reach nobody.
*
* @throws UsageError `ACTION_NAME`; `ACTION_INVALID` when it has no name.
*/
function assertRoutableName(action) {globalThis.__t?.("role/action.js#assertRoutableName@3705");
	if (!isActionName(action.name)) throw new UsageError("ACTION_INVALID", "Expected an action to have a name, got an empty one. Its name is its identity in routing.");
	const maker = action.constructor;
	if (action.constructor === Action || action instanceof DefinedAction) return;
	const byClass = maker.actionName ?? maker.name;
	if (byClass === action.name) return;
	throw new UsageError("ACTION_NAME", `Expected the action class ${maker.name} to be called "${byClass}" by its instances, got "${action.name}". Add: static actionName = "${action.name}".`);
}
/**
* One name is one action: the same object, or two instances of one class.
*
* @throws UsageError `ACTION_DUPLICATE`
*/
function assertSameAction(known, action) {globalThis.__t?.("role/action.js#assertSameAction@4425");
	if (known === void 0 || known === action) return;
	if (known.constructor === action.constructor && !(action instanceof DefinedAction) && action.constructor !== Action) return;
	throw new UsageError("ACTION_DUPLICATE", `Expected one action of the name "${action.name}", got two different ones. Rename one, or share the same object.`);
}
/** Whether a value is an action: it has a name, needs and a way to run. */
function isAction(value) {globalThis.__t?.("role/action.js#isAction@4881");
	if (typeof value !== "object" || value === null) return false;
	const { name, needs, run } = value;
	return typeof name === "string" && Array.isArray(needs) && typeof run === "function";
}
/** What is thrown when `who` was given something that is no action. */
function noAction(value, who) {globalThis.__t?.("role/action.js#noAction@5170");
	return new UsageError("ACTION_INVALID", `Expected ${who} to be given an action, got ${valueText(value)}. ${HOW_TO_MAKE_AN_ACTION}`);
}
function defaultPrompt(description, text) {globalThis.__t?.("role/action.js#defaultPrompt@5338");
	return description === "" ? text : `${description}\n\n${text}`;
}
export { Action, HOW_TO_MAKE_AN_ACTION, assertRoutableName, assertSameAction, defineAction, isAction, noAction };
