import "../_virtual/_rolldown/runtime.js";
import { Agent } from "../agent/agent.js";
import { ControlError, StepError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
import { ChatMemory } from "../memory/chat-memory.js";
import { toChat } from "../model/chat-message.js";
import { ActionView } from "./action-view.js";
// ../../work/wt/lead/src/role/agent-mode.ts
const RECENT = 200;
/** Messages of the agent's own work that have room; it makes room by tokens long before. */
const LATER = 1e3;
/**
* Mode `agent`: an agent works on the news until it has an answer, which is what the role says. It is made for this activation and gone after
* it; what the role remembers is what it goes on from. Every answer of its model, every call of a tool and every permission is a step, so an
* activation that runs again repeats none that is recorded. Where its first action has an output schema, the answer is a value of that.
*
* @throws OutputError `OUTPUT_INVALID` when the answer does not fit the schema of the action, also after it was asked for in that form.
* @throws StepError `AGENT_UNFINISHED` when it ends without an answer; what its model, its net or the agent itself failed with.
*/
async function reactAsAgent(role, spec, rc) {globalThis.__t?.("role/agent-mode.js#reactAsAgent@1222");
	const action = spec.actions[0];
	const cause = action?.name ?? role.name;
	const task = rc.news.map((message) => (globalThis.__t?.("role/agent-mode.js#task@1369"),(toChat(message).content ?? ""))).join("\n\n");
	rc.began?.(cause);
	if (action?.output !== void 0) {
		const { output, denied } = await typedBy(role, spec, rc, task, action.output);
		return kept(rc, typedMessage(rc, action, output, denied));
	}
	if (role.human) return kept(rc, rc.message(await rc.ask(task), { causeBy: cause }));
	const { answer, denied } = answerOf(await worked(role, spec, rc, task), rc.name, spec.maxReactLoop);
	return kept(rc, rc.message(answer, {
		causeBy: cause,
		...toldDenied(denied)
	}));
}
/** Calls that were not allowed stand with the answer, which may not speak of them. */
function toldDenied(denied) {globalThis.__t?.("role/agent-mode.js#toldDenied@1989");
	return denied.length === 0 ? {} : { metadata: { denied: denied.map(({ tool, why }) => ((globalThis.__t?.("role/agent-mode.js#denied@2087"),({
		tool,
		why
	})))) } };
}
function kept(rc, answer) {globalThis.__t?.("role/agent-mode.js#kept@2135");
	rc.memory.add(answer);
	return answer;
}
/** The answer as a value of the action's schema: what its message carries. */
async function typedBy(role, spec, rc, task, schema) {globalThis.__t?.("role/agent-mode.js#typedBy@2284");
	if (role.human) return {
		output: await rc.ask(task, { schema }),
		denied: []
	};
	return answerOf(await worked(role, spec, rc, task), rc.name, spec.maxReactLoop);
}
/** A message of an action with an output schema, as all such messages are: its text is the action's rendering, its payload the value. */
function typedMessage(rc, action, output, denied) {globalThis.__t?.("role/agent-mode.js#typedMessage@2646");
	const view = new ActionView(rc, action, {});
	const sendTo = action.sendTo?.(view, output);
	return rc.message(action.render?.(output) ?? canonicalJson(output), {
		causeBy: action.name,
		instructContent: output,
		...toldDenied(denied),
		...sendTo === void 0 ? {} : { sendTo }
	});
}
async function worked(role, spec, rc, task) {globalThis.__t?.("role/agent-mode.js#worked@2986");
	const { recent = RECENT, systemPrompt = "", ...options } = role.agent ?? {};
	const output = spec.actions[0]?.output;
	const memory = new ChatMemory({ maxMessages: recent + LATER });
	const recalled = await rc.recall();
	memory.addAll(recalled.length > 0 ? recalled : before(rc, recent).map(toChat));
	const run = new Agent({
		...options,
		name: rc.name,
		model: rc.model,
		steps: rc.steps,
		tools: role.tools ?? [],
		memory,
		maxSteps: spec.maxReactLoop,
		...output === void 0 ? {} : { output },
		clock: rc.clock,
		...rc.toolDeps === void 0 ? {} : { deps: rc.toolDeps },
		systemPrompt: systemPrompt === "" ? rc.introduction : `${rc.introduction}\n\n${systemPrompt}`,
		approve: ({ id, text }, { signal }) => (globalThis.__t?.("role/agent-mode.js#approve@3723"),(rc.human.answer({
			id,
			text
		}, signal))),
		ask: ({ id, text }, { signal }) => (globalThis.__t?.("role/agent-mode.js#ask@3807"),(rc.human.answer({
			id,
			text
		}, signal)))
	}).run(task, { signal: rc.signal });
	for await (const event of run) if (event.type === "warning") rc.logger.warn(event.text);
	return run.result;
}
/** What the role remembered before the news came. */
function before(rc, recent) {globalThis.__t?.("role/agent-mode.js#before@4087");
	const news = new Set(rc.news.map(({ id }) => (globalThis.__t?.("role/agent-mode.js#news@4151"),(id))));
	return recent === 0 ? [] : rc.memory.get(recent + news.size).filter(({ id }) => (globalThis.__t?.("role/agent-mode.js#anonymous@4238"),(!news.has(id))));
}
function answerOf(result, name, maxSteps) {globalThis.__t?.("role/agent-mode.js#answerOf@4268");
	const { status, error } = result;
	if (status === "finished") return result;
	if (error instanceof ControlError || error !== void 0) throw error;
	const why = status === "loop" ? "it did the same again and again" : `its ${maxSteps} steps were used up`;
	throw new StepError("AGENT_UNFINISHED", `Expected ${name} to come to an answer, but ${why}. Raise maxReactLoop, give it other tools, or ask for less at once.`);
}
export { reactAsAgent };
