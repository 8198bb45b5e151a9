import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { z } from "zod";
import { UsageError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { valueText } from "../../kernel/value-text.ts";
import { ChatMessage } from "../../model/chat-message.ts";
import { type AgentMemory, goalText, remark } from "../agent-memory.ts";
import { type Mind, Net, type NetState } from "../net.ts";
import { allSettled, answerFrom, checkLimits, propose, score, thoughtModels, type ThoughtModels } from "./thought-search.ts";

/**
 * `generate`: `count` new thoughts after each, or from the task if there are none; `score`: scores each; `keepBest`: keeps the `count`
 * best; `improve`: rewrites each; `aggregate`: joins all into one.
 */
export type GraphOperation =
  | { readonly do: "generate"; readonly count: number }
  | { readonly do: "score" }
  | { readonly do: "keepBest"; readonly count: number }
  | { readonly do: "improve" }
  | { readonly do: "aggregate" };

/** Options of {@link graphOfThought}. */
export interface GraphOfThoughtOptions extends ThoughtModels {
  /** Default: generate 3 thoughts, score them, improve the best 2, aggregate them, score the results, and keep the best. */
  readonly operations?: readonly GraphOperation[];
  /** Current thoughts; the best ones stay. Default 12. */
  readonly width?: number;
}

const graphOfThoughtOptions: Known<GraphOfThoughtOptions> = {
  ...thoughtModels,
  operations: kinds.list(kinds.object),
  width: kinds.checked,
};

interface Thought {
  readonly id: number;
  readonly text: string;
  /** The edges of the graph. */
  readonly parents: readonly number[];
  readonly score: number;
}

interface Graph {
  readonly thoughts: readonly Thought[];
  readonly front: readonly number[];
  readonly place: number;
}

const GRAPH = "graph.thoughts";
const EMPTY: Graph = { thoughts: [], front: [], place: 0 };
const DEFAULT_OPERATIONS: readonly GraphOperation[] = [
  { do: "generate", count: 3 },
  { do: "score" },
  { do: "keepBest", count: 2 },
  { do: "improve" },
  { do: "aggregate" },
  { do: "score" },
  { do: "keepBest", count: 1 },
];
const Better = z.object({ thought: z.string().min(1) });

/**
 * Generates, scores, improves and, unlike a tree, aggregates thoughts: Besta et al., "Graph of Thoughts" (arXiv 2308.09687), with its graph
 * of operations as a list. Each operation is one step of at most `width` model calls.
 */
export function graphOfThought(options: GraphOfThoughtOptions = {}): Net {
  checkKnownOptions("graphOfThought", options, graphOfThoughtOptions);
  const { operations = DEFAULT_OPERATIONS, width = 12 } = options;
  checkLimits({ width });
  for (const operation of operations) checkOperation(operation);
  return new Net({
    name: "graph_of_thought",
    start: "operate",
    states: { operate: new Operating(options, operations, width), answer: answeringBest(options) },
  });
}

class Operating implements NetState {
  readonly #models: ThoughtModels;
  readonly #operations: readonly GraphOperation[];
  readonly #width: number;

  constructor(models: ThoughtModels, operations: readonly GraphOperation[], width: number) {
    this.#models = models;
    this.#operations = operations;
    this.#width = width;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    const graph = await graphOf(memory);
    const operation = this.#operations[graph.place];
    if (operation === undefined) return;
    const changed = await this.#operate(operation, graph, await goalText(memory), mind);
    const front = changed.front.length <= this.#width ? changed.front : bestOf(changed, this.#width);
    const next: Graph = { ...changed, front, place: graph.place + 1 };
    await memory.setNote(GRAPH, next as unknown as Json);
    const texts = thoughtsAt(next).map(({ text, score: points }) => `${text}${points === 0 ? "" : ` (${points})`}`);
    await memory.update([remark(`Thoughts after ${operation.do}: ${texts.join("; ")}`)]);
    yield "\n";
  }

  async nextState(memory: AgentMemory): Promise<string> {
    return (await graphOf(memory)).place < this.#operations.length ? "operate" : "answer";
  }

  async #operate(operation: GraphOperation, graph: Graph, goal: string, mind: Mind): Promise<Graph> {
    const front = thoughtsAt(graph);
    switch (operation.do) {
      case "generate":
        return this.#generate(graph, operation.count, goal, mind);
      case "score": {
        const points = await allSettled(front.map(({ text }) => score(mind, { ...this.#models, goal, path: [text] })));
        return withScores(graph, new Map(front.map(({ id }, place) => [id, points[place] ?? 0])));
      }
      case "keepBest":
        return { ...graph, front: bestOf(graph, operation.count) };
      case "improve": {
        const better = await allSettled(front.map(({ text }) => this.#rewrite(mind, improvePrompt(goal, text))));
        const made = front.map((thought, place) => ({ text: better[place] ?? thought.text, parents: [thought.id] }));
        return withThoughts(graph, made, []);
      }
      case "aggregate": {
        if (front.length < 2) return graph;
        const text = await this.#rewrite(mind, aggregatePrompt(goal, front));
        return withThoughts(graph, [{ text, parents: front.map(({ id }) => id) }], graph.front);
      }
    }
  }

  async #generate(graph: Graph, count: number, goal: string, mind: Mind): Promise<Graph> {
    const from = graph.front.length === 0 ? [undefined] : thoughtsAt(graph);
    const made = await allSettled(
      from.map(async (thought) => {
        const texts = await propose(mind, { ...this.#models, goal, path: thought === undefined ? [] : [thought.text], count });
        return texts.map((text) => ({ text, parents: thought === undefined ? [] : [thought.id] }));
      }),
    );
    return withThoughts(graph, made.flat(), []);
  }

  async #rewrite(mind: Mind, prompt: string): Promise<string> {
    const { thought } = await mind.read(Better, { messages: [ChatMessage.user(prompt)], model: this.#models.model });
    return thought;
  }
}

function answeringBest(models: ThoughtModels): NetState {
  return {
    async *run(memory, mind) {
      const graph = await graphOf(memory);
      const [best] = bestOf(graph, 1);
      const path = graph.thoughts.filter(({ id }) => id === best).map(({ text }) => text);
      yield* answerFrom(memory, mind, models, path);
    },
    nextState: () => Promise.resolve("answer"),
  };
}

function improvePrompt(goal: string, text: string): string {
  return `Task:\n${goal}\n\nThought:\n${text}\n\nFind what is wrong or weak in this thought and write it again, better and whole.`;
}

function aggregatePrompt(goal: string, thoughts: readonly Thought[]): string {
  const list = thoughts.map(({ text }, place) => `${place + 1}. ${text}`).join("\n");
  return `Task:\n${goal}\n\nThoughts:\n${list}\n\nBring these thoughts together into one that keeps what is good in each and contradicts none without need.`;
}

function thoughtsAt({ thoughts, front }: Graph): readonly Thought[] {
  const current = new Set(front);
  return thoughts.filter((thought) => current.has(thought.id));
}

/** Of equal ones the older. */
function bestOf(graph: Graph, count: number): readonly number[] {
  return thoughtsAt(graph)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, count)
    .map((thought) => thought.id);
}

function withThoughts(graph: Graph, made: readonly Pick<Thought, "text" | "parents">[], kept: readonly number[]): Graph {
  const from = graph.thoughts.length;
  const thoughts = made.map((thought, place): Thought => ({ ...thought, id: from + place, score: 0 }));
  return { ...graph, thoughts: [...graph.thoughts, ...thoughts], front: [...kept, ...thoughts.map(({ id }) => id)] };
}

function withScores(graph: Graph, points: ReadonlyMap<number, number>): Graph {
  return { ...graph, thoughts: graph.thoughts.map((thought) => ({ ...thought, score: points.get(thought.id) ?? thought.score })) };
}

async function graphOf(memory: AgentMemory): Promise<Graph> {
  const note = await memory.note(GRAPH);
  return note === undefined ? EMPTY : (note as unknown as Graph);
}

function checkOperation(operation: GraphOperation): void {
  if (operation.do === "generate" || operation.do === "keepBest") return checkLimits({ [`count of ${operation.do}`]: operation.count });
  if (["score", "improve", "aggregate"].includes(operation.do)) return;
  throw new UsageError(
    "NET_INVALID",
    `Expected an operation on thoughts (generate, score, keepBest, improve, aggregate), got ${valueText(operation)}.`,
  );
}
