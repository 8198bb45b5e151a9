import { eitherSignal } from "../kernel/abort.js";
import { OutputError, UsageError } from "../kernel/errors.js";
import { boundedRequest, callModel } from "./call.js";
import { addUsage } from "./chat-model.js";
import { outputSchema } from "./json-schema.js";
import { askAgain, issueLine, promptFor, readReply, withLadder } from "./structured-output.js";
import { LastTold, ToldText, bothOf } from "./told-text.js";
// ../../work/wt/lead/src/model/ask.ts
const KEPT_TEXT = 1e5;
/** Most of one issue that an error's message repeats, in characters. */
const SHOWN_ISSUE = 300;
/** How often a reply that does not fit its schema is asked for again. */
const REASKS = 1;
/**
* One model call as one step: recorded under what decides its answer (model, messages, tools, schema, sampling), and answered from the
* record next time. How it travels (streamed or not, which reply format) is no part of its address.
*
* @throws ModelError, ControlError: see {@link callModel}
*/
function chatStep(request, way) {globalThis.__t?.("model/ask.js#chatStep@973");
	return recordedCall(request, way);
}
async function askModel(input) {globalThis.__t?.("model/ask.js#askModel@1045");
	if (input.schema === void 0) return (await recordedCall({
		...input,
		schema: void 0
	}, input)).content;
	const output = outputSchema(input.schema);
	let messages = input.messages;
	let usage = {
		inputTokens: 0,
		outputTokens: 0
	};
	for (let n = 0;; n++) {
		const way = new LastTold(input, input.policy.logger);
		const reply = await recordedCall({
			...input,
			messages,
			schema: void 0
		}, {
			...input,
			...way.listener
		}, output, n > 0);
		usage = addUsage(usage, reply.usage);
		const read = readReply(reply.content, input.schema, output);
		if (read.ok) return read.value;
		way.takeBack();
		if (n === REASKS) throw outputError(input.model.id, reply.content, read.issues, usage);
		input.policy.logger?.warn(`${input.model.id}: a reply did not fit and is asked for again. ${issuesText(read.issues, 3)}`);
		messages = askAgain(messages, output, reply.content, read.issues);
	}
}
/**
* Asks in one step. The step records the raw answer; reading it against a schema happens outside, so that a changed reader reads old records.
*
* @throws UsageError `MESSAGES_EMPTY`, `PRICE_INVALID`
*/
async function recordedCall(asked, way, output, isSchemaTold = false) {globalThis.__t?.("model/ask.js#recordedCall@2190");
	const { model, policy, steps } = way;
	if (asked.messages.length === 0) throw new UsageError("MESSAGES_EMPTY", `Expected at least one message for ${model.id}, got none.`);
	const request = boundedRequest(model, requestOf(asked, model), policy.prices);
	const address = output === void 0 ? {
		model: model.id,
		...request
	} : {
		model: model.id,
		...request,
		schema: output.json
	};
	let isLive = false;
	let recorded = {
		act: "",
		key: "",
		try: 1
	};
	const onRecorded = way.onDelta === void 0 ? void 0 : (by) => (globalThis.__t?.("model/ask.js#onRecorded@2780"),(void (recorded = by)));
	const reply = await steps.step({
		kind: "model",
		name: model.id,
		request: address,
		metered: true,
		onRecorded
	}, (door) => {globalThis.__t?.("model/ask.js#reply@2933");
		isLive = true;
		const signal = way.signal === void 0 ? door.ending ?? door.signal : eitherSignal(way.signal, door.signal);
		const attempts = way.meter === void 0 ? door.attempts : metered(door.attempts, way.meter);
		const deps = {
			...policy,
			attempts,
			signal,
			onDelta: way.onDelta,
			onVoid: way.onVoid
		};
		if (output === void 0) return callModel(model, request, deps);
		return withLadder(model, output, (rung) => {globalThis.__t?.("model/ask.js#anonymous@3371");
			const messages = isSchemaTold ? request.messages : promptFor(request.messages, output, rung);
			return callModel(model, {
				...request,
				messages,
				schema: rung.format
			}, deps);
		});
	});
	if (!isLive && reply.content !== "") new ToldText(way, policy.logger, recorded).tell(reply.content);
	return reply;
}
/** Everything that decides the answer, and nothing else. The model's own extra fields are said here, so that they are part of the address. */
function requestOf(asked, model) {globalThis.__t?.("model/ask.js#requestOf@3849");
	const { tools, toolChoice, schema, temperature, maxTokens, seed, stop, extra } = asked;
	const request = { messages: asked.messages };
	if (tools !== void 0 && tools.length > 0) request.tools = tools;
	if (toolChoice !== void 0) request.toolChoice = toolChoice;
	if (schema !== void 0) request.schema = schema;
	if (temperature !== void 0) request.temperature = temperature;
	if (maxTokens !== void 0) request.maxTokens = maxTokens;
	if (seed !== void 0) request.seed = seed;
	if (stop !== void 0) request.stop = stop;
	if (model.extra === void 0 && extra === void 0) return request;
	const both = {
		...model.extra,
		...extra
	};
	if (Object.keys(both).length > 0) request.extra = both;
	return request;
}
function outputError(model, text, issues, usage) {globalThis.__t?.("model/ask.js#outputError@4594");
	const data = {
		text: text.slice(0, KEPT_TEXT),
		issues,
		usage
	};
	const said = issuesText(issues, 5);
	return new OutputError("OUTPUT_INVALID", `Expected a reply of ${model} that fits its schema, also after asking again, but: ${said}. Use another model, ask for less at once, or simplify the schema.`, { data });
}
/** The first issues, each cut to a length at which what to do about them is still seen: their words are partly the model's. */
function issuesText(issues, count) {globalThis.__t?.("model/ask.js#issuesText@5095");
	return issues.slice(0, count).map(issueLine).map((line) => (globalThis.__t?.("model/ask.js#anonymous@5182"),(line.length > SHOWN_ISSUE ? `${line.slice(0, SHOWN_ISSUE)}…` : line))).join("; ");
}
/** Attempts that tell a meter of each try. */
function metered(attempts, meter) {globalThis.__t?.("model/ask.js#metered@5322");
	return {
		get current() {globalThis.__t?.("model/ask.js#current get@5381");
			return attempts.current;
		},
		get budget() {globalThis.__t?.("model/ask.js#budget get@5431");
			return attempts.budget;
		},
		async open(hold, o = {}) {globalThis.__t?.("model/ask.js#open@5480");
			await attempts.open(hold, o);
			meter.opened(hold, o.unpriced === true);
		},
		settle(outcome) {globalThis.__t?.("model/ask.js#settle@5587");
			attempts.settle(outcome);
			meter.settled(outcome);
		}
	};
}
/** Puts a model behind a door; one that stands behind a door already is given the other door instead, or its answers would be recorded twice. */
function steppedModel(model, parts) {globalThis.__t?.("model/ask.js#steppedModel@5811");
	if (isStepped(model)) return model.through(parts.steps);
	const { steps, policy } = parts;
	const chat = (request, o) => (globalThis.__t?.("model/ask.js#chat@5955"),(chatStep(request, {
		model,
		steps,
		policy,
		signal: o.signal,
		meter: o.meter ?? parts.meter?.(),
		...bothOf(parts, o)
	})));
	return {
		id: model.id,
		...model.price === void 0 ? {} : { price: model.price },
		...model.maxOutputTokens === void 0 ? {} : { maxOutputTokens: model.maxOutputTokens },
		streams: false,
		chat,
		async *stream(request, o) {globalThis.__t?.("model/ask.js#stream@6318");
			const { content, toolCalls, finishReason, usage, refusal } = await chat(request, o);
			const calls = toolCalls.map(({ id, function: { name, arguments: args }, extra }, index) => ((globalThis.__t?.("model/ask.js#calls@6452"),({
				index,
				id,
				name,
				arguments: args,
				...extra === void 0 ? {} : { extra }
			}))));
			yield {
				content,
				...calls.length === 0 ? {} : { toolCalls: calls },
				finishReason,
				...usage === void 0 ? {} : { usage },
				...refusal === void 0 ? {} : { refusal }
			};
		},
		through: (other) => (globalThis.__t?.("model/ask.js#through@6823"),(steppedModel(model, {
			...parts,
			steps: other
		})))
	};
}
/** Stands in for the model of somebody who has none, and says so when it is asked. @throws UsageError `MODEL_MISSING` */
function missingModel(who) {globalThis.__t?.("model/ask.js#missingModel@7018");
	throw new UsageError("MODEL_MISSING", `${who} asks a model, but neither the role nor its environment has one. Give new Team({ model }) or defineRole({ model }).`);
}
/** Whether a model stands behind a door, which bounds its calls. */
function isStepped(model) {globalThis.__t?.("model/ask.js#isStepped@7283");
	return "through" in model && typeof model.through === "function";
}
export { askModel, chatStep, isStepped, missingModel, steppedModel };
