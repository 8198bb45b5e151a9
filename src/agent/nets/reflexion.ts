import { z } from "zod";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { ChatMessage } from "../../model/chat-message.ts";
import { type AgentMemory, type Answer, goalText, isOneOf, listNote, numberNote, remark } from "../agent-memory.ts";
import { type Mind, Net, type NetState } from "../net.ts";
import { reactOptions, type ReactOptions, reactStart, reactStates } from "./react.ts";
import { checkLimits } from "./thought-search.ts";

/** The judgement of an answer. */
export interface Verdict {
  readonly pass: boolean;
  /** The reason why it does not pass. */
  readonly feedback: string;
}

/** Options of {@link reflexion}. */
export interface ReflexionOptions extends ReactOptions {
  /** Default 3. */
  readonly tries?: number;
  /** Judges an answer. Default: the model does. Give it effects only through steps of your own. */
  readonly evaluate?: (answer: Answer, goal: string, signal: AbortSignal) => Verdict | Promise<Verdict>;
  /** Newest reflections that are kept. Default 3. */
  readonly keep?: number;
}

const reflexionOptions: Known<ReflexionOptions> = { ...reactOptions, tries: kinds.checked, evaluate: kinds.function, keep: kinds.checked };

const Judgement = z.object({
  pass: z.boolean().describe("whether the answer does all that the task asks"),
  feedback: z.string().describe("what is wrong or missing; empty when nothing is"),
});

const TRIES = "reflexion.tries";
const REFLECTIONS = "reflexion.reflections";
const FEEDBACK = "reflexion.feedback";

/**
 * Tries, judges the answer, reflects on what went wrong and tries again: Shinn et al., "Reflexion" (arXiv 2303.11366). The actor is {@link
 * react}; every try starts from the task and the reflections alone, if the memory can be rewritten.
 *
 * @throws UsageError `NET_INVALID` for a limit of less than 1
 */
export function reflexion(options: ReflexionOptions = {}): Net {
  checkKnownOptions("reflexion", options, reflexionOptions);
  const { tries = 3, keep = 3, evaluate: _evaluate, ...reacting } = options;
  checkLimits({ tries, keep });
  return new Net({
    name: "reflexion",
    start: reactStart,
    states: {
      ...reactStates({ ...reacting, then: "evaluate" }),
      evaluate: evaluating(options, tries),
      reflect: reflecting(keep),
    },
  });
}

function evaluating(options: ReflexionOptions, tries: number): NetState {
  return {
    async *run(memory, mind) {
      const answer = memory.answer ?? { text: "", status: "failure" };
      const tried = (await numberNote(memory, TRIES)) + 1;
      await memory.setNote(TRIES, tried);
      const { pass, feedback } = await verdictOn(answer, options, memory, mind);
      if (pass) memory.done = true;
      else if (tried >= tries) {
        mind.warn("TRIES_USED_UP", `No answer passed in ${tried} tries. ${feedback}`);
        memory.answer = { text: answer.text, status: "failure" };
        memory.done = true;
      } else await memory.setNote(FEEDBACK, feedback);
      yield "\n";
    },
    nextState: () => Promise.resolve("reflect"),
  };
}

async function verdictOn(answer: Answer, { evaluate, model }: ReflexionOptions, memory: AgentMemory, mind: Mind): Promise<Verdict> {
  if (answer.status === "failure") return { pass: false, feedback: answer.text };
  const goal = await goalText(memory);
  if (evaluate !== undefined) return evaluate(answer, goal, mind.signal);
  const asked = ChatMessage.user(`Task:\n${goal}\n\nAnswer:\n${answer.text}\n\nJudge strictly whether the answer does what the task asks.`);
  return mind.read(Judgement, { messages: [asked], model });
}

function reflecting(keep: number): NetState {
  return {
    sameStep: true,
    async *run(memory, mind) {
      const feedback = await memory.note(FEEDBACK);
      const { content } = yield* mind.ask({
        prompt: `Your answer was judged and did not pass: ${typeof feedback === "string" ? feedback : ""}\nSay in a few sentences what went wrong and what to do differently next time. Do not answer the task now.`,
      });
      const reflections = [...((await listNote<string>(memory, REFLECTIONS)) ?? []), content].slice(-keep);
      await memory.setNote(REFLECTIONS, reflections);
      memory.answer = undefined;
      await beginAnew(memory, reflections);
    },
    nextState: () => Promise.resolve("reasoning"),
  };
}

async function beginAnew(memory: AgentMemory, reflections: readonly string[]): Promise<void> {
  const lessons = remark(
    `What you learned from earlier tries at this task:\n${reflections.map((one) => `- ${one}`).join("\n")}\nNow try again.`,
  );
  if (memory.rewrite === undefined) return memory.update([lessons]);
  const record = await memory.dump();
  const goal = (await memory.goal()).slice(0, 1);
  await memory.rewrite([...record.slice(0, record.findLastIndex((message) => isOneOf(goal, message)) + 1), lessons]);
}
