import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { ChatMessage } from "../../model/chat-message.ts";
import { type AgentMemory, goalText } from "../agent-memory.ts";
import { type Mind, Net, type NetState } from "../net.ts";
import { remark } from "../remarks.ts";
import { allSettled, propose, score, soFar, thoughtModels, type ThoughtModels } from "./thought-search.ts";
import { checkLimits } from "./net-limits.ts";

/** How wide and how deep a mind looks for a way. */
export interface TreeOfThoughtOptions extends ThoughtModels {
  /** Thoughts proposed after each way of thinking. Default 3. */
  readonly branches?: number;
  /** Ways that are followed at each depth. Default 2. */
  readonly width?: number;
  /** Thoughts of one way. Default 3. */
  readonly depth?: number;
  /** Ways of a lower score, of 0 to 10, are given up. Default 1. */
  readonly least?: number;
}

const treeOfThoughtOptions: Known<TreeOfThoughtOptions> = { ...thoughtModels, branches: true, width: true, depth: true, least: true };

/** One way of thinking, as far as it goes. */
interface Way {
  readonly path: readonly string[];
  readonly score: number;
}

const FRONTIER = "tree.frontier";
const CANDIDATES = "tree.candidates";

/**
 * Looks for a way through a tree of thoughts, breadth first: at each depth every way that is left branches into several thoughts, all are
 * scored, and the best go on: Yao et al., "Tree of Thoughts: Deliberate Problem Solving with Large Language Models" (arXiv 2305.10601),
 * algorithm 1, with proposals and values. Then the best way is answered. It takes at most `depth * width * (1 + branches) + 1` calls of
 * models, and two steps for each depth.
 */
export function treeOfThought(options: TreeOfThoughtOptions = {}): Net {
  checkKnownOptions("treeOfThought", options, treeOfThoughtOptions);
  const limits = { branches: 3, width: 2, depth: 3, least: 1, ...options };
  checkLimits({ branches: limits.branches, width: limits.width, depth: limits.depth });
  return new Net({
    name: "tree_of_thought",
    start: "propose",
    states: { propose: new Proposing(limits), evaluate: new Weighing(limits), answer: new AnsweringBest(options) },
  });
}

type Limits = ThoughtModels & Required<Omit<TreeOfThoughtOptions, keyof ThoughtModels>>;

class Proposing implements NetState {
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    if (await isComplete(memory, this.#limits)) return;
    const goal = await goalText(memory);
    const { branches: count } = this.#limits;
    const ways = await frontierOf(memory);
    const branched = await allSettled(
      ways.map(async ({ path }) => (await propose(mind, { ...this.#limits, goal, path, count })).map((thought) => [...path, thought])),
    );
    const candidates = branched.flat();
    await memory.setNote(CANDIDATES, candidates);
    yield `${candidates.map((path) => path.at(-1)).join("\n")}\n`;
  }

  async nextState(memory: AgentMemory): Promise<string> {
    return (await isComplete(memory, this.#limits)) ? "answer" : "evaluate";
  }
}

class Weighing implements NetState {
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    const goal = await goalText(memory);
    const { width, least } = this.#limits;
    const candidates = await candidatesOf(memory);
    const weighed = await allSettled(
      candidates.map(async (path): Promise<Way> => ({ path, score: await score(mind, { ...this.#limits, goal, path }) })),
    );
    const best = weighed.toSorted((a, b) => b.score - a.score);
    const promising = best.filter((way) => way.score >= least);
    if (promising.length === 0) mind.warn("NO_WAY", `No way of thinking scores ${least} or more; the best one is followed.`);
    const kept = (promising.length === 0 ? best.slice(0, 1) : promising).slice(0, width);
    await memory.setNote(
      FRONTIER,
      kept.map(({ path, score: points }) => ({ path, score: points })),
    );
    await memory.update([remark(`Thoughts considered: ${best.map((way) => `${way.path.at(-1)} (${way.score})`).join("; ")}`)]);
    yield "\n";
  }

  async nextState(memory: AgentMemory): Promise<string> {
    return (await isComplete(memory, this.#limits)) ? "answer" : "propose";
  }
}

/** Answers from the best way of thinking. */
class AnsweringBest implements NetState {
  readonly #models: ThoughtModels;

  constructor(models: ThoughtModels) {
    this.#models = models;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    const [best] = await frontierOf(memory);
    yield* answerFrom(memory, mind, this.#models, best?.path ?? []);
  }

  nextState(): Promise<string> {
    return Promise.resolve("answer");
  }
}

/** Streams the answer to the goal that thoughts lead to, and is done. */
export async function* answerFrom(
  memory: AgentMemory,
  mind: Mind,
  { model }: ThoughtModels,
  path: readonly string[],
): AsyncGenerator<string, void, void> {
  const goal = await goalText(memory);
  const asked = ChatMessage.user(
    `Task:\n${goal}\n\n${soFar(path)}Following these thoughts, give the answer to the task, whole, and nothing else.`,
  );
  const reply = yield* mind.ask({ messages: [asked], model });
  await memory.update([ChatMessage.assistant(reply.content)]);
  memory.answer = { text: reply.content, status: "success" };
  memory.done = true;
}

async function isComplete(memory: AgentMemory, { depth }: Limits): Promise<boolean> {
  return (await frontierOf(memory)).every((way) => way.path.length >= depth);
}

async function frontierOf(memory: AgentMemory): Promise<readonly Way[]> {
  const note = await memory.note(FRONTIER);
  return Array.isArray(note) ? (note as unknown as readonly Way[]) : [{ path: [], score: 0 }];
}

async function candidatesOf(memory: AgentMemory): Promise<readonly (readonly string[])[]> {
  const note = await memory.note(CANDIDATES);
  return Array.isArray(note) ? (note as unknown as readonly (readonly string[])[]) : [];
}
