import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { z } from "zod";
import type { AgentMemory, Answer } from "../agent-memory.ts";
import { type Mind, Net, type NetState } from "../net.ts";
import { checkLimits } from "./net-limits.ts";
import { reactOptions, type ReactOptions, reactStates } from "./react.ts";
import { remark } from "../remarks.ts";

/** How a mind plans before it solves. */
export interface PlanAndSolveOptions extends ReactOptions {
  /** Most steps of a plan; what is beyond is left out. Default 8. */
  readonly maxPlan?: number;
}

const planAndSolveOptions: Known<PlanAndSolveOptions> = { ...reactOptions, maxPlan: true };

const Planned = z.object({ steps: z.array(z.string().min(1)).min(1) });
const DEFAULT_PLAN = 8;
const PLAN = "plan.steps";
const PLACE = "plan.place";

/**
 * Understands the task, makes a plan, carries it out step by step and gives the answer: Wang et al., "Plan-and-Solve Prompting"
 * (arXiv 2305.04091), with tools: each step is solved by the loop of {@link react}. A call of `terminate` ends the whole task.
 *
 * @throws UsageError `NET_INVALID` for a limit of less than 1.
 */
export function planAndSolve(options: PlanAndSolveOptions = {}): Net {
  checkKnownOptions("planAndSolve", options, planAndSolveOptions);
  checkLimits({ maxPlan: options.maxPlan ?? DEFAULT_PLAN });
  const states = reactStates({ ...options, then: "advance", prompt: stepPrompt });
  return new Net({
    name: "plan_and_solve",
    start: (memory) => (memory.nextAction === undefined ? "plan" : "action"),
    states: { ...states, plan: new Planning(options), advance: new Advancing(), conclude: new Concluding(options) },
  });
}

/** Made once: a memory that has a plan goes on with it. */
class Planning implements NetState {
  readonly #options: PlanAndSolveOptions;

  constructor(options: PlanAndSolveOptions) {
    this.#options = options;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    if ((await planOf(memory)).length > 0) return;
    const { maxPlan = DEFAULT_PLAN, model } = this.#options;
    const tools = memory.tools.size === 0 ? "" : ` You will have these tools: ${memory.tools.names.join(", ")}.`;
    const { steps } = await mind.read(Planned, {
      model,
      prompt: `First understand the task and devise a plan to solve it: as few steps as do it well, at most ${maxPlan}, each one sentence.${tools}`,
    });
    const plan = steps.slice(0, maxPlan);
    if (plan.length < steps.length) mind.warn("PLAN_CUT", `The plan had ${steps.length} steps; the first ${maxPlan} are taken.`);
    await memory.setNote(PLAN, plan);
    await memory.setNote(PLACE, 0);
    const text = plan.map((step, place) => `${place + 1}. ${step}`).join("\n");
    await memory.update([remark(`The plan:\n${text}`)]);
    yield `${text}\n`;
  }

  nextState(): Promise<string> {
    return Promise.resolve("reasoning");
  }
}

/** Takes what a step gave and turns to the next one. */
class Advancing implements NetState {
  readonly sameStep = true;

  async *run(memory: AgentMemory): AsyncGenerator<string, void, void> {
    const place = (await placeIn(memory)) + 1;
    const plan = await planOf(memory);
    await memory.setNote(PLACE, place);
    const isOver = memory.answer?.status === "failure" || (await wasTerminated(memory));
    // A plan of one step needs no other answer than that step's.
    memory.done = isOver || plan.length === 1;
    yield "\n";
  }

  async nextState(memory: AgentMemory): Promise<string> {
    return (await placeIn(memory)) < (await planOf(memory)).length ? "reasoning" : "conclude";
  }
}

class Concluding implements NetState {
  readonly #options: PlanAndSolveOptions;

  constructor(options: PlanAndSolveOptions) {
    this.#options = options;
  }

  async *run(memory: AgentMemory, mind: Mind): AsyncGenerator<string, void, void> {
    const reply = yield* mind.ask({
      model: this.#options.answerModel ?? this.#options.model,
      prompt: "All steps of the plan are carried out. Now give the answer to the task, whole, and nothing else.",
    });
    const answer: Answer = { text: reply.content, status: "success" };
    await memory.update([{ role: "assistant", content: reply.content }]);
    memory.answer = answer;
    memory.done = true;
  }

  nextState(): Promise<string> {
    return Promise.resolve("conclude");
  }
}

async function stepPrompt(memory: AgentMemory): Promise<string | undefined> {
  const plan = await planOf(memory);
  const place = await placeIn(memory);
  const step = plan[place];
  if (step === undefined) return undefined;
  return `Carry out step ${place + 1} of ${plan.length} of the plan and no other: ${step}\nWhen it is done, say its result as text.`;
}

/** An answer by text is a step's; one by a tool that ends, whose result comes last, is the task's. */
async function wasTerminated(memory: AgentMemory): Promise<boolean> {
  return (await memory.dump()).at(-1)?.role !== "assistant";
}

async function planOf(memory: AgentMemory): Promise<readonly string[]> {
  const plan = await memory.note(PLAN);
  return Array.isArray(plan) ? (plan as readonly string[]) : [];
}

async function placeIn(memory: AgentMemory): Promise<number> {
  const place = await memory.note(PLACE);
  return typeof place === "number" ? place : 0;
}
