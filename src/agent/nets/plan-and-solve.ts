import { z } from "zod";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { type AgentMemory, listNote, numberNote, remark } from "../agent-memory.ts";
import { Net, type NetState } from "../net.ts";
import { answerBy, reactOptions, type ReactOptions, reactStates } from "./react.ts";
import { checkLimits } from "./thought-search.ts";

/** Options of {@link planAndSolve}. */
export interface PlanAndSolveOptions extends ReactOptions {
  /** Steps of a plan. Default 8. */
  readonly maxPlan?: number;
}

const planAndSolveOptions: Known<PlanAndSolveOptions> = { ...reactOptions, maxPlan: kinds.checked };

const PlannedSteps = z.object({ steps: z.array(z.string().min(1)).min(1) });
const DEFAULT_PLAN = 8;
const PLAN = "plan.steps";
const PLACE = "plan.index";

/**
 * Makes a plan, carries it out step by step and answers: Wang et al., "Plan-and-Solve Prompting" (arXiv 2305.04091), with tools: each step
 * is solved by the loop of {@link react}. A call of `terminate` ends the whole task.
 *
 * @throws UsageError `NET_INVALID` for a limit of less than 1
 */
export function planAndSolve(options: PlanAndSolveOptions = {}): Net {
  checkKnownOptions("planAndSolve", options, planAndSolveOptions);
  const { maxPlan = DEFAULT_PLAN, ...reacting } = options;
  checkLimits({ maxPlan });
  const states = reactStates({ ...reacting, then: "advance", prompt: stepPrompt });
  return new Net({
    name: "plan_and_solve",
    start: (memory) => (memory.nextAction === undefined ? "plan" : "action"),
    states: { ...states, plan: planning(options, maxPlan), advance: advancing, conclude: concluding(options) },
  });
}

/** A memory that has a plan continues with it. */
function planning({ model }: PlanAndSolveOptions, maxPlan: number): NetState {
  return {
    async *run(memory, mind) {
      if ((await planOf(memory)).length > 0) return;
      const tools = memory.tools.size === 0 ? "" : ` You will have these tools: ${memory.tools.names.join(", ")}.`;
      const { steps } = await mind.read(PlannedSteps, {
        model,
        prompt: `First understand the task and devise a plan to solve it: as few steps as do it well, at most ${maxPlan}, each one sentence.${tools}`,
      });
      const plan = steps.slice(0, maxPlan);
      if (plan.length < steps.length) mind.warn("PLAN_CUT", `The plan had ${steps.length} steps; the first ${maxPlan} are taken.`);
      await memory.setNote(PLAN, plan);
      await memory.setNote(PLACE, 0);
      const text = plan.map((step, index) => `${index + 1}. ${step}`).join("\n");
      await memory.update([remark(`The plan:\n${text}`)]);
      yield `${text}\n`;
    },
    nextState: () => Promise.resolve("reasoning"),
  };
}

const advancing: NetState = {
  sameStep: true,
  async *run(memory) {
    const index = (await numberNote(memory, PLACE)) + 1;
    const plan = await planOf(memory);
    await memory.setNote(PLACE, index);
    // An answer by text is that of the step alone, unlike that of a tool that ends.
    const isOver = memory.answer?.status === "failure" || (await memory.dump()).at(-1)?.role !== "assistant";
    // A plan of one step needs no other answer than that step's.
    memory.done = isOver || plan.length === 1;
    yield "\n";
  },
  async nextState(memory) {
    return (await numberNote(memory, PLACE)) < (await planOf(memory)).length ? "reasoning" : "conclude";
  },
};

function concluding({ model, answerModel = model }: PlanAndSolveOptions): NetState {
  const prompt = "All steps of the plan are carried out. Now give the answer to the task, whole, and nothing else.";
  return {
    run: (memory, mind) => answerBy(memory, mind, { model: answerModel, prompt }),
    nextState: () => Promise.resolve("conclude"),
  };
}

async function stepPrompt(memory: AgentMemory): Promise<string | undefined> {
  const plan = await planOf(memory);
  const index = await numberNote(memory, PLACE);
  const step = plan[index];
  if (step === undefined) return undefined;
  return `Carry out step ${index + 1} of ${plan.length} of the plan and no other: ${step}\nWhen it is done, say its result as text.`;
}

async function planOf(memory: AgentMemory): Promise<readonly string[]> {
  return (await listNote<string>(memory, PLAN)) ?? [];
}
