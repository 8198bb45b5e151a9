import { isList, isRecord } from "../kernel/value-kind.js";
import { UsageError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
import { strictSchema } from "../model/json-schema.js";
import { promptFor, rungsFor } from "../model/structured-output.js";
import { masked } from "../runtime/record/masking.js";
import { requestDifference, requestDifferenceText } from "../runtime/replay/difference.js";
import { priceOf } from "../model/price.js";
import { z } from "zod";
// ../../work/wt/lead/src/testing/cassette-call.ts
const usage = z.object({
	inputTokens: z.number(),
	outputTokens: z.number(),
	cachedTokens: z.number().exactOptional(),
	estimated: z.boolean().exactOptional()
});
const ResponseSchema = z.object({
	content: z.string(),
	toolCalls: z.array(z.object({
		id: z.string(),
		type: z.literal("function"),
		function: z.object({
			name: z.string(),
			arguments: z.string()
		}),
		extra: z.record(z.string(), z.json()).exactOptional()
	})),
	finishReason: z.enum([
		"stop",
		"length",
		"tool_calls",
		"content_filter"
	]),
	usage: usage.exactOptional(),
	refusal: z.string().exactOptional()
});
/**
* The calls of models in a run, in the order they were asked. Tries that failed on the way to an answer are no calls of their own.
*
* @throws UsageError `CASSETTE_INVALID` for an answer that no model gives
*/
function recordedCalls(events) {globalThis.__t?.("testing/cassette-call.js#recordedCalls@1364");
	const calls = /* @__PURE__ */ new Map();
	for (const event of events) {
		if (event.type === "run.resumed") forgetTries(calls);
		if (event.type === "step.started" && event.kind === "model") {
			const { act, name, request } = event;
			const key = `${act} ${event.key}`;
			if (!calls.has(key)) calls.set(key, {
				act,
				model: name,
				request: asObject(request),
				answer: void 0,
				cost: 0,
				failed: [],
				tries: []
			});
		}
		if (event.type !== "step.ended") continue;
		const call = calls.get(`${event.act} ${event.key}`);
		if (call === void 0) continue;
		const cost = event.cost === null || call.cost === null ? null : call.cost + event.cost;
		const tries = [...call.tries, ...failedTry(event)];
		calls.set(`${event.act} ${event.key}`, {
			...call,
			cost,
			tries,
			answer: event.retry === true ? void 0 : answerOf(event)
		});
	}
	return [...calls.values()].map(({ tries, ...call }) => ((globalThis.__t?.("testing/cassette-call.js#anonymous@2294"),({
		...call,
		failed: failedOf(call, tries)
	}))));
}
/** Who goes on tries anew, and may try as often as before. */
function forgetTries(calls) {globalThis.__t?.("testing/cassette-call.js#forgetTries@2435");
	for (const [key, call] of calls) if (call.answer === void 0) calls.set(key, {
		...call,
		tries: []
	});
}
/** A try that was cut off is none: it did not fail by itself. */
function failedTry(event) {globalThis.__t?.("testing/cassette-call.js#failedTry@2640");
	const { retry, error, cost } = event;
	if (retry !== true || error?.name !== "ModelError") return [];
	return [{
		error,
		isPaid: cost !== 0 || event.usage !== void 0
	}];
}
function failedOf({ answer }, tries) {globalThis.__t?.("testing/cassette-call.js#failedOf@2845");
	return tries.filter(({ isPaid }) => (globalThis.__t?.("testing/cassette-call.js#anonymous@2905"),(isPaid || answer?.ok === false))).map(({ error }) => (globalThis.__t?.("testing/cassette-call.js#anonymous@2957"),(error)));
}
function answerOf(event) {globalThis.__t?.("testing/cassette-call.js#answerOf@2982");
	if (!event.ok) return {
		ok: false,
		error: event.error ?? {
			name: "StepError",
			code: "ERROR",
			message: "It failed."
		}
	};
	const parsed = ResponseSchema.safeParse(event.value);
	if (parsed.success) return {
		ok: true,
		response: parsed.data
	};
	throw new UsageError("CASSETTE_INVALID", `Expected the answer of a model at event ${event.seq} of run ${event.runId}, got something else: ${z.prettifyError(parsed.error).slice(0, 300)}. Record the run again.`);
}
function asObject(request) {globalThis.__t?.("testing/cassette-call.js#asObject@3485");
	return isRecord(request) ? request : {};
}
/** A request on its way, in the form in which requests are compared. */
function liveForm(request, mask) {globalThis.__t?.("testing/cassette-call.js#liveForm@3631");
	return formOf(masked(mask, JSON.parse(canonicalJson(request))));
}
/** A recorded request in all the forms that it can have on its way; the most likely one first. */
function recordedForms({ model: _model, schema, ...request }) {globalThis.__t?.("testing/cassette-call.js#recordedForms@3833");
	if (schema === void 0) return [formOf(request)];
	const messages = request["messages"];
	const output = {
		json: schema,
		strict: strictSchema(schema),
		wrapped: false
	};
	return rungsFor(output).flatMap((rung) => {globalThis.__t?.("testing/cassette-call.js#anonymous@4106");
		const withFormat = {
			...request,
			schema: rung.format
		};
		return [formOf({
			...withFormat,
			messages: promptFor(messages, output, rung)
		}), formOf(withFormat)];
	});
}
/** Whether two requests allow a reply of the same length. Where one does not say, the other may say what it likes. */
function isSameLength(a, b) {globalThis.__t?.("testing/cassette-call.js#isSameLength@4421");
	return a === void 0 || b === void 0 || a === b;
}
function formOf({ maxTokens: _maxTokens, messages, schema, ...rest }) {globalThis.__t?.("testing/cassette-call.js#formOf@4502");
	const form = {
		...rest,
		messages: withPlainTail(messages)
	};
	return schema === void 0 ? form : {
		...form,
		schema: unordered(schema)
	};
}
/** Where the last line of a prompt is a JSON object, as a schema told in words is, the order of its members does not count. */
function withPlainTail(messages) {globalThis.__t?.("testing/cassette-call.js#withPlainTail@4851");
	const list = Array.isArray(messages) ? messages : [];
	const last = list.at(-1);
	const content = last?.["content"];
	if (last === void 0 || typeof content !== "string") return list;
	const tail = content.lastIndexOf("\n") + 1;
	return [...list.slice(0, -1), {
		...last,
		content: content.slice(0, tail) + plainLine(content.slice(tail))
	}];
}
function plainLine(line) {globalThis.__t?.("testing/cassette-call.js#plainLine@5233");
	if (!line.startsWith("{")) return line;
	try {
		return canonicalJson(JSON.parse(line));
	} catch {
		return line;
	}
}
/** A reply format without the orders that follow from the order of a schema's members: of names, and of rules told in a description. */
function unordered(format) {globalThis.__t?.("testing/cassette-call.js#unordered@5518");
	return JSON.parse(JSON.stringify(format), (key, value) => {globalThis.__t?.("testing/cassette-call.js#anonymous@5590");
		if (key === "required" && isList(value)) return value.map((name) => (globalThis.__t?.("testing/cassette-call.js#anonymous@5668"),(canonicalJson(name)))).sort();
		return key === "description" && typeof value === "string" ? value.split(/[ ,()]+/).sort().join(" ") : value;
	});
}
/** The call whose request is most like one: with the fewest characters between the beginning and the end that both have. */
function nearestCall(calls, wanted) {globalThis.__t?.("testing/cassette-call.js#nearestCall@5950");
	const text = canonicalJson(wanted);
	let best;
	let least = Infinity;
	for (const call of calls) for (const form of recordedForms(call.request)) {
		const far = distance(canonicalJson(form), text);
		if (far >= least) continue;
		least = far;
		best = {
			call,
			form
		};
	}
	return best;
}
/** A recorded request and one that was asked, side by side. */
function besideText({ call, form }, asked, maxTokens) {globalThis.__t?.("testing/cassette-call.js#besideText@6348");
	const lengths = [{ maxTokens: call.request["maxTokens"] ?? null }, { maxTokens: maxTokens ?? null }];
	const found = requestDifference(form, asked) ?? requestDifference(...lengths);
	const text = found === void 0 ? "" : `\n${requestDifferenceText(found, ["recorded", "asked now"])}`;
	return `The nearest was asked by ${call.act}:${text}`;
}
function distance(a, b) {globalThis.__t?.("testing/cassette-call.js#distance@6747");
	const shorter = Math.min(a.length, b.length);
	let start = 0;
	while (start < shorter && a[start] === b[start]) start += 1;
	let end = 0;
	while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
	return Math.max(a.length, b.length) - start - end;
}
/** The model that was recorded, or the one of several that is meant. @throws UsageError `CASSETTE_MODELS` */
function recordedModel(calls, wanted) {globalThis.__t?.("testing/cassette-call.js#recordedModel@7168");
	const models = [...new Set(calls.map((call) => (globalThis.__t?.("testing/cassette-call.js#models@7246"),(call.model))))];
	const [only] = models;
	if (only === void 0) return wanted ?? "cassette";
	if (wanted === void 0 && models.length === 1) return only;
	if (wanted !== void 0 && models.includes(wanted)) return wanted;
	throw new UsageError("CASSETTE_MODELS", `Expected the id of one of the recorded models (${models.join(", ")}), got ${wanted ?? "none"}. Say which: cassetteModel(cassette, { id }).`);
}
/** A model that cost nothing, although no list says so, had said so itself. */
function freePrice(id, calls) {globalThis.__t?.("testing/cassette-call.js#freePrice@7738");
	if (calls.length === 0 || priceOf({ id }) !== void 0) return void 0;
	return calls.every((call) => (globalThis.__t?.("testing/cassette-call.js#anonymous@7860"),(call.cost === 0))) ? {
		input: 0,
		output: 0
	} : void 0;
}
/** The most tokens of a reply, when it was the same for all. */
function commonLength(calls) {globalThis.__t?.("testing/cassette-call.js#commonLength@7995");
	const [first, ...others] = new Set(calls.map((call) => (globalThis.__t?.("testing/cassette-call.js#anonymous@8072"),(call.request["maxTokens"]))));
	return typeof first === "number" && others.length === 0 ? first : void 0;
}
/** The provider's own fields that all requests had. */
function commonExtra(calls) {globalThis.__t?.("testing/cassette-call.js#commonExtra@8244");
	const [first, ...others] = calls.map((call) => (globalThis.__t?.("testing/cassette-call.js#anonymous@8312"),(Object.entries(call.request["extra"] ?? {}))));
	const texts = others.map((members) => (globalThis.__t?.("testing/cassette-call.js#texts@8394"),(new Set(members.map((member) => (globalThis.__t?.("testing/cassette-call.js#anonymous@8427"),(canonicalJson(member))))))));
	const common = (first ?? []).filter((member) => (globalThis.__t?.("testing/cassette-call.js#common@8502"),(texts.every((has) => (globalThis.__t?.("testing/cassette-call.js#anonymous@8526"),(has.has(canonicalJson(member))))))));
	return common.length === 0 ? void 0 : Object.fromEntries(common);
}
export { besideText, commonExtra, commonLength, freePrice, isSameLength, liveForm, nearestCall, recordedCalls, recordedForms, recordedModel };
