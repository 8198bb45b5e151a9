import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { z } from "zod";
import { UsageError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { valueText } from "../../kernel/value-text.ts";
import { ChatMessage } from "../../model/chat-message.ts";
import { type AgentMemory, goalText, remark } from "../agent-memory.ts";
import { type Mind, Net, type NetState } from "../net.ts";
import { allSettled, answeringFrom, checkLimits, propose, score, thoughtModels, type ThoughtModels } from "./thought-search.ts";

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
  operations: kinds.list(kinds.options({ do: kinds.text, count: kinds.checked })),
  width: kinds.checked,
};

interface Thought {
  readonly id: number;
  readonly text: string;
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
    states: { operate: operating(options, operations, width), answer: answeringFrom(options, bestPath) },
  });
}

function operating(models: ThoughtModels, operations: readonly GraphOperation[], width: number): NetState {
  return {
    async *run(memory, mind) {
      const graph = await graphOf(memory);
      const operation = operations[graph.place];
      if (operation === undefined) return;
      const changed = await operated(operation, graph, { models, goal: await goalText(memory), mind });
      const front = changed.front.length <= width ? changed.front : bestOf(changed, width);
      const next: Graph = { ...changed, front, place: graph.place + 1 };
      await memory.setNote(GRAPH, next as unknown as Json);
      const texts = thoughtsAt(next).map(({ text, score: points }) => `${text}${points === 0 ? "" : ` (${points})`}`);
      await memory.update([remark(`Thoughts after ${operation.do}: ${texts.join("; ")}`)]);
      yield "\n";
    },
    nextState: async (memory) => ((await graphOf(memory)).place < operations.length ? "operate" : "answer"),
  };
}

interface Thinking {
  readonly models: ThoughtModels;
  readonly goal: string;
  readonly mind: Mind;
}

async function operated(operation: GraphOperation, graph: Graph, thinking: Thinking): Promise<Graph> {
  const front = thoughtsAt(graph);
  const { models, goal, mind } = thinking;
  switch (operation.do) {
    case "generate": {
      const from = front.length === 0 ? [undefined] : front;
      const made = await allSettled(
        from.map(async (thought) => {
          const texts = await propose(mind, { ...models, goal, path: thought === undefined ? [] : [thought.text], count: operation.count });
          return texts.map((text) => ({ text, parents: thought === undefined ? [] : [thought.id] }));
        }),
      );
      return withThoughts(graph, made.flat(), []);
    }
    case "score": {
      const points = await allSettled(front.map(({ text }) => score(mind, { ...models, goal, path: [text] })));
      const byId = new Map(front.map(({ id }, index) => [id, points[index]]));
      return { ...graph, thoughts: graph.thoughts.map((thought) => ({ ...thought, score: byId.get(thought.id) ?? thought.score })) };
    }
    case "keepBest":
      return { ...graph, front: bestOf(graph, operation.count) };
    case "improve": {
      const better = await allSettled(front.map(({ text }) => rewritten(thinking, `Thought:\n${text}\n\n${IMPROVE}`)));
      const made = front.map((thought, index) => ({ text: better[index] ?? thought.text, parents: [thought.id] }));
      return withThoughts(graph, made, []);
    }
    case "aggregate": {
      if (front.length < 2) return graph;
      const list = front.map(({ text }, index) => `${index + 1}. ${text}`).join("\n");
      const text = await rewritten(thinking, `Thoughts:\n${list}\n\n${AGGREGATE}`);
      return withThoughts(graph, [{ text, parents: front.map(({ id }) => id) }], graph.front);
    }
  }
}

const IMPROVE = "Find what is wrong or weak in this thought and write it again, better and whole.";
const AGGREGATE = "Bring these thoughts together into one that keeps what is good in each and contradicts none without need.";

async function rewritten({ models: { model }, goal, mind }: Thinking, prompt: string): Promise<string> {
  return (await mind.read(Better, { messages: [ChatMessage.user(`Task:\n${goal}\n\n${prompt}`)], model })).thought;
}

async function bestPath(memory: AgentMemory): Promise<readonly string[]> {
  const graph = await graphOf(memory);
  const [best] = bestOf(graph, 1);
  return graph.thoughts.filter(({ id }) => id === best).map(({ text }) => text);
}

function thoughtsAt({ thoughts, front }: Graph): readonly Thought[] {
  const current = new Set(front);
  return thoughts.filter((thought) => current.has(thought.id));
}

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
