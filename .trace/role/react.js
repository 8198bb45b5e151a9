import { assertSameAction, isAction } from "./action.js";
import { UsageError } from "../kernel/errors.js";
import { isThenable } from "../kernel/value-kind.js";
import { valueText } from "../kernel/value-text.js";
import { actWith, messagesOf } from "./act.js";
import { planAndAct } from "./planner.js";
import { joinedInputs, triggersOf } from "./reaction.js";
import { roleSpec } from "./role-spec.js";
import { renderForPrompt } from "../model/chat-message.js";
// ../../work/wt/lead/src/role/react.ts
/** The whole reaction to the news, by the role's mode. An overridden `think` decides in every mode but `plan_and_act` and `agent`. */
function react(role, rc, overrides) {globalThis.__t?.("role/react.js#react@642");
	const spec = roleSpec(role);
	if (spec.mode === "agent") return agentMode().then(({ reactAsAgent }) => (globalThis.__t?.("role/react.js#anonymous@762"),(reactAsAgent(role, spec, rc))));
	if (spec.mode === "plan_and_act") return planAndAct(role, rc, overrides.act);
	if (spec.reactions.length > 0 && spec.mode === "by_cause" && !overrides.think) return reactByCause(role, spec, rc, overrides);
	const only = spec.actions.length === 1 && !overrides.think ? spec.actions[0] : void 0;
	return only === void 0 ? thinkAndAct(role, spec, rc) : actOnce(role, spec, rc, only);
}
/** Where there is one action and nobody else thinks, it is run, once, and there is nothing to think about. */
function actOnce(role, spec, rc, only) {globalThis.__t?.("role/react.js#actOnce@1310");
	const loop = reactLoop(rc);
	if (loop.turn > 0 || spec.maxReactLoop < 1) return void 0;
	const acted = role.act(rc, only);
	if (isThenable(acted)) return Promise.resolve(acted).then((said) => (globalThis.__t?.("role/react.js#anonymous@1534"),(oneTurn(loop, said))));
	return oneTurn(loop, acted);
}
function oneTurn(loop, said) {globalThis.__t?.("role/react.js#oneTurn@1598");
	loop.turn += 1;
	return said ?? void 0;
}
/** As far as nothing waits; what has to be waited for is gone on with by {@link thinkAndActOn}. */
function thinkAndAct(role, spec, rc) {globalThis.__t?.("role/react.js#thinkAndAct@1772");
	const loop = reactLoop(rc);
	let last;
	while (loop.turn < spec.maxReactLoop) {
		const thought = role.think(rc);
		if (isThenable(thought)) return thinkAndActOn(role, spec, rc, {
			thought,
			last
		});
		const action = ownAction(spec, rc.name, thought);
		if (action === void 0) break;
		const acted = role.act(rc, action);
		if (isThenable(acted)) return thinkAndActOn(role, spec, rc, {
			acted,
			last
		});
		last = acted ?? last;
		passOn(spec, rc, loop, acted);
	}
	return last;
}
async function thinkAndActOn(role, spec, rc, half) {globalThis.__t?.("role/react.js#thinkAndActOn@2304");
	const loop = reactLoop(rc);
	let { last } = half;
	if ("acted" in half) {
		const acted = await half.acted;
		last = acted ?? last;
		passOn(spec, rc, loop, acted);
	}
	let thought = "thought" in half ? half.thought : void 0;
	while (loop.turn < spec.maxReactLoop) {
		const action = ownAction(spec, rc.name, await (thought ?? role.think(rc)));
		thought = void 0;
		if (action === void 0) break;
		const acted = await role.act(rc, action);
		last = acted ?? last;
		passOn(spec, rc, loop, acted);
	}
	return last;
}
/** An action is done. In mode `by_order` the next one works on what it said; where it said nothing, on what it worked on itself. */
function passOn(spec, rc, loop, said) {globalThis.__t?.("role/react.js#passOn@3008");
	loop.turn += 1;
	if (spec.mode !== "by_order" || said === void 0 || said === null) return;
	const messages = messagesOf(said, rc.name);
	if (messages.length > 0) loop.handed = {
		news: rc.news,
		messages
	};
}
/**
* What a role chose to do: nothing, or one of its own actions, for only those were looked at when it was hired.
*
* @throws UsageError `THINK_RESULT`; `ACTION_DUPLICATE` for another action of the name of one of its own
*/
function ownAction(spec, name, chosen) {globalThis.__t?.("role/react.js#ownAction@3487");
	if (chosen === void 0 || chosen === null) return void 0;
	const own = isAction(chosen) ? spec.actions.find((action) => (globalThis.__t?.("role/react.js#own@3636"),(action.name === chosen.name))) : void 0;
	if (isAction(chosen) && own !== void 0) {
		assertSameAction(own, chosen);
		return chosen;
	}
	const names = spec.actions.map((action) => (globalThis.__t?.("role/react.js#names@3815"),(action.name))).join(", ");
	throw new UsageError("THINK_RESULT", `Expected think of role ${name} to choose one of its actions (${names === "" ? "it has none" : names}) or nothing, got ${isAction(chosen) ? chosen.name : valueText(chosen)}. Give the role all actions it may choose: actions: [...].`);
}
/** @param from the place of the first reaction that is looked at, and what those before it said */
function reactByCause(role, spec, rc, overrides, from = START) {globalThis.__t?.("role/react.js#reactByCause@4226");
	const said = [...from.said];
	for (let index = from.index; index < spec.reactions.length; index += 1) {
		const reaction = spec.reactions[index];
		const triggers = triggersOf(reaction, rc.news);
		if (triggers.length === 0) continue;
		if (reaction.needs.length > 0) {
			const inputs = joinedInputs(reaction, rc.memory, rc.joins.consumed(index));
			if (inputs === void 0) continue;
			rc.joins.consume(index, inputs);
		}
		const work = overrides.act ? role.act(rc, reaction.action) : actWith(rc, reaction.action, { news: triggers });
		if (isThenable(work)) {
			const next = index + 1;
			return Promise.resolve(work).then((came) => (globalThis.__t?.("role/react.js#anonymous@4920"),(reactByCause(role, spec, rc, overrides, {
				index: next,
				said: [...said, ...messagesOf(came, rc.name)]
			}))));
		}
		said.push(...messagesOf(work, rc.name));
	}
	return said;
}
const START = {
	index: 0,
	said: []
};
/** The loop of an activation, made on first use. */
function reactLoop(rc) {globalThis.__t?.("role/react.js#reactLoop@5206");
	return rc.loop ??= {
		turn: 0,
		index: -1,
		handed: void 0
	};
}
/** How many remembered messages the question for the next action shows. */
const HISTORY_IN_PROMPT = 50;
/** The next action of an activation by the role's mode; nothing when it is done. */
function think(role, rc) {globalThis.__t?.("role/react.js#think@5491");
	const spec = roleSpec(role);
	const loop = reactLoop(rc);
	if (spec.actions.length === 0) return void 0;
	if (spec.actions.length === 1) return loop.turn === 0 ? spec.actions[0] : void 0;
	if (spec.mode === "by_order") return spec.actions[loop.turn];
	return chosenByModel(spec, rc, loop);
}
async function chosenByModel(spec, rc, loop) {globalThis.__t?.("role/react.js#chosenByModel@5811");
	const index = await chooseIndex(spec, rc, loop.index);
	if (index === void 0) return void 0;
	loop.index = index;
	return spec.actions[index];
}
/** Asks the model for a place in the list of actions; -1 ends, and so does a second answer that is no place. */
async function chooseIndex(spec, rc, previous) {globalThis.__t?.("role/react.js#chooseIndex@6117");
	const prompt = choicePrompt(spec, rc, previous);
	const first = parseChoice(await rc.ask(prompt, { recall: false }), spec.actions.length);
	if (first.kind === "action") return first.index;
	if (first.kind === "end") return void 0;
	const second = parseChoice(await rc.ask(`${prompt}\n\nYour last answer was no such number. ${answerRule(spec)}`, { recall: false }), spec.actions.length);
	if (second.kind === "garbled") rc.logger.warn(`${rc.name} could not choose an action: the model gave no number twice. It stops here.`);
	return second.kind === "action" ? second.index : void 0;
}
/** Reads the first whole number of a reply, with any number of digits; `-1` ends. */
function parseChoice(reply, actions) {globalThis.__t?.("role/react.js#parseChoice@6837");
	const digits = /-?\d+/.exec(reply)?.[0];
	if (digits === void 0) return { kind: "garbled" };
	const index = Number(digits);
	if (index === -1) return { kind: "end" };
	return index >= 0 && index < actions ? {
		kind: "action",
		index
	} : { kind: "garbled" };
}
function choicePrompt(spec, rc, previous) {globalThis.__t?.("role/react.js#choicePrompt@7140");
	const history = rc.memory.get(HISTORY_IN_PROMPT).map(renderForPrompt).join("\n\n");
	const actions = spec.actions.map((action, index) => (globalThis.__t?.("role/react.js#actions@7303"),(`${index}. ${action.name}${action.description === "" ? "" : `: ${action.description}`}`)));
	return [
		`Here is the conversation so far:\n===\n${history}\n===`,
		`Your last action: ${previous === -1 ? "none yet" : `${previous}. ${spec.actions[previous]?.name ?? ""}`}`,
		`Choose what to do next:\n${actions.join("\n")}`,
		answerRule(spec)
	].join("\n\n");
}
function answerRule(spec) {globalThis.__t?.("role/react.js#answerRule@7682");
	return `Answer with one number from 0 to ${spec.actions.length - 1} and nothing else, or with -1 when the work is done.`;
}
let loaded;
/**
* Mode `agent`, which is a quarter of all that a company could need and which most companies do not: it is loaded with the first role that
* works by it. An environment that has one waits for it before it runs, so that no activation is later than another because of it.
*/
function agentMode() {globalThis.__t?.("role/react.js#agentMode@8124");
	return loaded ??= import("./agent-mode.js").catch((error) => {globalThis.__t?.("role/react.js#anonymous@8198");
		loaded = void 0;
		throw error;
	});
}
export { agentMode, parseChoice, react, reactLoop, think };
