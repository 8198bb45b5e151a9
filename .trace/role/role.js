import { readable, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
import { act, observe } from "./act.js";
import { react, think } from "./react.js";
// ../../work/wt/lead/src/role/role.ts
const roleOptions = {
	name: true,
	profile: true,
	goal: true,
	constraints: true,
	description: true,
	watch: true,
	actions: true,
	reactions: true,
	addresses: true,
	observeAll: true,
	reactMode: true,
	maxReactLoop: true,
	model: true,
	state: true,
	tools: true,
	agent: true,
	human: true,
	timeout: true,
	onFailure: true,
	memoryLimit: true,
	mailbox: true,
	memory: true,
	observe: true,
	think: true,
	act: true,
	react: true,
	planTasks: true,
	step: true
};
/**
* Someone who does work: a definition that holds no data of a run, so one role can be hired under several names. Use {@link defineRole},
* or subclass it and override `observe`, `think`, `act` or `react`. Its fields are those of {@link RoleOptions}, with the same defaults.
* They are checked when the role is hired.
*
* @example
* import { type Message, Role, type RoleContext, Team } from "troupe";
*
* class Echo extends Role {
*   override react(rc: RoleContext): Message[] {
*     return rc.news.map((message) => rc.message(message.content.toUpperCase()));
*   }
* }
* const { output } = await new Team({ roles: [new Echo()] }).run("hello").result;
* console.log(output?.content); // HELLO
*/
var Role = class Role {
	name = this.constructor.name;
	profile = "";
	goal = "";
	constraints = "";
	description = "";
	watch = void 0;
	actions = [];
	reactions = [];
	addresses = [];
	observeAll = false;
	reactMode = void 0;
	maxReactLoop = void 0;
	model = void 0;
	state = void 0;
	tools = void 0;
	agent = void 0;
	human = false;
	timeout = 36e5;
	onFailure = void 0;
	memoryLimit = void 0;
	mailbox = void 0;
	memory = void 0;
	/** Which of the inbox is news. Default: what is not in memory yet. */
	observe(rc) {globalThis.__t?.("role/role.js#observe@2035");
		return observe(rc);
	}
	/** The next action, or nothing to end. Default: by `reactMode`. */
	think(rc) {globalThis.__t?.("role/role.js#think@2142");
		return think(this, rc);
	}
	/** Runs one action; what it says is remembered and returned. */
	act(rc, action) {globalThis.__t?.("role/role.js#act@2248");
		return act(rc, action);
	}
	/** The whole reaction to the news; what it returns is published. */
	react(rc) {globalThis.__t?.("role/role.js#react@2368");
		return react(this, rc, {
			think: this.think !== Role.prototype.think,
			act: this.act !== Role.prototype.act
		});
	}
};
/**
* Makes a role from its parts. A role with a `step` is a plain function over typed state, for simulations: it keeps no memory, asks nobody
* and costs little; to teams and environments it is a role like any other. Defaults: it watches `UserRequirement`, remembers all messages
* of its run, and may take an hour for one activation.
*
* @throws UsageError `ROLE_INVALID` when the name is empty; `OPTION_UNKNOWN` for an unknown part. The parts are checked when the role is
* hired.
* @example
* import { defineAction, defineRole, UserRequirement } from "troupe";
*
* const Greet = defineAction({ name: "Greet", prompt: (ctx) => `Greet ${ctx.text}.` });
* export const host = defineRole({
*   name: "Hana",
*   profile: "Host",
*   goal: "make people feel welcome",
*   reactions: [{ on: UserRequirement, do: Greet }],
* });
*/
function defineRole(options) {globalThis.__t?.("role/role.js#defineRole@3330");
	if (typeof options !== "object" || options === null) throw new UsageError("ROLE_INVALID", `Expected the parts of a role, got ${valueText(options)}. Write defineRole({ name, ... }).`);
	takes("defineRole", "options", options, readable);
	if (typeof options.name !== "string" || options.name.trim() === "") throw new UsageError("ROLE_INVALID", "Expected a role to have a name, got an empty one. Messages reach it by its name.");
	checkKnownOptions(`defineRole ${JSON.stringify(options.name)}`, options, roleOptions);
	const role = new DefinedRole();
	return Object.freeze(Object.assign(role, definedMembers(options)));
}
var DefinedRole = class extends Role {};
function definedMembers(options) {globalThis.__t?.("role/role.js#definedMembers@4022");
	return Object.fromEntries(Object.entries(options).filter(([, value]) => (globalThis.__t?.("role/role.js#anonymous@4115"),(value !== void 0))).map(([key, value]) => (globalThis.__t?.("role/role.js#anonymous@4152"),([key, typeof value === "function" ? value.bind(options) : value]))));
}
export { Role, defineRole };
