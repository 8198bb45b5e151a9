import { budgetPool } from "../../model/budget-pool.js";
import { TroupeError } from "../../kernel/troupe-error.js";
import { OutputError, StepError, WaitingError } from "../../kernel/errors.js";
import { lazily } from "../../kernel/lazily.js";
import { randomStream } from "../../kernel/random.js";
import { askModel, missingModel, steppedModel } from "../../model/ask.js";
import { outputSchema } from "../../model/json-schema.js";
import { sharedLimits } from "../../model/limits.js";
import { bothOf } from "../../model/told-text.js";
import { thrownText, valueText } from "../../kernel/value-text.js";
// ../../work/wt/lead/src/runtime/steps/answerer.ts
/** Who answers a role's questions: a model, or the person who plays it. Limits given as options become one object, that all its calls share. */
var Answerer = class {
	#parts;
	#policy;
	constructor(parts) {globalThis.__t?.("runtime/steps/answerer.js#constructor@858");
		this.#parts = parts;
		const { clock, prices, requirePrice, logger } = parts;
		const limits = sharedLimits(parts.limits);
		const stream = lazily(() => (globalThis.__t?.("runtime/steps/answerer.js#stream@1017"),(randomStream(parts.seed, "retry"))));
		this.#policy = {
			clock,
			random: () => (globalThis.__t?.("runtime/steps/answerer.js#random@1099"),(stream()())),
			limits,
			prices,
			requirePrice,
			logger
		};
	}
	/** @throws UsageError `MODEL_MISSING` when a model is needed and none is set. */
	async ask(question) {globalThis.__t?.("runtime/steps/answerer.js#ask@1267");
		const { spec, options, card, steps } = question;
		if (spec.role.human) return this.#askPerson(question);
		const model = options.model ?? spec.role.model ?? this.#parts.model ?? missingModel(card.name);
		const messages = this.#messages(question);
		const { temperature, maxTokens, schema } = options;
		const input = {
			steps,
			model,
			messages,
			policy: this.#policy,
			...bothOf(options, this.#teller(card)),
			...temperature === void 0 ? {} : { temperature },
			...maxTokens === void 0 ? {} : { maxTokens }
		};
		return schema === void 0 ? askModel(input) : askModel({
			...input,
			schema
		});
	}
	/** The role's own model, or the team's, behind the activation's door. @throws UsageError `MODEL_MISSING` */
	model(steps, { role }, card) {globalThis.__t?.("runtime/steps/answerer.js#model@2016");
		const model = role.model ?? this.#parts.model ?? missingModel(card.name);
		return steppedModel(model, {
			steps,
			policy: this.#policy,
			...this.#teller(card)
		});
	}
	/** A model for what nobody listens to: the one given, else as {@link model}. @throws UsageError `MODEL_MISSING` */
	quietModel(steps, { role }, card, given) {globalThis.__t?.("runtime/steps/answerer.js#quietModel@2346");
		return steppedModel(given ?? role.model ?? this.#parts.model ?? missingModel(card.name), {
			steps,
			policy: this.#policy
		});
	}
	/** How calls are made. */
	get policy() {globalThis.__t?.("runtime/steps/answerer.js#policy get@2554");
		return this.#policy;
	}
	/** Asks a person; without one the run waits. */
	askHuman(steps, card, question) {globalThis.__t?.("runtime/steps/answerer.js#askHuman@2644");
		return steps.step({
			kind: "human",
			name: "ask",
			request: {
				role: card.name,
				question
			}
		}, (door) => (globalThis.__t?.("runtime/steps/answerer.js#anonymous@2784"),(this.#answerOf({
			id: door.key,
			text: question,
			role: card.name
		}, door.signal))));
	}
	/** How a role reaches a person through a door. */
	human(steps, card) {globalThis.__t?.("runtime/steps/answerer.js#human@2947");
		return {
			ask: (question) => (globalThis.__t?.("runtime/steps/answerer.js#ask@2982"),(this.askHuman(steps, card, question))),
			answer: (question, signal) => (globalThis.__t?.("runtime/steps/answerer.js#answer@3045"),(this.#answerOf({
				...question,
				role: card.name
			}, signal)))
		};
	}
	/** What the effect of a step is given. */
	effectDoor(door, spec, card) {globalThis.__t?.("runtime/steps/answerer.js#effectDoor@3198");
		const ask = (prompt, options = {}) => (globalThis.__t?.("runtime/steps/answerer.js#ask@3233"),(this.ask({
			steps: door,
			spec,
			card,
			prompt,
			options
		})));
		const { key, mode, signal, ending, attempts, step } = door;
		return {
			key,
			mode,
			signal,
			ending,
			attempts,
			step,
			budget: attempts.budget ?? budgetPool(Number.MAX_SAFE_INTEGER),
			ask,
			human: this.human(door, card)
		};
	}
	async #answerOf(question, signal) {globalThis.__t?.("runtime/steps/answerer.js#answerOf@3598");
		const { human } = this.#parts;
		if (human === void 0) throw new WaitingError({
			questionId: question.id,
			question: question.text,
			role: question.role
		});
		return answerOf(human, question, signal);
	}
	/** Who a role is and with whom it works. */
	introduction(card) {globalThis.__t?.("runtime/steps/answerer.js#introduction@3892");
		const { description, colleagues } = this.#parts.company;
		return introduction(card, {
			description,
			colleagues: description === "" ? [] : colleagues().filter((name) => (globalThis.__t?.("runtime/steps/answerer.js#colleagues@4067"),(name !== card.name)))
		});
	}
	/** For limits of time alone. */
	get clock() {globalThis.__t?.("runtime/steps/answerer.js#clock get@4150");
		return this.#parts.clock;
	}
	async #askPerson({ steps, card, prompt, options: { schema } }) {globalThis.__t?.("runtime/steps/answerer.js#askPerson@4203");
		if (schema !== void 0) outputSchema(schema);
		const answer = await this.askHuman(steps, card, prompt);
		if (schema === void 0) return answer;
		const parsed = schema.safeParse(parsedJson(answer));
		if (parsed.success) return parsed.data;
		const second = await this.askHuman(steps, card, `${prompt}\n\nYour answer did not fit: ${parsed.error.message}\nAnswer in JSON.`);
		const again = schema.safeParse(parsedJson(second));
		if (again.success) return again.data;
		throw new OutputError("OUTPUT_INVALID", `Expected ${card.name}, played by a person, to answer what was asked: ${again.error.message}`, { data: { text: second } });
	}
	#messages({ card, prompt, options, remembered = [] }) {globalThis.__t?.("runtime/steps/answerer.js#messages@4901");
		const intro = this.introduction(card);
		const system = options.system === void 0 ? intro : `${intro}\n\n${options.system}`;
		const user = {
			role: "user",
			content: prompt,
			...options.images === void 0 ? {} : { images: options.images }
		};
		return [
			{
				role: "system",
				content: system
			},
			...remembered,
			user
		];
	}
	/** Tells listeners of the run what a role's model says. */
	#teller({ name: role }) {globalThis.__t?.("runtime/steps/answerer.js#teller@5365");
		const [delta, taken] = [this.#parts.tell("model.delta"), this.#parts.tell("model.void")];
		if (delta === void 0 && taken === void 0) return nobody;
		return {
			onDelta: (text, info) => (globalThis.__t?.("runtime/steps/answerer.js#onDelta@5558"),(delta?.({
				type: "model.delta",
				role,
				...info,
				text
			}))),
			onVoid: taken && ((info) => (globalThis.__t?.("runtime/steps/answerer.js#onVoid@5669"),(taken({
				type: "model.void",
				role,
				...info
			}))))
		};
	}
};
const nobody = {};
function parsedJson(text) {globalThis.__t?.("runtime/steps/answerer.js#parsedJson@5770");
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}
/**
* Asks a person and takes nothing but a text for an answer.
*
* @throws StepError `ANSWER_INVALID` for an answer that is no text; `HUMAN_FAILED` when asking fails. An error of this package comes as it is.
*/
async function answerOf(human, question, signal) {globalThis.__t?.("runtime/steps/answerer.js#answerOf@6075");
	const answer = await asked(human, question, signal);
	if (typeof answer === "string") return answer;
	throw new StepError("ANSWER_INVALID", `Expected the person asked by ${question.role} to answer with a text, got ${valueText(answer)}. Let the human port return a string.`);
}
async function asked(human, question, signal) {globalThis.__t?.("runtime/steps/answerer.js#asked@6404");
	try {
		return await human(question, { signal });
	} catch (error) {
		if (TroupeError.isInstance(error)) throw error;
		const said = thrownText(error);
		throw new StepError("HUMAN_FAILED", `Expected the person asked by ${question.role} to answer, but asking failed: ${said}${/[.!?]$/.test(said) ? "" : "."} Mend the human port and resume the run.`, { cause: error });
	}
}
/**
* The system prompt that introduces a role: its description as it is, else who it is and what it is for (MetaGPT's prefix).
* Nothing in it changes from call to call, so providers can cache it and forks do not pay for it again.
*/
function introduction(card, company) {globalThis.__t?.("runtime/steps/answerer.js#introduction@7063");
	const self = card.description === "" ? describe(card) : card.description;
	if (company.description === "") return self;
	const others = company.colleagues.length === 0 ? "" : ` with the roles ${company.colleagues.join(", ")}`;
	return `${self} You are in ${company.description}${others}.`;
}
function describe(card) {globalThis.__t?.("runtime/steps/answerer.js#describe@7395");
	return `${card.profile === "" ? `You are ${card.name}` : `You are ${article(card.profile)} ${card.profile}, named ${card.name}`}${card.goal === "" ? "." : `, and your goal is: ${card.goal}.`}${card.constraints === "" ? "" : ` Keep to these constraints: ${card.constraints}.`}`;
}
function article(noun) {globalThis.__t?.("runtime/steps/answerer.js#article@7702");
	return /^[aeiou]/i.test(noun) ? "an" : "a";
}
export { Answerer, answerOf, introduction };
