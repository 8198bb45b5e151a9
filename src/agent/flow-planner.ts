import { z } from "zod";
import { OutputError, PlanError } from "../kernel/errors.ts";
import type { TaskFields } from "./task.ts";
import { ChatMessage } from "../model/chat-message.ts";
import type { FlowPlan, FlowStep } from "./flow-plan.ts";
import type { ModelClient } from "./model-client.ts";

/** An executor of steps, as the planner knows it. */
interface PlannedExecutor {
  readonly type: string;
  readonly description: string;
}

const PlannedSteps = z.object({
  steps: z
    .array(
      z.object({
        id: z.string().min(1),
        instruction: z.string().min(1),
        dependsOn: z.array(z.string()).optional(),
        type: z.string().optional(),
      }),
    )
    .min(1),
});

const SHOWN_RESULT = 2_000;
/** Tries for a plan that is no graph. */
const PLAN_TRIES = 3;

/** Asks a model for plans and for the final answer. */
export class FlowPlanner {
  readonly #client: ModelClient;
  readonly #executors: readonly PlannedExecutor[];
  readonly #maxSteps: number;

  constructor(client: ModelClient, executors: readonly PlannedExecutor[], maxSteps: number) {
    this.#client = client;
    this.#executors = executors;
    this.#maxSteps = maxSteps;
  }

  /**
   * Plans a goal. `take` gets the steps and refuses them when they are no dependency graph.
   *
   * @throws PlanError, OutputError when no reply was a plan; ModelError
   */
  plan(goal: string, take: (tasks: readonly TaskFields[]) => void): Promise<void> {
    return this.#ask(`Goal:\n${goal}\n\nBreak the goal into as few steps as do it well, at most ${this.#maxSteps}.`, take);
  }

  /** Makes another plan for the rest of the work after a step failed. */
  replan(goal: string, plan: FlowPlan, failed: FlowStep, why: string, take: (tasks: readonly TaskFields[]) => void): Promise<void> {
    const done = plan.doneSteps.map(({ task, result }) => `- ${task.id}: ${task.instruction}\n  result: ${result.slice(0, SHOWN_RESULT)}`);
    const open = plan.steps.filter((step) => step.status !== "done").map(({ task }) => `- ${task.id}: ${task.instruction}`);
    const parts = [
      `Goal:\n${goal}`,
      done.length === 0 ? "Nothing is done yet." : `Done, and to be left as it is:\n${done.join("\n")}`,
      `Not done:\n${open.join("\n")}`,
      `Step ${failed.task.id} could not be done: ${why.slice(0, SHOWN_RESULT)}`,
      `Plan what is left in another way, in at most ${this.#maxSteps} new steps. They may depend on what is done; give them ids that are not taken.`,
    ];
    return this.#ask(parts.join("\n\n"), take);
  }

  /** Asks for the answer to the goal from the results of the steps. */
  async summarize(goal: string, steps: readonly FlowStep[]): Promise<string> {
    const results = steps.map(({ task, status, result }) => `- ${task.instruction} (${status}): ${result}`).join("\n");
    const asked = ChatMessage.user(
      `Goal:\n${goal}\n\nWhat the steps gave:\n${results}\n\nGive the answer to the goal, whole. Say plainly what could not be done.`,
    );
    const reply = this.#client.ask({ messages: [asked] });
    for (;;) {
      const next = await reply.next();
      if (next.done === true) return next.value.content;
    }
  }

  async #ask(prompt: string, take: (tasks: readonly TaskFields[]) => void): Promise<void> {
    let complaint = "";
    for (let n = 1; ; n++) {
      const { steps } = await this.#client.read(PlannedSteps, { messages: [ChatMessage.user(prompt + this.#rules() + complaint)] });
      try {
        if (steps.length > this.#maxSteps)
          throw new PlanError("PLAN_TOO_LONG", `Expected at most ${this.#maxSteps} steps, got ${steps.length}.`);
        return take(steps);
      } catch (error) {
        if (!(error instanceof PlanError) || n === PLAN_TRIES) throw error;
        complaint = `\n\nYour last plan was refused: ${error.message}`;
      }
    }
  }

  #rules(): string {
    const executors = this.#executors.map(({ type, description }) => `- ${type}${description === "" ? "" : `: ${description}`}`);
    return `\n\nEach step has an id, an instruction that can be understood alone, the ids of the steps whose results it needs (dependsOn), and as its type who does it, one of:\n${executors.join("\n")}\nSteps that need nothing of each other are done side by side. The steps form a graph without cycles.`;
  }
}

/** True for an error that only says that there is no plan. */
export function isNoPlan(error: unknown): boolean {
  return error instanceof PlanError || error instanceof OutputError;
}
