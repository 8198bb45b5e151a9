import { isRecord } from "../../kernel/value-kind.ts";
import { object, takes } from "../../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { ModelError, OutputError } from "../../kernel/errors.ts";
import type { ChatModel, ChatResponse } from "../../model/chat-model.ts";
import { ChatMessage, type ToolCall } from "../../model/chat-message.ts";
import { type CalledTool, resultText, toolMessage } from "../../tool/tool-result.ts";
import type { AgentMemory, Answer, NextAction } from "../agent-memory.ts";
import { cutCallsOf, cutOff } from "../cut-calls.ts";
import { type Mind, Net, type NetState, type Question } from "../net.ts";
import { observation, remark } from "../remarks.ts";
import { actionInstructions, readTextAction, wholeTextAction } from "../text-action.ts";

/** How a mind reasons and acts in turns. */
export interface ReactOptions {
  /** Reasons and chooses what to do. Default: the agent's model. */
  readonly model?: ChatModel;
  /** Writes the answer in a state of its own, from all that was found. Default: the text without calls that ends the reasoning is the answer. */
  readonly answerModel?: ChatModel;
  /**
   * How the model says what to do: by tool calls on the wire, or as JSON in its text. Default "auto": by tool calls, and a text that is
   * nothing but such JSON for a tool there is counts too.
   */
  readonly actions?: "auto" | "native" | "text";
}

/** Their names. @internal */
export const reactOptions: Known<ReactOptions> = { model: true, answerModel: true, actions: true };

type Form = NonNullable<ReactOptions["actions"]>;

/** Where an answer leads: the memory is done, or a state of a larger net goes on with it. */
export interface ReactParts extends ReactOptions {
  readonly then?: string;
  /** Said in this request alone, besides the next-step prompt. */
  readonly prompt?: (memory: AgentMemory) => Promise<string | undefined>;
}

/** Replies in a row that cannot be used before the run fails. */
const MOST_MISSES = 3;
const MISSES = "react.misses";
/** Set to "text" when the model's server takes no tools. */
const FORM = "react.form";

/**
 * Reasoning and acting in turns until there is an answer: Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models"
 * (arXiv 2210.03629). With native tool calls this is OpenManus's ToolCallAgent; with JSON in text and a model for answers it is the net of
 * three states, reasoning, action and answer.
 */
export function react(options: ReactOptions = {}): Net {
  checkKnownOptions("react", options, reactOptions);
  return new Net({ name: "react", start: reactStart, states: reactStates(options) });
}

/** An action that is under way goes first. */
export function reactStart(memory: AgentMemory): string {
  takes("reactStart", "memory", memory, object("a memory of an agent"));
  return memory.nextAction === undefined ? "reasoning" : "action";
}

/** The states, to be part of a larger net. */
export function reactStates(parts: ReactParts): Record<"reasoning" | "action" | "answer", NetState> {
  takes("reactStates", "parts", parts, object("what the states are made of"));
  const afterAnswer = parts.answerModel === undefined ? parts.then : "answer";
  return {
    reasoning: new Reasoning(parts, afterAnswer),
    action: new Acting(parts.then),
    answer: new Answering(parts.answerModel, parts.then),
  };
}

/** Decides what to do next: calls, or an answer. */
class Reasoning implements NetState {
  readonly #parts: ReactParts;
  readonly #then: string | undefined;

  constructor(parts: ReactParts, then: string | undefined) {
    this.#parts = parts;
    this.#then = then;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    memory.answer = undefined;
    const { actions = "auto" } = this.#parts;
    let form = actions === "auto" && (await memory.note(FORM)) === "text" ? "text" : actions;
    const own = this.#parts.prompt === undefined ? undefined : await this.#parts.prompt(memory);
    let reply: ChatResponse;
    try {
      reply = yield* mind.ask(this.#question(memory, mind, form, own));
    } catch (error) {
      if (form !== "auto" || !refusesTools(error)) throw error;
      mind.warn("TOOLS_UNSUPPORTED", "The model's server takes no tools; they are told in words from now on.");
      await memory.setNote(FORM, "text");
      // A server that knows no tools is asked once more in the other form, and from then on in that form alone.
      form = "text";
      reply = yield* mind.ask(this.#question(memory, mind, form, own));
    }
    if (reply.toolCalls.length > 0 && form !== "text" && mind.toolChoice !== "none") {
      await this.#takeCalls(memory, mind, reply);
    } else await this.#takeText(memory, mind, reply, form);
  }

  nextState(memory: AgentMemory): Promise<string> {
    if (memory.nextAction !== undefined) return Promise.resolve("action");
    return Promise.resolve(memory.answer !== undefined && this.#then !== undefined ? this.#then : "reasoning");
  }

  #question(memory: AgentMemory, mind: Mind, form: Form, own: string | undefined): Question {
    const { model } = this.#parts;
    const prompts = [mind.nextStepPrompt, own].filter((prompt) => prompt !== undefined && prompt !== "");
    const usable = mind.toolChoice !== "none" && memory.tools.size > 0;
    const prompt = prompts.length === 0 ? undefined : prompts.join("\n\n");
    if (form !== "text") return { model, prompt, tools: memory.tools.specs, toolChoice: mind.toolChoice };
    return usable ? { model, prompt, system: actionInstructions(memory.listTools()) } : { model, prompt };
  }

  async #takeCalls(memory: AgentMemory, mind: Mind, reply: ChatResponse): Promise<void> {
    const said = ChatMessage.fromToolCalls(reply.toolCalls, reply.content);
    const { toolCalls: calls = [] } = said;
    const cut = cutCallsOf(reply, calls, memory.tools);
    if (reply.finishReason === "length") mind.warn("REPLY_TRUNCATED", truncatedText(calls.length, cut.length));
    if (cut.length > 0 && cut.length === calls.length)
      return miss(memory, mind, { said: [said, ...cut.map(cutOff).map(toolMessage)] }, NO_WHOLE_CALL);
    await memory.update([said]);
    memory.nextAction = { calls, form: "native", ...(cut.length === 0 ? {} : { cut: cut.map(({ id }) => id) }) };
  }

  async #takeText(memory: AgentMemory, mind: Mind, reply: ChatResponse, form: Form): Promise<void> {
    if (reply.toolCalls.length > 0) mind.warn("TOOLS_UNASKED", "The model called tools where it may not; the calls are left out.");
    const { content } = reply;
    const said = ChatMessage.assistant(content);
    if (mind.toolChoice === "none") return this.#takeAnswer(memory, mind, said, content);
    const isTool = (name: string): boolean => memory.tools.find(name) !== undefined;
    if (form === "text") return this.#takeWords(memory, mind, said, readTextAction(content, isTool));
    if (form === "auto") return this.#takeWords(memory, mind, said, wholeTextAction(content, isTool));
    return this.#takeWords(memory, mind, said, { kind: "answer", text: content });
  }

  async #takeWords(memory: AgentMemory, mind: Mind, said: ChatMessage, words: ReturnType<typeof readTextAction>): Promise<void> {
    if (words.kind === "malformed")
      return miss(
        memory,
        mind,
        { said: [said], told: true },
        `Your action cannot be read: ${words.why}. Give it again as one whole JSON object.`,
      );
    if (words.kind === "answer") return this.#takeAnswer(memory, mind, said, words.text);
    await memory.update([said]);
    memory.nextAction = { calls: words.calls, form: "text" };
  }

  async #takeAnswer(memory: AgentMemory, mind: Mind, said: ChatMessage, text: string): Promise<void> {
    const { toolChoice } = mind;
    const needed = typeof toolChoice === "object" ? `the tool ${toolChoice.name}` : "a tool";
    if (toolChoice !== "auto" && toolChoice !== "none")
      return miss(memory, mind, { said: [said], told: true }, `You must call ${needed}; text alone is no answer here.`);
    if (text.trim() === "")
      return miss(memory, mind, { said: [], told: true }, "You said nothing. Call a tool, or give your answer as text.");
    await memory.update([said]);
    if ((await memory.note(MISSES)) !== undefined) await memory.setNote(MISSES, 0);
    answer(memory, { text, status: "success" }, this.#then);
  }
}

/** Runs what was decided, once. */
class Acting implements NetState {
  readonly sameStep = true;
  readonly #then: string | undefined;

  constructor(then: string | undefined) {
    this.#then = then;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    const action = memory.nextAction;
    if (action === undefined) return;
    // Consumed before it runs: whatever happens, nothing is called twice.
    memory.nextAction = undefined;
    memory.answer = undefined;
    const called = await acted(mind, action);
    const ending = called.find((one) => one.ends);
    const before = ending === undefined || action.form === "text" ? "" : lastWords(await memory.dump(), await memory.goal());
    await memory.update(action.form === "native" ? called.map(toolMessage) : [observed(called)]);
    if ((await memory.note(MISSES)) !== undefined) await memory.setNote(MISSES, 0);
    if (ending !== undefined) answer(memory, answerOf(ending, before), this.#then);
    yield "\n";
  }

  nextState(memory: AgentMemory): Promise<string> {
    return Promise.resolve(memory.answer !== undefined && this.#then !== undefined ? this.#then : "reasoning");
  }
}

/** Writes the answer from all that was found. */
class Answering implements NetState {
  readonly #model: ChatModel | undefined;
  readonly #then: string | undefined;

  constructor(model: ChatModel | undefined, then: string | undefined) {
    this.#model = model;
    this.#then = then;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    const reply = yield* mind.ask({ model: this.#model });
    await memory.update([ChatMessage.assistant(reply.content)]);
    answer(memory, { text: reply.content, status: "success" }, this.#then);
  }

  nextState(): Promise<string> {
    return Promise.resolve(this.#then ?? "answer");
  }
}

/** Servers have no code for it: Ollama and its like say it in words. */
function refusesTools(error: unknown): boolean {
  const isRefusal = error instanceof ModelError && (error.code === "MODEL_BAD_REQUEST" || error.code === "MODEL_FORMAT_UNSUPPORTED");
  return (
    isRefusal &&
    /\b(tools?|function.?call(s|ing)?)\b/i.test(error.message) &&
    /\b(not|n't|un)[ -]?(be )?(supported|support|enabled)/i.test(error.message)
  );
}

function answer(memory: AgentMemory, given: Answer, then: string | undefined): void {
  memory.answer = given;
  memory.done = then === undefined;
}

/** What is remembered of a reply that cannot be used, and whether a remark must tell the model why. */
interface Missed {
  readonly said: readonly ChatMessage[];
  readonly told?: boolean;
}

/** A reply that cannot be used is told to the model, and to nobody as an answer; too many in a row end the run. */
async function miss(memory: AgentMemory, mind: Mind, { said, told = false }: Missed, why: string): Promise<void> {
  const before = await memory.note(MISSES);
  const misses = (typeof before === "number" ? before : 0) + 1;
  mind.warn("REPLY_UNUSABLE", why);
  await memory.update(told ? [...said, remark(why)] : said);
  await memory.setNote(MISSES, misses);
  if (misses < MOST_MISSES) return;
  throw new OutputError(
    "AGENT_REPLY_UNUSABLE",
    `Expected a reply that says what to do or answers, got ${misses} in a row that do neither. The last one: ${why} Use a model that is made for tools, or react({ actions: "text" }).`,
    { data: { misses } },
  );
}

function observed(called: readonly CalledTool[]): ChatMessage {
  const images = called.flatMap(({ result }) => result.images ?? []);
  return observation(called.map(({ call, result }) => `Result of ${call.function.name}:\n${resultText(result)}`).join("\n\n"), images);
}

/** The answer of a call that ends the work; where it says none, what was said with it. */
function answerOf({ result }: CalledTool, before: string): Answer {
  const data = isRecord(result.data) ? result.data : {};
  const { status, answer: given } = data as { readonly status?: unknown; readonly answer?: unknown };
  const text = typeof given === "string" ? given || before : resultText(result);
  return { text, status: status === "failure" ? "failure" : "success" };
}

/** The last text that was said since the goal was set. */
function lastWords(messages: readonly ChatMessage[], goal: readonly ChatMessage[]): string {
  const isGoal = (message: ChatMessage): boolean =>
    goal.some((one) => one === message || (one.role === message.role && one.content === message.content));
  const since = messages.slice(messages.findLastIndex(isGoal) + 1);
  return since.findLast(({ role, content = "" }) => role === "assistant" && content.trim() !== "")?.content ?? "";
}

const NO_WHOLE_CALL = "The reply reached its length limit before any call in it was whole.";

function truncatedText(calls: number, cut: number): string {
  if (cut === 0) return "The reply reached its length limit; the calls in it are whole and are made.";
  return `The reply reached its length limit; ${cut} of its ${calls} calls are cut and are not made.`;
}

/** What came of an action, in the order of its calls. Those that were cut are answered and not made. */
async function acted(mind: Mind, { calls, cut = [] }: NextAction): Promise<readonly CalledTool[]> {
  if (cut.length === 0) return mind.act(calls);
  const isCut = ({ id }: ToolCall): boolean => cut.includes(id);
  const ran = new Map((await mind.act(calls.filter((call) => !isCut(call)))).map((called) => [called.call, called]));
  return calls.flatMap((call) => (isCut(call) ? cutOff(call) : (ran.get(call) ?? [])));
}
