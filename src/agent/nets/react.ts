import { ModelError, OutputError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { ChatMessage, parseChatMessage, type ToolCall } from "../../model/chat-message.ts";
import type { ChatModel, ChatResponse } from "../../model/chat-model.ts";
import { errorData } from "../../model/failure.ts";
import { unsupportedBy } from "../../model/server-error.ts";
import { withoutThoughts } from "../../model/thoughts.ts";
import { readArguments } from "../../tool/call-arguments.ts";
import type { ToolCollection } from "../../tool/tool-collection.ts";
import { type CalledTool, notRun, resultText, toolMessage } from "../../tool/tool-result.ts";
import { type AgentMemory, type Answer, isOneOf, type NextAction, numberNote, observation, remark } from "../agent-memory.ts";
import { type Mind, Net, type NetState, type Question } from "../net.ts";
import { actionInstructions, readTextAction, type TextAction, writtenAction } from "../text-action.ts";

/** Options of {@link react}. */
export interface ReactOptions {
  /** Default: the agent's model. */
  readonly model?: ChatModel;
  /** Writes the answer in a state of its own. Default: the text without calls that ends the reasoning is the answer. */
  readonly answerModel?: ChatModel;
  /**
   * Native tool calls, or JSON in the model's text. Default "auto": tool calls, and also a text that consists of such JSON for a known
   * tool.
   */
  readonly actions?: "auto" | "native" | "text";
}

/** @internal */
export const reactOptions: Known<ReactOptions> = {
  ...kinds.each(kinds.model, "model", "answerModel"),
  actions: kinds.oneOf("auto", "native", "text"),
};

type Form = NonNullable<ReactOptions["actions"]>;

/** `then` names the state that follows an answer; without it the answer ends the work. */
export interface ReactParts extends ReactOptions {
  readonly then?: string;
  readonly prompt?: (memory: AgentMemory) => Promise<string | undefined>;
}

const CUT_TEXT =
  "Your reply reached its length limit before it was whole, so it could not be used. Say less at once: call a tool, or give a shorter answer.";
const MAX_MISSES = 3;
const MISSES = "react.misses";
/** The note is "text" when the model's server takes no tools. */
const FORM = "react.form";

/**
 * Reasoning and acting in turns until there is an answer: Yao et al., "ReAct" (arXiv 2210.03629). With native tool calls this is
 * OpenManus's ToolCallAgent; with JSON in text and a model for answers it is the net of three states, reasoning, action and answer.
 */
export function react(options: ReactOptions = {}): Net {
  checkKnownOptions("react", options, reactOptions);
  return new Net({ name: "react", start: reactStart, states: reactStates(options) });
}

export function reactStart(memory: AgentMemory): string {
  return memory.nextAction === undefined ? "reasoning" : "action";
}

export function reactStates(parts: ReactParts): Record<"reasoning" | "action" | "answer", NetState> {
  const afterAnswer = parts.answerModel === undefined ? parts.then : "answer";
  return { reasoning: thinking(parts, afterAnswer), action: acting(parts.then), answer: answering(parts.answerModel, parts.then) };
}

function thinking(parts: ReactParts, then: string | undefined): NetState {
  return {
    async *run(memory, mind) {
      memory.answer = undefined;
      const { actions = "auto" } = parts;
      let form = actions === "auto" && (await memory.note(FORM)) === "text" ? "text" : actions;
      const own = await parts.prompt?.(memory);
      let reply: ChatResponse;
      try {
        reply = yield* mind.ask(questionIn(form, memory, mind, parts.model, own));
      } catch (error) {
        if (form !== "auto" || !refusesTools(error)) throw error;
        mind.warn("TOOLS_UNSUPPORTED", "The model's server takes no tools; they are described in words from now on.");
        await memory.setNote(FORM, "text");
        form = "text";
        reply = yield* mind.ask(questionIn(form, memory, mind, parts.model, own));
      }
      const isCall = reply.toolCalls.length > 0 && form !== "text" && mind.toolChoice !== "none";
      await (isCall ? takeCalls(memory, mind, reply) : takeText(memory, mind, reply, form, then));
    },
    nextState: (memory) => Promise.resolve(memory.nextAction === undefined ? stateAfterAnswer(memory, then) : "action"),
  };
}

function questionIn(form: Form, memory: AgentMemory, mind: Mind, model: ChatModel | undefined, own: string | undefined): Question {
  const prompt = [mind.nextStepPrompt, own].filter((one) => one !== undefined && one !== "").join("\n\n") || undefined;
  const asked = { model, prompt, takesCut: true };
  if (form !== "text") return { ...asked, tools: memory.tools.specs, toolChoice: mind.toolChoice };
  const isUsable = mind.toolChoice !== "none" && memory.tools.size > 0;
  return isUsable ? { ...asked, system: actionInstructions(memory.listTools()) } : asked;
}

async function takeText(memory: AgentMemory, mind: Mind, reply: ChatResponse, form: Form, then: string | undefined): Promise<void> {
  const { toolChoice } = mind;
  if (reply.toolCalls.length > 0) mind.warn("TOOLS_UNASKED", "The model called tools where it may not; the calls are left out.");
  const said = ChatMessage.assistant(reply.content);
  if (reply.finishReason === "length") return miss(memory, mind, reply.content.trim() === "" ? [] : [said], CUT_TEXT);
  const action = await actionIn(reply.content, toolChoice === "none" ? "native" : form, memory);
  if (action.kind === "malformed")
    return miss(memory, mind, [said], `Your action cannot be read: ${action.why}. Give it again as one whole JSON object.`);
  if (action.kind === "calls") {
    await memory.update([said]);
    memory.nextAction = { calls: action.calls, form: "text" };
    return;
  }
  const { text } = action;
  if (toolChoice !== "auto" && toolChoice !== "none") {
    const needed = typeof toolChoice === "object" ? `the tool ${toolChoice.name}` : "a tool";
    return miss(memory, mind, [said], `You must call ${needed}; text alone is no answer here.`);
  }
  if (text.trim() === "") return miss(memory, mind, [], "You said nothing. Call a tool, or give your answer as text.");
  await memory.update([said]);
  await forgetMisses(memory);
  answer(memory, { text: withoutThoughts(text) || text, status: "success" }, then);
}

async function actionIn(text: string, form: Form, memory: AgentMemory): Promise<TextAction> {
  if (form === "native" || memory.tools.size === 0) return { kind: "answer", text };
  const origin = { tools: memory.tools, messages: await memory.dump() };
  return form === "text" ? readTextAction(text, origin) : writtenAction(text, origin);
}

/** The server that gave it may want it back. */
function withReasoning(message: ChatMessage, { reasoning }: ChatResponse): ChatMessage {
  return reasoning === undefined ? message : parseChatMessage({ ...message, reasoning });
}

async function takeCalls(memory: AgentMemory, mind: Mind, reply: ChatResponse): Promise<void> {
  const said = withReasoning(ChatMessage.fromToolCalls(reply.toolCalls, reply.content), reply);
  const { toolCalls: calls = [] } = said;
  const isTruncated = reply.finishReason === "length";
  const cut = isTruncated ? calls.filter((call) => !isWhole(call, memory.tools)) : [];
  if (isTruncated) mind.warn("REPLY_TRUNCATED", truncatedText(calls.length, cut.length));
  if (cut.length > 0 && cut.length === calls.length) {
    const why = "The reply reached its length limit before any call in it was whole.";
    return miss(memory, mind, [said, ...cut.map(cutOff).map(toolMessage)], why, { isTold: true });
  }
  await memory.update([said]);
  memory.nextAction = { calls, form: "native", ...(cut.length === 0 ? {} : { cut: cut.map(({ id }) => id) }) };
}

/** A call is whole when its arguments are one JSON object, not mended, that fits the tool: a missing end cannot be known. */
function isWhole({ function: { name, arguments: text } }: ToolCall, tools: ToolCollection): boolean {
  const tool = tools.find(name);
  try {
    return tool !== undefined && isRecord(JSON.parse(text)) && readArguments(text, tool).ok;
  } catch {
    return false;
  }
}

function cutOff(call: ToolCall): CalledTool {
  const why =
    "your reply reached its length limit before this call was whole, so it was not made. Call again, and write less at once: in several calls, and a long file in parts.";
  return notRun(call, "invalid", why);
}

function truncatedText(calls: number, cut: number): string {
  if (cut === 0) return "The reply reached its length limit; the calls in it are whole and are made.";
  return `The reply reached its length limit; ${cut} of its ${calls} calls are cut and are not made.`;
}

function acting(then: string | undefined): NetState {
  return {
    sameStep: true,
    async *run(memory, mind) {
      const action = memory.nextAction;
      if (action === undefined) return;
      // Consumed before it runs: nothing is called twice.
      memory.nextAction = undefined;
      memory.answer = undefined;
      const called = await runAction(mind, action);
      const ending = called.find((one) => one.ends);
      const before = ending === undefined || action.form === "text" ? "" : lastWords(await memory.dump(), await memory.goal());
      await memory.update(action.form === "native" ? called.map(toolMessage) : [observationOf(called)]);
      await forgetMisses(memory);
      if (ending !== undefined) answer(memory, answerOf(ending, before, memory.tools), then);
      yield "\n";
    },
    nextState: (memory) => Promise.resolve(stateAfterAnswer(memory, then)),
  };
}

function answering(model: ChatModel | undefined, then: string | undefined): NetState {
  return {
    run: (memory, mind) => answerBy(memory, mind, { model }, then),
    nextState: () => Promise.resolve(then ?? "answer"),
  };
}

/** Asks for the answer, and takes it. @param then the state that follows; without it the work ends */
export async function* answerBy(memory: AgentMemory, mind: Mind, question: Question, then?: string): AsyncGenerator<string, void, void> {
  const { content } = yield* mind.ask(question);
  await memory.update([ChatMessage.assistant(content)]);
  answer(memory, { text: content, status: "success" }, then);
}

function answer(memory: AgentMemory, given: Answer, then: string | undefined): void {
  memory.answer = given;
  memory.done = then === undefined;
}

function stateAfterAnswer(memory: AgentMemory, then: string | undefined): string {
  return memory.answer !== undefined && then !== undefined ? then : "reasoning";
}

async function runAction(mind: Mind, { calls, cut = [] }: NextAction): Promise<readonly CalledTool[]> {
  const isCut = ({ id }: ToolCall): boolean => cut.includes(id);
  const called = await mind.act(calls.filter((call) => !isCut(call)));
  if (cut.length === 0) return called;
  const ran = new Map(called.map((one) => [one.call, one]));
  return calls.flatMap((call) => (isCut(call) ? cutOff(call) : (ran.get(call) ?? [])));
}

function observationOf(called: readonly CalledTool[]): ChatMessage {
  const images = called.flatMap(({ result }) => result.images ?? []);
  return observation(called.map(({ call, result }) => `Result of ${call.function.name}:\n${resultText(result)}`).join("\n\n"), images);
}

function answerOf({ call, result }: CalledTool, before: string, tools: ToolCollection): Answer {
  if (tools.find(call.function.name)?.passesOn === true) return { text: resultText(result), status: "success", isPassedOn: true };
  const { status, answer: given } = (isRecord(result.data) ? result.data : {}) as Readonly<Record<"status" | "answer", unknown>>;
  const text = typeof given === "string" ? given || before : resultText(result);
  return { text, status: status === "failure" ? "failure" : "success" };
}

function lastWords(messages: readonly ChatMessage[], goal: readonly ChatMessage[]): string {
  const since = messages.slice(messages.findLastIndex((message) => isOneOf(goal, message)) + 1);
  return since.findLast(({ role, content = "" }) => role === "assistant" && content.trim() !== "")?.content ?? "";
}

/** Too many misses in a row end the run. @param said the messages to remember; with `isTold` they say why already */
async function miss(memory: AgentMemory, mind: Mind, said: readonly ChatMessage[], why: string, { isTold = false } = {}): Promise<void> {
  const misses = (await numberNote(memory, MISSES)) + 1;
  mind.warn("REPLY_UNUSABLE", why);
  await memory.update(isTold ? said : [...said, remark(why)]);
  await memory.setNote(MISSES, misses);
  if (misses < MAX_MISSES) return;
  throw new OutputError(
    "AGENT_REPLY_UNUSABLE",
    `Expected a reply that says what to do or answers, got ${misses} in a row that do neither. The last one: ${why} Use a model that is made for tools, or react({ actions: "text" }).`,
    { data: { misses } },
  );
}

async function forgetMisses(memory: AgentMemory): Promise<void> {
  if ((await memory.note(MISSES)) !== undefined) await memory.setNote(MISSES, 0);
}

function refusesTools(error: unknown): boolean {
  const isRefusal = error instanceof ModelError && (error.code === "MODEL_BAD_REQUEST" || error.code === "MODEL_FORMAT_UNSUPPORTED");
  return isRefusal && (errorData(error).unsupported ?? unsupportedBy(error.message)) === "tools";
}
