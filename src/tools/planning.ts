import { z } from "zod";
import { PlanError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { Plan } from "../role/plan.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import { ToolStates } from "./tool-files.ts";

export type StepStatus = "not_started" | "in_progress" | "completed" | "blocked";

/** A new step; `after` names steps by their position in the list, from 1. */
export interface StepFields {
  readonly text: string;
  readonly after: readonly number[];
}

/** A step of a plan, with its progress. Plain JSON. */
export interface PlanStep extends StepFields {
  /** Its position in the list of new steps, from 1. */
  readonly step: number;
  readonly status: StepStatus;
  readonly notes: string;
}

/**
 * A plan with its steps in an order in which they can be done. `BoardPlan.B1` a step is completed only after all steps it depends on.
 * `BoardPlan.B2` a step that is opened again opens all that depend on it. `BoardPlan.B3` a refused change changes nothing.
 */
export interface BoardPlan {
  readonly title: string;
  readonly steps: readonly PlanStep[];
}

/** A step with the same words as an earlier one keeps its status and notes. @throws PlanError for no dependency graph */
export function boardPlan(title: string, fields: readonly StepFields[], before: readonly PlanStep[] = []): BoardPlan {
  const tasks = fields.map(({ text, after }, index) => ({ id: String(index + 1), instruction: text, dependsOn: after.map(String) }));
  const left = [...before];
  const steps = new Plan({ goal: title, tasks }).tasks.map(({ id, instruction, dependsOn }): PlanStep => {
    const index = left.findIndex((old) => old.text === instruction);
    const [old] = index === -1 ? [] : left.splice(index, 1);
    const { status = "not_started", notes = "" } = old ?? {};
    return { step: Number(id), text: instruction, after: dependsOn.map(Number), status, notes };
  });
  return { title, steps: settled(steps) };
}

function settled(steps: readonly PlanStep[]): readonly PlanStep[] {
  const done = new Set<number>();
  return steps.map((step) => {
    if (step.status !== "completed") return step;
    if (!step.after.every((other) => done.has(other))) return { ...step, status: "not_started" };
    done.add(step.step);
    return step;
  });
}

/** Notes that are left out stay. @throws PlanError `PLAN_NOT_READY` for a step that is begun before the steps it depends on */
export function marked({ title, steps }: BoardPlan, step: number, status: StepStatus, notes: string | undefined): BoardPlan {
  const changed = steps.map((one) => (one.step === step ? { ...one, status, notes: notes ?? one.notes } : one));
  const { after = [] } = steps.find((one) => one.step === step) ?? {};
  const open = after.filter((other) => steps.find((one) => one.step === other)?.status !== "completed");
  if (open.length === 0 || status === "not_started" || status === "blocked") return { title, steps: settled(changed) };
  throw new PlanError(
    "PLAN_NOT_READY",
    `Expected step ${step} to wait for what it depends on, but ${open.length === 1 ? "step" : "steps"} ${open.join(", ")} not completed yet. Do that first, or update the plan.`,
  );
}

const MOST_PLANS = 20;
const MOST_STEPS = 200;
const LONGEST_TEXT = 2000;
const MARKS: Readonly<Record<PlanStep["status"], string>> = { not_started: "[ ]", in_progress: "[→]", completed: "[✓]", blocked: "[!]" };

const text = z.string().min(1).max(LONGEST_TEXT);
const parameters = z.object({
  command: z.enum(["create", "update", "list", "get", "set_active", "mark_step", "delete"]),
  plan_id: z.string().min(1).max(100).optional().describe("Needed to create, set_active and delete. Else, default: the active plan."),
  title: text.optional().describe("create, update"),
  steps: z
    .array(z.union([text, z.object({ text, after: z.array(z.number().int().min(1)).optional() })]))
    .max(MOST_STEPS)
    .optional()
    .describe("create, update: all steps. `after`: numbers of the steps in this list, from 1, that come first."),
  step: z.number().int().min(1).optional().describe("mark_step: number of the step, as shown"),
  status: z.enum(["not_started", "in_progress", "completed", "blocked"]).optional().describe("mark_step"),
  notes: z.string().max(LONGEST_TEXT).optional().describe("mark_step: what is worth knowing of the step; empty takes notes away"),
});

type PlanningArguments = z.infer<typeof parameters>;

/** Makes a tool that keeps plans for an agent: several, one of them active. Plans belong to the session that makes them. */
export function planningTool(): Tool {
  const boards = new ToolStates(() => new PlanBoard());
  return defineTool({
    name: "planning",
    description:
      "Keeps plans of steps and how far each is: create, update (steps of the same words keep their status), list, get, set_active, mark_step, delete. " +
      "Use it for work of several steps.",
    parameters,
    // It changes only its own state, and rebuilds that by running again.
    effect: "read",
    again: true,
    parallel: false,
    execute: (args, ctx) => {
      try {
        return boards.of(ctx).run(args);
      } catch (error) {
        if (error instanceof PlanError) return toolFailure(error.message);
        throw error;
      }
    },
  });
}

/** The plans of one session. It owns the plans and which one is active; a deleted plan is not active. */
class PlanBoard {
  readonly #plans = new Map<string, BoardPlan>();
  #active: string | undefined;

  run(args: PlanningArguments): ToolResult {
    switch (args.command) {
      case "create":
        return this.#create(args);
      case "list":
        return this.#list();
      case "get":
        return this.#on(args, (id, plan) => this.#shown(id, plan));
      case "set_active":
        return this.#named(args, (id, plan) => {
          this.#active = id;
          return this.#shown(id, plan);
        });
      case "update":
        return this.#on(args, (id, plan) => this.#update(id, plan, args));
      case "mark_step":
        return this.#on(args, (id, plan) => this.#mark(id, plan, args));
      case "delete":
        return this.#named(args, (id) => this.#delete(id));
    }
  }

  #create({ plan_id: id, title, steps }: PlanningArguments): ToolResult {
    if (id === undefined || title === undefined || steps === undefined)
      return toolFailure("Expected `plan_id`, `title` and `steps` to create a plan.");
    if (steps.length === 0) return toolFailure("Expected at least one step.");
    if (this.#plans.has(id)) return toolFailure(`Expected a new plan_id, but there is a plan "${id}". Update it, or choose another id.`);
    if (this.#plans.size >= MOST_PLANS) return toolFailure(`Expected at most ${MOST_PLANS} plans. Delete one first.`);
    const plan = boardPlan(title, fieldsOf(steps));
    this.#plans.set(id, plan);
    this.#active = id;
    return this.#shown(id, plan);
  }

  #update(id: string, plan: BoardPlan, { title, steps }: PlanningArguments): ToolResult {
    if (title === undefined && steps === undefined) return toolFailure("Expected `title`, `steps` or both to update a plan.");
    if (steps?.length === 0) return toolFailure("Expected at least one step. To be rid of a plan, delete it.");
    return this.#become(id, boardPlan(title ?? plan.title, steps === undefined ? inOrder(plan) : fieldsOf(steps), plan.steps));
  }

  #mark(id: string, plan: BoardPlan, { step, status, notes }: PlanningArguments): ToolResult {
    const old = plan.steps.find((known) => known.step === step);
    if (step === undefined || old === undefined) return toolFailure(`Expected the number of a step, from 1 to ${plan.steps.length}.`);
    if (status === undefined && notes === undefined) return toolFailure("Expected `status`, `notes` or both.");
    return this.#become(id, marked(plan, step, status ?? old.status, notes));
  }

  #become(id: string, plan: BoardPlan): ToolResult {
    this.#plans.set(id, plan);
    return this.#shown(id, plan);
  }

  #delete(id: string): ToolResult {
    this.#plans.delete(id);
    if (this.#active === id) this.#active = undefined;
    return toolOutput(`The plan "${id}" is gone.${this.#active === undefined ? " No plan is active." : ""}`);
  }

  #list(): ToolResult {
    const lines = [...this.#plans].map(([id, plan]) => `${id === this.#active ? "* " : "  "}${id}: ${plan.title} (${progress(plan)})`);
    return toolOutput(lines.length === 0 ? "There are no plans." : lines.join("\n"));
  }

  #named(args: PlanningArguments, work: (id: string, plan: BoardPlan) => ToolResult): ToolResult {
    return args.plan_id === undefined ? toolFailure("Expected `plan_id`.") : this.#on(args, work);
  }

  #on({ plan_id: named }: PlanningArguments, work: (id: string, plan: BoardPlan) => ToolResult): ToolResult {
    const id = named ?? this.#active;
    if (id === undefined) return toolFailure("Expected `plan_id`: no plan is active.");
    const plan = this.#plans.get(id);
    if (plan === undefined)
      return toolFailure(
        `Expected the plan_id of a plan that is there, got "${id}". There are: ${[...this.#plans.keys()].join(", ") || "none"}.`,
      );
    return work(id, plan);
  }

  #shown(id: string, plan: BoardPlan): ToolResult {
    const lines = plan.steps.flatMap((step) => [
      `${step.step}. ${MARKS[step.status]} ${step.text}${step.after.length === 0 ? "" : ` (after ${step.after.join(", ")})`}`,
      ...(step.notes === "" ? [] : [`   notes: ${step.notes}`]),
    ]);
    const data: Json = { planId: id, title: plan.title, steps: plan.steps.map((step) => ({ ...step })) };
    const head = `Plan ${id}${id === this.#active ? " (active)" : ""}: ${plan.title}\nProgress: ${progress(plan)}`;
    return toolOutput(`${head}\n${lines.join("\n")}`, { data });
  }
}

function progress({ steps }: BoardPlan): string {
  return `${steps.filter(({ status }) => status === "completed").length} of ${steps.length} completed`;
}

/** The steps in the order in which they were given: their numbers stay. */
function inOrder({ steps }: BoardPlan): readonly StepFields[] {
  return steps.toSorted((a, b) => a.step - b.step);
}

function fieldsOf(steps: NonNullable<PlanningArguments["steps"]>): StepFields[] {
  return steps.map((step) => (typeof step === "string" ? { text: step, after: [] } : { text: step.text, after: step.after ?? [] }));
}
