import { isRecord } from "../../kernel/value-kind.js";
import { readable, takes } from "../../kernel/argument.js";
import { JournalError } from "../../kernel/errors.js";
import { lazily } from "../../kernel/lazily.js";
import { shownText, valueText } from "../../kernel/value-text.js";
import "./event.js";
import { plainFault } from "./plain-json.js";
import { z } from "zod";
// ../../work/wt/lead/src/runtime/record/event-schema.ts
/**
* Checks an event that came from outside, from a file, a store or another process. It is returned as it is, not copied.
*
* @throws JournalError `EVENT_NEWER` for an event of a newer version of this package; `EVENT_INVALID` for an unknown type, for a field
* that is missing, unknown or of another kind, for values that are not plain JSON, and for keys that reach for prototypes.
* @example
* import { parseEvent, type RunEvent } from "troupe";
*
* // Reads what `troupe run --json` prints.
* export function readEvents(lines: string): RunEvent[] {
*   return lines.trim().split("\n").map((line) => parseEvent(JSON.parse(line)));
* }
*/
function parseEvent(json) {globalThis.__t?.("runtime/record/event-schema.js#parseEvent@1076");
	takes("parseEvent", "event", json, readable);
	const fault = plainFault(json);
	if (fault !== void 0) throw invalid(json, `got ${fault}`);
	const { v, type } = isRecord(json) ? json : {};
	if (typeof v === "number" && v > 1) throw newer(v);
	const known = schemas();
	const schema = typeof type === "string" && Object.hasOwn(known, type) ? known[type] : void 0;
	if (schema === void 0) throw invalid(json, `got the type ${shownText(valueText(type))}; known are ${Object.keys(known).join(", ")}`);
	const parsed = schema.safeParse(json);
	if (!parsed.success) throw invalid(json, `got one that does not fit: ${issuesText(parsed.error)}`);
	return json;
}
const table = () => {globalThis.__t?.("runtime/record/event-schema.js#table@1773");
	const values = valueSchemas();
	const parts = {
		...values,
		...termSchemas(values),
		...partSchemas(values)
	};
	return {
		...openings(parts),
		...stepEvents(parts),
		...activationEnds(parts),
		...closings(parts)
	};
};
/** The schemas by type of event. Does not compile when a type or a member differs from the union {@link RunEvent}. */
const schemas = lazily(table);
const valueSchemas = () => {globalThis.__t?.("runtime/record/event-schema.js#valueSchemas@2181");
	const text = z.string();
	return {
		json: z.custom((value) => (globalThis.__t?.("runtime/record/event-schema.js#json@2242"),(value !== void 0)), "is missing"),
		jsonRecord: z.custom(isRecord, "expected an object"),
		number: z.number(),
		text,
		texts: list(text),
		whole: z.int().nonnegative()
	};
};
/** The bounds and the roles with which a run begins or goes on. */
const termSchemas = ({ json, jsonRecord, text, whole }) => {globalThis.__t?.("runtime/record/event-schema.js#termSchemas@2519");
	const mailbox = closed({
		limit: whole.exactOptional(),
		overflow: z.enum([
			"refuse",
			"drop-oldest",
			"block"
		]).exactOptional()
	}).exactOptional();
	return {
		bounds: closed({
			budget: whole.exactOptional(),
			rounds: whole.exactOptional(),
			stopWhen: closed({
				name: text,
				with: list(json).exactOptional()
			}).nullable().exactOptional(),
			messageLimit: whole.exactOptional(),
			mailbox,
			concurrency: whole.exactOptional(),
			poisonAfter: whole.exactOptional()
		}),
		hiredRole: closed({
			name: text,
			fingerprint: text,
			traits: jsonRecord,
			state: jsonRecord,
			memoryLimit: whole.exactOptional(),
			mailbox
		})
	};
};
/** Parts that several types of events have. */
const partSchemas = ({ jsonRecord, number, text, texts, whole }) => {globalThis.__t?.("runtime/record/event-schema.js#partSchemas@3298");
	const error = closed({
		name: text,
		code: text,
		message: text,
		data: z.unknown().exactOptional(),
		retryable: z.literal(true).exactOptional()
	});
	const message = closed({
		id: text,
		content: text,
		instructContent: z.unknown().exactOptional(),
		role: z.custom((value) => (globalThis.__t?.("runtime/record/event-schema.js#role@3624"),(typeof value === "string" && value !== "")), "expected a text that is not empty"),
		causeBy: text,
		sentFrom: text,
		sendTo: texts,
		parents: texts,
		timestamp: number,
		metadata: jsonRecord
	});
	const sentFields = {
		message,
		to: texts,
		dead: texts.exactOptional(),
		dropped: z.literal(true).exactOptional()
	};
	const memoryOp = z.union([
		z.tuple([z.literal("+"), text]).readonly(),
		z.tuple([z.literal("+"), message]).readonly(),
		z.tuple([z.literal("-"), text]).readonly(),
		z.tuple([z.literal("0")]).readonly()
	]);
	const lastLife = {
		asked: texts.exactOptional(),
		unrepeated: list(closed({
			key: text,
			error
		})).exactOptional()
	};
	const envelope = {
		v: z.literal(1),
		runId: text,
		seq: whole,
		time: number
	};
	const event = (type, fields) => (globalThis.__t?.("runtime/record/event-schema.js#event@4403"),(closed({
		...envelope,
		type: z.literal(type),
		...fields
	})));
	return {
		error,
		event,
		lastLife,
		memoryOp,
		sentFields
	};
};
const openings = ({ bounds, event, hiredRole, json, sentFields, text, whole }) => ((globalThis.__t?.("runtime/record/event-schema.js#openings@4576"),({
	"run.started": event("run.started", {
		team: text,
		roles: list(hiredRole),
		seed: text,
		scheduler: text,
		parameters: json.exactOptional(),
		delivery: z.enum(["round", "turn"]).exactOptional(),
		budget: whole.exactOptional(),
		bounds: bounds.exactOptional(),
		about: json.exactOptional(),
		parent: closed({
			runId: text,
			at: whole
		}).exactOptional()
	}),
	message: event("message", {
		...sentFields,
		atBarrier: z.literal(true).exactOptional()
	})
})));
const stepEvents = ({ error, event, json, number, text, whole }) => ((globalThis.__t?.("runtime/record/event-schema.js#stepEvents@5137"),({
	"act.started": event("act.started", {
		act: text,
		role: text,
		n: whole,
		attempt: whole,
		take: whole,
		at: number
	}),
	"act.resumed": event("act.resumed", { act: text }),
	"step.started": event("step.started", {
		act: text,
		key: text,
		kind: text,
		name: text,
		asked: whole,
		in: text.exactOptional(),
		try: whole,
		hold: whole,
		unpriced: z.literal(true).exactOptional(),
		request: json,
		idempotent: z.literal(false).exactOptional(),
		reused: whole.exactOptional()
	}),
	"step.ended": event("step.ended", {
		act: text,
		key: text,
		try: whole,
		retry: z.literal(true).exactOptional(),
		ok: z.boolean(),
		value: json.exactOptional(),
		error: error.exactOptional(),
		cost: whole.nullable(),
		basis: z.enum([
			"usage",
			"hold",
			"none"
		]),
		usage: json.exactOptional(),
		at: number,
		saved: whole.exactOptional()
	})
})));
const activationEnds = ({ error, event, json, jsonRecord, lastLife, memoryOp, number, sentFields, text, texts, whole }) => ((globalThis.__t?.("runtime/record/event-schema.js#activationEnds@6077"),({
	"act.ended": event("act.ended", {
		act: text,
		role: text,
		round: whole,
		take: whole,
		said: list(closed(sentFields)),
		memory: list(memoryOp),
		working: list(memoryOp),
		state: closed({
			set: jsonRecord,
			unset: texts
		}).exactOptional(),
		plan: json.exactOptional(),
		joins: record(record(text)).exactOptional(),
		summary: closed({
			oldest: text,
			older: texts,
			recent: texts,
			covered: texts,
			waits: whole.exactOptional()
		}).exactOptional(),
		at: number.exactOptional(),
		...lastLife
	}),
	"act.failed": event("act.failed", {
		act: text,
		role: text,
		round: whole,
		take: whole,
		error,
		stepFailed: z.boolean(),
		then: z.enum([
			"retry",
			"isolate",
			"dead",
			"stop"
		]),
		at: number.exactOptional(),
		...lastLife
	})
})));
const closings = ({ bounds, error, event, hiredRole, text, whole }) => ((globalThis.__t?.("runtime/record/event-schema.js#closings@6977"),({
	"round.ended": event("round.ended", { round: whole }),
	"run.resumed": event("run.resumed", {
		uncertain: list(closed({
			act: text,
			key: text,
			hold: whole
		})),
		budget: whole.exactOptional(),
		bounds: bounds.exactOptional(),
		roles: list(hiredRole).exactOptional(),
		forked: z.literal(true).exactOptional(),
		hired: z.literal(true).exactOptional(),
		afresh: z.literal(true).exactOptional(),
		saved: whole.exactOptional()
	}),
	"run.ended": event("run.ended", {
		status: z.enum([
			"finished",
			"rounds",
			"budget",
			"stopped",
			"waiting",
			"failed"
		]),
		error: error.exactOptional()
	})
})));
function issuesText({ issues }) {globalThis.__t?.("runtime/record/event-schema.js#issuesText@7659");
	const told = issues.slice(0, 3).map((issue) => (globalThis.__t?.("runtime/record/event-schema.js#told@7730"),(`${issue.path.map(String).join(".") || "the event"}: ${issue.message}`)));
	return shownText(told.join("; "), 500);
}
function newer(v) {globalThis.__t?.("runtime/record/event-schema.js#newer@7857");
	return new JournalError("EVENT_NEWER", `Expected an event of version 1 or older, got one of version ${v}. Update this program to read the run.`, { data: { version: v } });
}
function invalid(came, what) {globalThis.__t?.("runtime/record/event-schema.js#invalid@8052");
	const seq = isRecord(came) && typeof came["seq"] === "number" ? came["seq"] : null;
	const which = seq === null ? "an event of a run" : `event ${seq} of a run`;
	return new JournalError("EVENT_INVALID", `Expected ${which}, ${what}. Read it with the version of this program that wrote it, or from a copy that is whole.`, { data: { seq } });
}
/** An object with these members and no others. */
function closed(fields) {globalThis.__t?.("runtime/record/event-schema.js#closed@8477");
	return z.strictObject(fields);
}
/** A list. Only the first item that does not fit is reported: the faults of a million items would fill the memory. */
function list(item) {globalThis.__t?.("runtime/record/event-schema.js#list@8656");
	return z.custom(Array.isArray, "expected a list").check(({ value, issues }) => {globalThis.__t?.("runtime/record/event-schema.js#anonymous@8735");
		firstFault(item, (Array.isArray(value) ? value : []).entries(), issues);
	});
}
/** An object with any keys. Only its first member that does not fit is reported. */
function record(member) {globalThis.__t?.("runtime/record/event-schema.js#record@8927");
	return z.custom(isRecord, "expected an object").check(({ value, issues }) => {globalThis.__t?.("runtime/record/event-schema.js#anonymous@9008");
		firstFault(member, isRecord(value) ? Object.entries(value) : [], issues);
	});
}
function firstFault(schema, members, issues) {globalThis.__t?.("runtime/record/event-schema.js#firstFault@9116");
	for (const [key, member] of members) {
		const parsed = schema.safeParse(member);
		if (parsed.success) continue;
		for (const issue of parsed.error.issues) issues.push({
			code: "custom",
			message: issue.message,
			input: member,
			path: [key, ...issue.path]
		});
		return;
	}
}
export { list, parseEvent, record };
