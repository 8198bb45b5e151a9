import { isAction, noAction } from "./action.js";
import { UsageError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
import { isThenable } from "../kernel/value-kind.js";
import { valueText } from "../kernel/value-text.js";
import { createMessage, isCauseLeftOpen, isMessage } from "../message/message.js";
import { ActionView, isSameJson } from "./action-view.js";
// ../../work/wt/lead/src/role/act.ts
/** Runs one action on the whole news or, where one action follows another, on what that one said. What it says is remembered. */
function act(rc, action) {globalThis.__t?.("role/act.js#act@568");
	const handed = rc.loop?.handed;
	return actWith(rc, action, handed?.news === rc.news ? { news: handed.messages } : {});
}
/**
* Runs one action. What it says is remembered and returned.
*
* @throws UsageError `ACTION_INVALID` when it is no action; `ACTION_RESULT` when it gives back something that is no message, text or typed output.
*/
function actWith(rc, action, work) {globalThis.__t?.("role/act.js#actWith@934");
	if (!isAction(action)) throw noAction(action, `act of role ${rc.name}`);
	const view = new ActionView(rc, action, work);
	rc.began?.(action.name);
	const broke = (error) => {globalThis.__t?.("role/act.js#broke@1134");
		rc.broke?.(action.name, error);
		throw error;
	};
	let result;
	try {
		result = action.run(view);
	} catch (error) {
		return broke(error);
	}
	return isThenable(result) ? Promise.resolve(result).then((came) => (globalThis.__t?.("role/act.js#anonymous@1352"),(remembered(rc, action, view, came))), broke) : remembered(rc, action, view, result);
}
function remembered(rc, action, view, result) {globalThis.__t?.("role/act.js#remembered@1447");
	if (result === void 0 || result === null) return void 0;
	if (isMessageList(result, action)) {
		const said = result.map((message) => (globalThis.__t?.("role/act.js#said@1617"),(reissued(rc, action, view, message))));
		for (const message of said) rc.memory.add(message);
		return said.length > 1 ? said : said[0];
	}
	const message = isMessage(result) ? reissued(rc, action, view, result) : newMessage(action, view, result);
	rc.memory.add(message);
	return message;
}
function newMessage(action, view, result) {globalThis.__t?.("role/act.js#newMessage@1920");
	if (action.output !== void 0) return typedMessage(action, view, result);
	if (typeof result === "string") return view.message(result, destination(action, view, void 0));
	throw new UsageError("ACTION_RESULT", `Expected action ${action.name} to return a string, a message or nothing, got ${valueText(result)}. Give it an output schema to return data.`);
}
/** An empty list is a list of no messages, unless the action promises data: then it is data. */
function isMessageList(result, action) {globalThis.__t?.("role/act.js#isMessageList@2417");
	return Array.isArray(result) && result.every(isMessage) && (result.length > 0 || action.output === void 0);
}
function typedMessage(action, view, value) {globalThis.__t?.("role/act.js#typedMessage@2569");
	const output = view.isAnswer(value) ? value : checkedOutput(action, value);
	assertHandedOn(action, output);
	const content = action.render?.(output) ?? canonicalJson(output);
	return view.message(content, {
		instructContent: output,
		...destination(action, view, output)
	});
}
/** Under the activation's name, and with the payload its action's schema makes of it: the same object when there is nothing to change. */
function reissued(rc, action, view, message) {globalThis.__t?.("role/act.js#reissued@3035");
	const { name } = action;
	if (action.output === void 0) return rc.issue(message, name);
	const cause = isCauseLeftOpen(message) ? name : message.causeBy;
	if (cause !== name || view.isAnswered(message.instructContent)) return rc.issue(message, name);
	const output = checkedOutput(action, message.instructContent);
	if (isSameJson(output, message.instructContent)) return rc.issue(message, name);
	return rc.issue(createMessage(message.content, {
		...message,
		causeBy: cause,
		instructContent: output
	}), name);
}
function checkedOutput(action, value) {globalThis.__t?.("role/act.js#checkedOutput@3602");
	const parsed = action.output?.safeParse(value);
	if (parsed === void 0 || parsed.success) return parsed === void 0 ? value : parsed.data;
	throw new UsageError("ACTION_RESULT", `Expected action ${action.name} to return what its output schema says: ${parsed.error.message}`, { cause: parsed.error });
}
/** A transform of the schema may make a Date. Its type would promise one to those who read the message, and they would get a text. */
function assertHandedOn({ name }, output) {globalThis.__t?.("role/act.js#assertHandedOn@4080");
	const at = dateIn(output, "$", 0);
	if (at === void 0) return;
	throw new UsageError("ACTION_RESULT", `Expected what action ${name} says to be JSON, got a Date at ${at}, which its readers would get as a text. Say z.iso.datetime() in its output schema, and make a Date of the text where you need one.`);
}
/** Nobody's data is as deep; what is, or is a cycle, is refused where its text is made. */
const DEEPEST = 100;
function dateIn(value, at, depth) {globalThis.__t?.("role/act.js#dateIn@4543");
	if (value instanceof Date) return at;
	if (typeof value !== "object" || value === null || depth === DEEPEST) return void 0;
	for (const [key, member] of Object.entries(value)) {
		const found = dateIn(member, Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`, depth + 1);
		if (found !== void 0) return found;
	}
}
function destination(action, view, output) {globalThis.__t?.("role/act.js#destination@4901");
	const sendTo = action.sendTo?.(view, output);
	return sendTo === void 0 ? {} : { sendTo };
}
/**
* The messages in what a role said, or says is news.
*
* @throws UsageError `ACTION_RESULT` when it is no message, no list of messages and not nothing.
*/
function messagesOf(said, role) {globalThis.__t?.("role/act.js#messagesOf@5199");
	if (said === void 0 || said === null) return [];
	if (isMessage(said)) return [said];
	if (Array.isArray(said) && said.every(isMessage)) return said;
	throw new UsageError("ACTION_RESULT", `Expected role ${role} to give back messages or nothing, got ${valueText(said)}. Make a message of it: rc.message(text).`);
}
/**
* The messages of the inbox that the role does not remember yet. What it said to itself it remembers already, and it is news
* all the same.
*/
function observe(rc) {globalThis.__t?.("role/act.js#observe@5697");
	const first = rc.inbox[0];
	if (first !== void 0 && rc.inbox.length === 1) return !rc.memory.has(first) || isOwn(rc, first) ? rc.inbox : nothing;
	const news = rc.memory.findNews(rc.inbox);
	if (news.length === rc.inbox.length) return rc.inbox;
	const unknown = new Set(news);
	return rc.inbox.filter((message) => (globalThis.__t?.("role/act.js#anonymous@6022"),(unknown.has(message) || isOwn(rc, message))));
}
const nothing = Object.freeze([]);
function isOwn(rc, message) {globalThis.__t?.("role/act.js#isOwn@6117");
	return message.sentFrom === rc.name;
}
export { act, actWith, messagesOf, observe };
