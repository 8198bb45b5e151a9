import { isRecord } from "../kernel/value-kind.js";
import { z } from "zod";
// ../../work/wt/lead/src/testing/openai-body.ts
const text = z.strictObject({
	type: z.literal("text"),
	text: z.string()
});
const image = z.strictObject({
	type: z.literal("image_url"),
	image_url: z.strictObject({
		url: z.string().regex(/^(https?:\/\/|data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/]+=*$)/),
		detail: z.enum([
			"auto",
			"low",
			"high"
		]).optional()
	})
});
const speaker = z.string().regex(/^[^\s<|\\/>]{1,64}$/).optional();
const functionName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const toolCall = z.strictObject({
	id: z.string().min(1),
	type: z.literal("function"),
	function: z.strictObject({
		name: functionName,
		arguments: z.string()
	}),
	extra_content: z.record(z.string(), z.json()).optional()
});
const message = z.discriminatedUnion("role", [
	z.strictObject({
		role: z.enum(["system", "developer"]),
		content: z.union([z.string(), z.array(text).min(1)]),
		name: speaker
	}),
	z.strictObject({
		role: z.literal("user"),
		content: z.union([z.string(), z.array(z.union([text, image])).min(1)]),
		name: speaker
	}),
	z.strictObject({
		role: z.literal("assistant"),
		content: z.string().optional(),
		name: speaker,
		tool_calls: z.array(toolCall).min(1).optional()
	}).refine((said) => (globalThis.__t?.("testing/openai-body.js#message@1305"),(said.content !== void 0 || said.tool_calls !== void 0)), "an assistant's message has content or tool_calls"),
	z.strictObject({
		role: z.literal("tool"),
		content: z.union([z.string(), z.array(text).min(1)]),
		tool_call_id: z.string().min(1)
	})
]);
const jsonSchema = z.record(z.string(), z.json());
const format = z.discriminatedUnion("type", [
	z.strictObject({ type: z.literal("text") }),
	z.strictObject({ type: z.literal("json_object") }),
	z.strictObject({
		type: z.literal("json_schema"),
		json_schema: z.strictObject({
			name: functionName,
			description: z.string().optional(),
			strict: z.boolean().optional(),
			schema: jsonSchema.optional()
		})
	})
]);
const tokens = z.int().min(1).optional();
/**
* What OpenAI's server accepts as the body of `chat/completions`, as far as this package can ask for it: no other fields, no nulls, and
* the rules that stand in the words of its documentation.
*/
const OpenAIBodySchema = z.strictObject({
	model: z.string().min(1),
	messages: z.array(message).min(1),
	tools: z.array(z.strictObject({
		type: z.literal("function"),
		function: z.strictObject({
			name: functionName,
			description: z.string().optional(),
			parameters: jsonSchema.optional(),
			strict: z.boolean().optional()
		})
	})).min(1).max(128).optional(),
	tool_choice: z.union([z.enum([
		"none",
		"auto",
		"required"
	]), z.strictObject({
		type: z.literal("function"),
		function: z.strictObject({ name: functionName })
	})]).optional(),
	parallel_tool_calls: z.boolean().optional(),
	response_format: format.optional(),
	temperature: z.number().min(0).max(2).optional(),
	top_p: z.number().min(0).max(1).optional(),
	max_tokens: tokens,
	max_completion_tokens: tokens,
	seed: z.int().optional(),
	stop: z.union([z.string(), z.array(z.string()).min(1).max(4)]).optional(),
	stream: z.boolean().optional(),
	stream_options: z.strictObject({ include_usage: z.boolean().optional() }).optional(),
	reasoning_effort: z.enum([
		"none",
		"minimal",
		"low",
		"medium",
		"high",
		"xhigh"
	]).optional(),
	user: z.string().optional()
}).superRefine((body, ctx) => {globalThis.__t?.("testing/openai-body.js#OpenAIBodySchema@3396");
	for (const problem of rulesBroken(body)) ctx.addIssue({
		code: "custom",
		message: problem
	});
});
function rulesBroken(body) {globalThis.__t?.("testing/openai-body.js#rulesBroken@3516");
	const broken = [...conversationErrors(body.messages)];
	if (body.max_tokens !== void 0 && body.max_completion_tokens !== void 0) broken.push("max_tokens and max_completion_tokens exclude each other");
	if (body.tool_choice !== void 0 && body.tools === void 0) broken.push("tool_choice is only allowed when tools are given");
	if (body.stream_options !== void 0 && body.stream !== true) broken.push("stream_options is only allowed when stream is true");
	const wanted = body.response_format;
	if (wanted?.type === "json_object" && !/json/i.test(JSON.stringify(body.messages))) broken.push("messages must contain the word json to use response_format json_object");
	if (wanted?.type === "json_schema" && wanted.json_schema.strict === true) broken.push(...strictErrors(wanted.json_schema.schema ?? {}, "schema", true));
	return broken;
}
/** Each call of a tool is answered at once and once; nothing is answered that was not called. */
function conversationErrors(messages) {globalThis.__t?.("testing/openai-body.js#conversationErrors@4479");
	const broken = [];
	let open = /* @__PURE__ */ new Set();
	for (const said of messages) {
		if (said.role === "tool") {
			if (!open.delete(said.tool_call_id ?? "")) broken.push(`a tool message answers ${said.tool_call_id}, which no tool_calls before it has open`);
			continue;
		}
		if (open.size > 0) broken.push(`tool_calls without an answer: ${[...open].join(", ")}`);
		open = new Set(said.tool_calls?.map((call) => (globalThis.__t?.("testing/openai-body.js#anonymous@4932"),(call.id))));
	}
	return open.size > 0 ? [...broken, `tool_calls without an answer: ${[...open].join(", ")}`] : broken;
}
const STRICT_KEYWORDS = /* @__PURE__ */ new Set([
	"type",
	"properties",
	"required",
	"additionalProperties",
	"items",
	"anyOf",
	"enum",
	"const",
	"description",
	"$ref",
	"$defs"
]);
/** OpenAI's rules of strict schemas. */
function strictErrors(schema, path, isRoot) {globalThis.__t?.("testing/openai-body.js#strictErrors@5291");
	if (!isRecord(schema)) return [`${path} is not a schema`];
	const node = schema;
	const broken = Object.keys(node).filter((key) => (globalThis.__t?.("testing/openai-body.js#broken@5460"),(!STRICT_KEYWORDS.has(key)))).map((key) => (globalThis.__t?.("testing/openai-body.js#broken@5500"),(`${path}: '${key}' is not permitted`)));
	if (node["$ref"] !== void 0 && Object.keys(node).length > 1) broken.push(`${path}: $ref cannot have other keywords`);
	if (isRoot && node["type"] !== "object") broken.push(`${path} must be an object`);
	if (node["$ref"] === void 0 && node["anyOf"] === void 0 && node["type"] === void 0) broken.push(`${path} has no type`);
	if (node["type"] === "object") broken.push(...objectErrors(node, path));
	if (node["type"] === "array") broken.push(...strictErrors(node["items"], `${path}.items`, false));
	const branches = Array.isArray(node["anyOf"]) ? node["anyOf"] : [];
	const defs = typeof node["$defs"] === "object" && node["$defs"] !== null ? Object.entries(node["$defs"]) : [];
	return [
		...broken,
		...branches.flatMap((branch, index) => (globalThis.__t?.("testing/openai-body.js#anonymous@6272"),(strictErrors(branch, `${path}.anyOf[${index}]`, false)))),
		...defs.flatMap(([name, def]) => (globalThis.__t?.("testing/openai-body.js#anonymous@6366"),(strictErrors(def, `${path}.$defs.${name}`, false))))
	];
}
function objectErrors(node, path) {globalThis.__t?.("testing/openai-body.js#objectErrors@6440");
	const properties = typeof node["properties"] === "object" && node["properties"] !== null ? Object.entries(node["properties"]) : [];
	const required = Array.isArray(node["required"]) ? node["required"] : [];
	const missing = properties.filter(([name]) => (globalThis.__t?.("testing/openai-body.js#missing@6719"),(!required.includes(name)))).map(([name]) => (globalThis.__t?.("testing/openai-body.js#missing@6761"),(`${path}: '${name}' is missing in required`)));
	return [
		...node["additionalProperties"] === false ? [] : [`${path}: additionalProperties must be false`],
		...missing,
		...properties.flatMap(([name, property]) => (globalThis.__t?.("testing/openai-body.js#anonymous@6967"),(strictErrors(property, `${path}.${name}`, false))))
	];
}
export { OpenAIBodySchema };
