import { isObject, isRecord } from "../kernel/value-kind.js";
import { readable, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { systemClock } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { freshMessageId } from "../kernel/id.js";
import { deepFreeze, jsonRoundTrip } from "../kernel/json.js";
import { valueText } from "../kernel/value-text.js";
import { ROUTE_TO_ALL, UserRequirement, addressOf } from "./address.js";
import { ownForm } from "./metagpt-form.js";
import { z } from "zod";
/** A whole message is taken too: what its maker has of it is copied. */
const messageFields = {
	content: true,
	id: true,
	instructContent: true,
	role: true,
	causeBy: true,
	sentFrom: true,
	sendTo: true,
	parents: true,
	timestamp: true,
	metadata: true
};
function checkFields(fields) {globalThis.__t?.("message/message.js#checkFields@854");
	try {
		if (fields !== null) {
			for (const name in fields) if (!isUsualField(name)) checkKnownOptions("createMessage", fields, messageFields);
		}
	} catch {
		checkKnownOptions("createMessage", fields, messageFields);
	}
	if (fields === null) checkKnownOptions("createMessage", fields, messageFields);
}
/**
* Makes a frozen message. Defaults: `role` is `user`, `causeBy` is `UserRequirement`, `sendTo` is everybody who watches the cause,
* `sentFrom` is empty, `timestamp` is now in milliseconds, and `id` is random. Inside an activation the message gets its final id and time
* when it is returned or published.
*
* @throws NotJsonError when the payload or the metadata are not plain JSON.
* @throws UsageError `MESSAGE_INVALID` for a content or an id that is no text, an empty role, parents that are no texts, metadata that is
* no object, or a timestamp that is no finite number; `OPTION_UNKNOWN` for an unknown field.
* @example
* import { createMessage } from "troupe";
*
* const message = createMessage("The bridge is open.", { sentFrom: "Ada", sendTo: ["Ben"], instructContent: { open: true } });
* console.log(message.sendTo, message.instructContent?.open); // [ 'Ben' ] true
*/
function createMessage(content, fields = {}) {globalThis.__t?.("message/message.js#createMessage@2077");
	checkFields(fields);
	const { id, causeBy, sentFrom, parents } = fields;
	const message = made(content, fields, id === void 0 || id === "" ? freshMessageId() : id, fields.role ?? "user", causeBy === void 0 ? UserRequirement.name : nameOr(causeBy, UserRequirement.name), sentFrom === void 0 ? "" : nameOr(sentFrom, ""), parents === void 0 || parents === null ? nobody : Object.freeze([...parents]), fields.timestamp ?? systemClock.now());
	if (causeBy === void 0) causeLeftOpen.add(message);
	return message;
}
/** A first look that costs next to nothing. What it lets pass to the second is none the worse for it. */
function isUsualField(name) {globalThis.__t?.("message/message.js#isUsualField@2741");
	switch (name) {
		case "id":
		case "content":
		case "instructContent":
		case "role":
		case "causeBy":
		case "sentFrom":
		case "sendTo":
		case "parents":
		case "timestamp":
		case "metadata": return true;
		default: return false;
	}
}
/** Where a message says nothing else: most say nothing else, and share these. */
const nobody = Object.freeze([]);
const everybody = Object.freeze([ROUTE_TO_ALL]);
/** What a message has whose maker said nothing about it: shared. @internal */
const NO_METADATA = Object.freeze({});
/**
* A message as somebody says it: who, where and when is told one by one, because an object for all of it would be made for each message, and the
* rest is of `fields`.
*
* @param parents frozen
* @throws as {@link createMessage}
*/
function made(content, fields, id, role, causeBy, sentFrom, parents, timestamp) {globalThis.__t?.("message/message.js#made@3533");
	if (typeof content !== "string") throw new UsageError("MESSAGE_INVALID", `Expected the content of a message to be a string, got ${typeof content}. Put data into instructContent.`);
	if (typeof id !== "string") throw invalid("id", "a text", id);
	if (typeof role !== "string" || role === "") throw invalid("role", "a text that is not empty", role);
	for (const parent of parents) if (typeof parent !== "string") throw invalid("parents", "a list of ids", parent);
	if (!Number.isFinite(timestamp)) throw invalid("timestamp", "a number of milliseconds", timestamp);
	const { sendTo, metadata = NO_METADATA, instructContent } = fields;
	const message = {
		id,
		content,
		role,
		causeBy,
		sentFrom,
		sendTo: sendTo === void 0 ? everybody : typeof sendTo === "string" ? lines.get(sendTo) ?? newLine(sendTo) : sendToNames(sendTo),
		parents: parents.length === 0 ? nobody : parents,
		timestamp,
		metadata: metadata === NO_METADATA ? NO_METADATA : deepFreeze(jsonRoundTrip(metadata ?? NO_METADATA, LEVELS_ABOVE))
	};
	if (!isRecord(message.metadata)) throw invalid("metadata", "an object", metadata);
	if (instructContent !== void 0) message.instructContent = deepFreeze(jsonRoundTrip(instructContent, LEVELS_ABOVE));
	return Object.freeze(message);
}
/** Levels of nesting that an event, a memory or a snapshot puts around what a message carries: what can be made can be written. */
const LEVELS_ABOVE = 20;
function invalid(field, expected, came) {globalThis.__t?.("message/message.js#invalid@5025");
	return new UsageError("MESSAGE_INVALID", `Expected the ${field} of a message to be ${expected}, got ${valueText(came)}.`);
}
/** Messages whose maker named no cause: inside an activation its action becomes the cause. */
const causeLeftOpen = /* @__PURE__ */ new WeakSet();
/** True when the message was made without naming its cause. @internal */
function isCauseLeftOpen(message) {globalThis.__t?.("message/message.js#isCauseLeftOpen@5415");
	return causeLeftOpen.has(message);
}
/** Whether a value has the shape of a message. */
function isMessage(value) {globalThis.__t?.("message/message.js#isMessage@5540");
	return isObject(value) && "causeBy" in value && "sendTo" in value && "parents" in value && "content" in value;
}
/** @throws UsageError `MESSAGE_INVALID` for what has not the shape of a message. @internal */
function assertMessage(value) {globalThis.__t?.("message/message.js#assertMessage@5777");
	if (isMessage(value)) return;
	throw new UsageError("MESSAGE_INVALID", `Expected a message, got ${valueText(value)}. Make one with createMessage(text).`);
}
/** What a caller means by a message or an id. @throws UsageError `MESSAGE_INVALID` for what is neither. @internal */
function meantMessage(target) {globalThis.__t?.("message/message.js#meantMessage@6085");
	if (typeof target !== "string") assertMessage(target);
	return target;
}
/**
* Guards every boundary a message crosses from outside. Fills what older forms lack, reads the form that MetaGPT writes (`cause_by`,
* `sent_from`, `send_to`, `instruct_content`), and refuses a newer version, or a field that is there in both forms and differs.
*/
const MessageSchema = z.lazy(() => (globalThis.__t?.("message/message.js#MessageSchema@6488"),(z.preprocess((wire, ctx) => {globalThis.__t?.("message/message.js#anonymous@6507");
	const own = ownForm(wire);
	if (!("fault" in own)) return own.wire;
	ctx.addIssue({
		code: "custom",
		message: own.fault,
		path: [own.field]
	});
	return z.NEVER;
}, z.object({
	v: z.literal(1, { error: "a message of a newer version; update this program to read it" }).optional(),
	id: z.string().nullish(),
	content: z.string(),
	instructContent: z.unknown().optional(),
	role: z.string().min(1).nullish(),
	causeBy: z.string().nullish(),
	sentFrom: z.string().nullish(),
	sendTo: z.array(z.string()).nullish(),
	parents: z.array(z.string()).nullish(),
	timestamp: z.number().nullish(),
	metadata: z.record(z.string(), z.unknown()).nullish()
}).transform(({ v: _version, ...fields }, ctx) => {globalThis.__t?.("message/message.js#anonymous@7184");
	try {
		return createMessage(fields.content, present(fields));
	} catch (error) {
		ctx.addIssue({
			code: "custom",
			message: error instanceof Error ? error.message : "not a message"
		});
		return z.NEVER;
	}
})))));
/**
* Reads a message from its wire form, see {@link serializeMessage}, or from the form that MetaGPT writes (`cause_by`, `sent_from`,
* `send_to`). Missing fields get the defaults of {@link createMessage}.
*
* @throws UsageError `MESSAGE_INVALID` naming the fields that do not fit, and for a message of a newer version.
* @example
* import { parseMessage } from "troupe";
*
* const message = parseMessage({ content: "Hello", cause_by: "Greet", sent_from: "Hana" });
* console.log(message.causeBy, message.sentFrom); // Greet Hana
*/
function parseMessage(wire) {globalThis.__t?.("message/message.js#parseMessage@7978");
	takes("parseMessage", "message", wire, readable);
	const parsed = MessageSchema.safeParse(wire);
	if (parsed.success) return parsed.data;
	throw new UsageError("MESSAGE_INVALID", `Expected a message, got something else: ${z.prettifyError(parsed.error)}`);
}
/**
* Returns the wire form of a message: its fields and the version `v` of the format.
*
* @throws UsageError `ARGUMENT_INVALID` for a value that cannot be read.
* @example
* import { createMessage, parseMessage, serializeMessage } from "troupe";
*
* const line = JSON.stringify(serializeMessage(createMessage("Hello")));
* console.log(parseMessage(JSON.parse(line)).content); // Hello
*/
function serializeMessage(message) {globalThis.__t?.("message/message.js#serializeMessage@8657");
	takes("serializeMessage", "message", message, readable);
	return {
		v: 1,
		...message
	};
}
Object.freeze([""]);
/** The name behind an address, or `fallback` where there is none. */
function nameOr(address, fallback) {globalThis.__t?.("message/message.js#nameOr@8880");
	if (address === void 0) return fallback;
	const name = typeof address === "string" ? address : addressOf(address);
	return name === "" ? fallback : name;
}
function sendToNames(sendTo) {globalThis.__t?.("message/message.js#sendToNames@9074");
	const names = new Set((isIterable(sendTo) ? [...sendTo] : [sendTo]).map(addressOf).filter((name) => (globalThis.__t?.("message/message.js#names@9196"),(name !== ""))));
	if (names.size === 0) return everybody;
	return Object.freeze([...names]);
}
/** So many single addresses have a list that all messages to them share; texts of strangers must not fill the memory. */
const MOST_LINES = 1e3;
const lines = /* @__PURE__ */ new Map();
function newLine(address) {globalThis.__t?.("message/message.js#newLine@9486");
	if (address === "") return everybody;
	const line = Object.freeze([address]);
	if (lines.size < MOST_LINES && address.length < MOST_LINES) lines.set(address, line);
	return line;
}
function isIterable(value) {globalThis.__t?.("message/message.js#isIterable@9696");
	return typeof value === "object" && Symbol.iterator in value;
}
/** A field that older forms and other languages write as null is the same as left out; a payload of null is a payload. */
function present(fields) {globalThis.__t?.("message/message.js#present@9913");
	return Object.fromEntries(Object.entries(fields).filter(([key, value]) => (globalThis.__t?.("message/message.js#anonymous@9997"),(value !== void 0 && (value !== null || key === "instructContent")))));
}
export { MessageSchema, NO_METADATA, assertMessage, createMessage, isCauseLeftOpen, isMessage, made, meantMessage, nameOr, parseMessage, serializeMessage };
