import { z } from "zod";
import { PlanError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { Plan } from "../role/plan.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import { ToolStates } from "./tool-files.ts";

export type StepStatus = "not_started" | "in_progress" | "completed" | "blocked";

/** A new step; `after` names steps by their place in the list, from 1. */
export interface StepFields {
  readonly text: string;
  readonly after: readonly number[];
}

/** A step of a plan, with its progress. Plain JSON. */
export interface PlanStep {
  /** Its place in the list of new steps, from 1. */
  readonly step: number;
  readonly text: string;
  readonly after: readonly number[];
  readonly status: StepStatus;
  readonly notes: string;
}

interface Mark {
  readonly status: Exclude<StepStatus, "completed">;
  readonly notes: string;
}

const UNTOUCHED: Mark = { status: "not_started", notes: "" };

/**
 * A plan with marks on its steps. It owns the marks of open steps and the notes; the {@link Plan} owns the graph and the done steps.
 *
 * `BoardPlan.B1` a step is completed only after all steps it depends on (`#checkReady`, `updated`). `BoardPlan.B2` a step that reopens
 * reopens all that depend on it (`marked`). `BoardPlan.B3` a refused change changes nothing (`marked` and `updated` return a new plan).
 */
export class BoardPlan {
  readonly title: string;
  readonly #plan: Plan;
  readonly #marks: ReadonlyMap<string, Mark>;

  private constructor(plan: Plan, marks: ReadonlyMap<string, Mark>) {
    this.title = plan.goal;
    this.#plan = plan;
    this.#marks = marks;
  }

  static of(title: string, steps: readonly StepFields[]): BoardPlan {
    return new BoardPlan(planOf(title, steps), new Map());
  }

  /** In an order in which they can be done. */
  get steps(): readonly PlanStep[] {
    return this.#plan.tasks.map(({ id, instruction, dependsOn, status }) => {
      const mark = this.#marks.get(id) ?? UNTOUCHED;
      return {
        step: Number(id),
        text: instruction,
        after: dependsOn.map(Number),
        status: status === "done" ? "completed" : mark.status,
        notes: mark.notes,
      };
    });
  }

  /** * The plan with a step marked. Notes that are left out stay; empty notes are removed. */
  marked(step: number, status: StepStatus, notes: string | undefined): BoardPlan {
    const id = String(step);
    const old = this.#mark(id);
    const plan = Plan.fromJSON(this.#plan.toJSON());
    const task = plan.getTask(id);
    if (task === undefined || status === "not_started" || status === "blocked" || task.status === "done") plan.resetTask(id);
    else this.#checkReady(step, task.dependsOn);
    const marks = new Map(this.#marks);
    for (const { id: other, status: now } of plan.tasks) {
      if (now === "open" && this.#isDone(other)) marks.set(other, { status: "not_started", notes: this.#mark(other).notes });
    }
    marks.set(id, { status: status === "completed" ? "not_started" : status, notes: notes ?? old.notes });
    return new BoardPlan(status === "completed" ? withDone(plan, id) : plan, marks);
  }

  /**
   * * The plan with another title or other steps. A step with the same words keeps its status and notes, wherever it moves; a completed step
   * that now depends on an open one is open again.
   */
  updated(title: string, steps: readonly StepFields[] | undefined): BoardPlan {
    if (steps === undefined) return new BoardPlan(Plan.fromJSON({ ...this.#plan.toJSON(), goal: title }), this.#marks);
    const plan = planOf(title, steps);
    const before = [...this.steps];
    const marks = new Map<string, Mark>();
    const done = new Set<string>();
    for (const { id, instruction, dependsOn } of plan.tasks) {
      const place = before.findIndex((old) => old.text === instruction);
      const [old] = place === -1 ? [] : before.splice(place, 1);
      if (old === undefined) continue;
      const isDone = old.status === "completed" && dependsOn.every((other) => done.has(other));
      if (isDone) done.add(id);
      marks.set(id, { status: old.status === "completed" ? "not_started" : old.status, notes: old.notes });
    }
    return new BoardPlan(withDone(plan, ...done), marks);
  }

  #isDone(id: string): boolean {
    return this.#plan.getTask(id)?.status === "done";
  }

  #mark(id: string): Mark {
    return this.#marks.get(id) ?? UNTOUCHED;
  }

  #checkReady(step: number, dependsOn: readonly string[]): void {
    const open = dependsOn.filter((id) => !this.#isDone(id));
    if (open.length === 0) return;
    throw new PlanError(
      "PLAN_NOT_READY",
      `Expected step ${step} to wait for what it depends on, but ${open.length === 1 ? "step" : "steps"} ${open.join(", ")} not completed yet. Do that first, or update the plan.`,
    );
  }
}

function planOf(title: string, steps: readonly StepFields[]): Plan {
  const tasks = steps.map(({ text, after }, place) => ({ id: String(place + 1), instruction: text, dependsOn: after.map(String) }));
  return new Plan({ goal: title, tasks });
}

function withDone(plan: Plan, ...ids: readonly string[]): Plan {
  const { goal, tasks } = plan.toJSON();
  return new Plan({ goal, tasks: tasks.map((task) => (ids.includes(task.id) ? { ...task, status: "done" as const } : task)) });
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
    const plan = BoardPlan.of(title, fieldsOf(steps));
    this.#plans.set(id, plan);
    this.#active = id;
    return this.#shown(id, plan);
  }

  #update(id: string, plan: BoardPlan, { title, steps }: PlanningArguments): ToolResult {
    if (title === undefined && steps === undefined) return toolFailure("Expected `title`, `steps` or both to update a plan.");
    if (steps?.length === 0) return toolFailure("Expected at least one step. To be rid of a plan, delete it.");
    return this.#become(id, plan.updated(title ?? plan.title, steps === undefined ? undefined : fieldsOf(steps)));
  }

  #mark(id: string, plan: BoardPlan, { step, status, notes }: PlanningArguments): ToolResult {
    const old = plan.steps.find((known) => known.step === step);
    if (step === undefined || old === undefined) return toolFailure(`Expected the number of a step, from 1 to ${plan.steps.length}.`);
    if (status === undefined && notes === undefined) return toolFailure("Expected `status`, `notes` or both.");
    return this.#become(id, plan.marked(step, status ?? old.status, notes));
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

  /** Uses the named plan, or else the active one. */
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

function fieldsOf(steps: NonNullable<PlanningArguments["steps"]>): StepFields[] {
  return steps.map((step) => (typeof step === "string" ? { text: step, after: [] } : { text: step.text, after: step.after ?? [] }));
}
