import { Plan } from "../role/plan.ts";
import { PlanError } from "../kernel/errors.ts";

/** The progress of a step. */
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

  /** @throws PlanError when the steps are no dependency graph. */
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

  /**
   * The plan with a step marked. Notes that are left out stay; empty notes are removed.
   *
   * @throws PlanError `PLAN_UNKNOWN_TASK`, or `PLAN_NOT_READY` for a step that is begun or completed before what it depends on.
   */
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
   * The plan with another title or other steps. A step with the same words keeps its status and notes, wherever it moves; a completed step
   * that now depends on an open one is open again.
   *
   * @throws PlanError when the steps are no dependency graph.
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
