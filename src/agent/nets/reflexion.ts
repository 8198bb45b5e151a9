import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { z } from "zod";
import { ChatMessage } from "../../model/chat-message.ts";
import { type AgentMemory, type Answer, goalText } from "../agent-memory.ts";
import { type Mind, Net, type NetState } from "../net.ts";
import { remark } from "../remarks.ts";
import { checkLimits } from "./net-limits.ts";
import { reactOptions, type ReactOptions, reactStart, reactStates } from "./react.ts";

/** Whether an answer will do, and if not, why. */
export interface Verdict {
  readonly pass: boolean;
  readonly feedback: string;
}

/** How a mind tries, judges and tries again. */
export interface ReflexionOptions extends ReactOptions {
  /** Tries in all. Default 3. */
  readonly tries?: number;
  /** Judges an answer: a test, a checker. Default: the model does. Give it effects only through steps of your own. */
  readonly evaluate?: (answer: Answer, goal: string, signal: AbortSignal) => Verdict | Promise<Verdict>;
  /** Reflections that are kept, the newest ones. Default 3. */
  readonly keep?: number;
}

const reflexionOptions: Known<ReflexionOptions> = { ...reactOptions, tries: true, evaluate: true, keep: true };

const Judgement = z.object({
  pass: z.boolean().describe("whether the answer does all that the task asks"),
  feedback: z.string().describe("what is wrong or missing; empty when nothing is"),
});

const TRIES = "reflexion.tries";
const REFLECTIONS = "reflexion.reflections";
const FEEDBACK = "reflexion.feedback";

/**
 * Tries, lets the answer be judged, reflects on what went wrong and tries again with the reflections in mind: Shinn et al., "Reflexion:
 * Language Agents with Verbal Reinforcement Learning" (arXiv 2303.11366). The actor is {@link react}; every try starts from the task and
 * the reflections alone, where the memory can be rewritten.
 *
 * @throws UsageError `NET_INVALID` for a limit of less than 1.
 */
export function reflexion(options: ReflexionOptions = {}): Net {
  checkKnownOptions("reflexion", options, reflexionOptions);
  const { tries = 3, keep = 3 } = options;
  checkLimits({ tries, keep });
  return new Net({
    name: "reflexion",
    start: reactStart,
    states: { ...reactStates({ ...options, then: "evaluate" }), evaluate: new Evaluating(options, tries), reflect: new Reflecting(keep) },
  });
}

class Evaluating implements NetState {
  readonly #options: ReflexionOptions;
  readonly #tries: number;

  constructor(options: ReflexionOptions, tries: number) {
    this.#options = options;
    this.#tries = tries;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    const answer = memory.answer ?? { text: "", status: "failure" };
    const tried = (await numberNote(memory, TRIES)) + 1;
    await memory.setNote(TRIES, tried);
    const verdict = await this.#verdict(memory, mind, answer);
    const isLast = tried >= this.#tries;
    if (verdict.pass) memory.done = true;
    else if (isLast) {
      mind.warn("TRIES_USED_UP", `No answer passed in ${tried} tries. ${verdict.feedback}`);
      memory.answer = { text: answer.text, status: "failure" };
      memory.done = true;
    } else await memory.setNote(FEEDBACK, verdict.feedback);
    yield "\n";
  }

  nextState(): Promise<string> {
    return Promise.resolve("reflect");
  }

  async #verdict(memory: AgentMemory, mind: Mind, answer: Answer): Promise<Verdict> {
    if (answer.status === "failure") return { pass: false, feedback: answer.text };
    const goal = await goalText(memory);
    const { evaluate, model } = this.#options;
    if (evaluate !== undefined) return evaluate(answer, goal, mind.signal);
    const asked = ChatMessage.user(
      `Task:\n${goal}\n\nAnswer:\n${answer.text}\n\nJudge strictly whether the answer does what the task asks.`,
    );
    return mind.read(Judgement, { messages: [asked], model });
  }
}

/** Finds words for what went wrong and begins anew with them. */
class Reflecting implements NetState {
  readonly sameStep = true;
  readonly #keep: number;

  constructor(keep: number) {
    this.#keep = keep;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    const feedback = await memory.note(FEEDBACK);
    const reply = yield* mind.ask({
      prompt: `Your answer was judged and did not pass: ${typeof feedback === "string" ? feedback : ""}\nSay in a few sentences what went wrong and what to do differently next time. Do not answer the task now.`,
    });
    const before = await memory.note(REFLECTIONS);
    const reflections = [...(Array.isArray(before) ? (before as readonly string[]) : []), reply.content].slice(-this.#keep);
    await memory.setNote(REFLECTIONS, reflections);
    memory.answer = undefined;
    await this.#beginAnew(memory, reflections);
  }

  nextState(): Promise<string> {
    return Promise.resolve("reasoning");
  }

  async #beginAnew(memory: AgentMemory, reflections: readonly string[]): Promise<void> {
    const told = remark(
      `What you learned from earlier tries at this task:\n${reflections.map((one) => `- ${one}`).join("\n")}\nNow try again.`,
    );
    if (memory.rewrite === undefined) return memory.update([told]);
    const record = await memory.dump();
    const [goal] = await memory.goal();
    const start = record.findLastIndex((message) => message === goal || (message.role === "user" && message.content === goal?.content));
    await memory.rewrite([...record.slice(0, start + 1), told]);
  }
}

async function numberNote(memory: AgentMemory, key: string): Promise<number> {
  const value = await memory.note(key);
  return typeof value === "number" ? value : 0;
}
