import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { type AgentMemory, goalText, listNote, remark } from "../agent-memory.ts";
import { Net, type NetState } from "../net.ts";
import { allSettled, answeringFrom, checkLimits, propose, score, thoughtModels, type ThoughtModels } from "./thought-search.ts";

/** Options of {@link treeOfThought}. */
export interface TreeOfThoughtOptions extends ThoughtModels {
  /** Thoughts proposed after each path. Default 3. */
  readonly branches?: number;
  /** Paths that are followed at each depth. Default 2. */
  readonly width?: number;
  /** Thoughts of one path. Default 3. */
  readonly depth?: number;
  /** Paths with a lower score, of 0 to 10, are dropped. Default 1. */
  readonly least?: number;
}

const treeOfThoughtOptions: Known<TreeOfThoughtOptions> = {
  ...thoughtModels,
  ...kinds.each(kinds.checked, "branches", "width", "depth"),
  least: kinds.number,
};

interface ScoredPath {
  readonly path: readonly string[];
  readonly score: number;
}

const FRONTIER = "tree.frontier";
const CANDIDATES = "tree.candidates";

/**
 * Searches a tree of thoughts breadth first: at each depth every kept path branches into several thoughts, all are scored, and the best
 * continue: Yao et al., "Tree of Thoughts" (arXiv 2305.10601), algorithm 1, with proposals and values. A search makes at most `depth *
 * width * (1 + branches) + 1` model calls and takes two steps for each depth.
 */
export function treeOfThought(options: TreeOfThoughtOptions = {}): Net {
  checkKnownOptions("treeOfThought", options, treeOfThoughtOptions);
  const limits = { branches: 3, width: 2, depth: 3, least: 1, ...options };
  checkLimits({ branches: limits.branches, width: limits.width, depth: limits.depth });
  return new Net({
    name: "tree_of_thought",
    start: "propose",
    states: {
      propose: proposing(limits),
      evaluate: weighing(limits),
      answer: answeringFrom(options, async (memory) => (await frontierOf(memory))[0]?.path ?? []),
    },
  });
}

type SearchLimits = ThoughtModels & Required<Omit<TreeOfThoughtOptions, keyof ThoughtModels>>;

function proposing(limits: SearchLimits): NetState {
  return {
    async *run(memory, mind) {
      if (await isComplete(memory, limits)) return;
      const goal = await goalText(memory);
      const branched = await allSettled(
        (await frontierOf(memory)).map(async ({ path }) => {
          const thoughts = await propose(mind, { ...limits, goal, path, count: limits.branches });
          return thoughts.map((thought) => [...path, thought]);
        }),
      );
      const candidates = branched.flat();
      await memory.setNote(CANDIDATES, candidates);
      yield `${candidates.map((path) => path.at(-1)).join("\n")}\n`;
    },
    nextState: async (memory) => ((await isComplete(memory, limits)) ? "answer" : "evaluate"),
  };
}

function weighing(limits: SearchLimits): NetState {
  return {
    async *run(memory, mind) {
      const goal = await goalText(memory);
      const { width, least } = limits;
      const candidates = (await listNote<readonly string[]>(memory, CANDIDATES)) ?? [];
      const weighed = await allSettled(
        candidates.map(async (path): Promise<ScoredPath> => ({ path, score: await score(mind, { ...limits, goal, path }) })),
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
    },
    nextState: async (memory) => ((await isComplete(memory, limits)) ? "answer" : "propose"),
  };
}

async function isComplete(memory: AgentMemory, { depth }: SearchLimits): Promise<boolean> {
  return (await frontierOf(memory)).every((way) => way.path.length >= depth);
}

async function frontierOf(memory: AgentMemory): Promise<readonly ScoredPath[]> {
  return (await listNote<ScoredPath>(memory, FRONTIER)) ?? [{ path: [], score: 0 }];
}
