import { PlanError } from "../kernel/errors.ts";
import type { ResultMembers } from "../kernel/run-handle.ts";
import { sortTasks, type Task, type TaskFields, taskOf, withDependents } from "./task.ts";
import { type AgentEvent, agentEventKinds, type AgentResult, type EventKinds } from "./events.ts";

/** One step of a flow: a task and its progress. */
export interface FlowStep {
  readonly task: Task;
  /** `open`: not begun, or begun and not done, with the reason in `result`. No step of an ended flow is `running`. */
  readonly status: "open" | "running" | "done" | "blocked";
  readonly tries: number;
  readonly result: string;
}

/**
 * The steps of a flow. It owns their states.
 *
 * `FlowPlan.F1` a step begins only when all steps it depends on are done (`ready`). `FlowPlan.F2` steps that depend on a blocked step are
 * blocked (`block`). `FlowPlan.F3` a new plan keeps the done steps (`replaceOpen`).
 */
export class FlowPlan {
  #steps = new Map<string, FlowStep>();

  /** @param tasks default: none, until {@link replaceOpen} gives some */
  constructor(tasks?: readonly TaskFields[]) {
    if (tasks !== undefined) this.replaceOpen(tasks);
  }

  get steps(): readonly FlowStep[] {
    return [...this.#steps.values()];
  }

  get doneSteps(): readonly FlowStep[] {
    return this.steps.filter((step) => step.status === "done");
  }

  get ready(): readonly FlowStep[] {
    const isDone = (id: string): boolean => this.#steps.get(id)?.status === "done";
    return this.steps.filter((step) => step.status === "open" && step.task.dependsOn.every(isDone));
  }

  get isDone(): boolean {
    return this.steps.every((step) => step.status === "done");
  }

  step(id: string): FlowStep {
    const step = this.#steps.get(id);
    if (step === undefined) throw new PlanError("PLAN_UNKNOWN_TASK", `Expected the id of a step of the plan, got ${id}.`);
    return step;
  }

  begin(id: string): FlowStep {
    return this.#change(id, (step) => ({ ...step, status: "running", tries: step.tries + 1 }));
  }

  finish(id: string, result: string): void {
    this.#change(id, (step) => ({ ...step, status: "done", result }));
  }

  reopen(id: string, why: string): void {
    this.#change(id, (step) => ({ ...step, status: "open", result: why }));
  }

  /** Blocks a step and the steps that depend on it. Returns their ids. */
  block(id: string, why: string): readonly string[] {
    const tasks = this.steps.map((step) => step.task);
    const blocked = [...withDependents(tasks, id)].filter((one) => this.#steps.get(one)?.status !== "done");
    for (const one of blocked) {
      const words = one === id ? why : `It depends on ${id}, which could not be done.`;
      this.#change(one, (step) => ({ ...step, status: "blocked", result: words }));
    }
    return blocked;
  }

  /** @throws PlanError and changes nothing */
  replaceOpen(tasks: readonly TaskFields[]): void {
    const done = this.doneSteps;
    const made = tasks.map((fields) => taskOf({ ...fields, status: "open" }));
    if (made.length === 0 && done.length === 0) throw new PlanError("PLAN_EMPTY", "Expected a plan of at least one step, got none.");
    const sorted = sortTasks([...done.map((step) => step.task), ...made]);
    const before = new Map(done.map((step) => [step.task.id, step]));
    this.#steps = new Map(sorted.map((task) => [task.id, before.get(task.id) ?? { task, status: "open", tries: 0, result: "" }]));
  }

  #change(id: string, change: (step: FlowStep) => FlowStep): FlowStep {
    const changed = change(this.step(id));
    this.#steps.set(id, changed);
    return changed;
  }
}

/** An event of a run of a flow. */
export type FlowEvent =
  | { readonly type: "plan.made"; readonly steps: readonly FlowStep[] }
  | { readonly type: "step.started"; readonly step: FlowStep }
  | { readonly type: "step.ended"; readonly step: FlowStep; readonly result: AgentResult }
  /** `blocked`: the ids of all blocked steps, when there are several. */
  | {
      readonly type: "step.failed";
      readonly step: FlowStep;
      readonly why: string;
      readonly then: "retry" | "replan" | "block" | "stop";
      readonly blocked?: readonly string[];
    }
  | { readonly type: "agent.event"; readonly task: string; readonly event: AgentEvent }
  | { readonly type: "warning"; readonly code: string; readonly text: string }
  | { readonly type: "flow.ended"; readonly result: FlowResult };

/** The result of a flow. */
export interface FlowResult {
  /** `blocked`: some steps could not be done; the answer sums up the others. */
  readonly status: "finished" | "blocked" | "stopped" | "failed";
  readonly answer: string;
  readonly steps: readonly FlowStep[];
  readonly error?: Error;
}

/** With words of other frameworks. @internal */
export const flowResultMembers: { readonly [Name in keyof Required<FlowResult>]: Name } & ResultMembers = {
  status: "status",
  answer: "answer",
  steps: "steps",
  error: "error",
  ...{ output: "answer", content: "answer", text: "answer", finalOutput: "answer" },
};

/** Events of agents are joined within one task. */
export const flowEventKinds: EventKinds<FlowEvent> = {
  isPassing: (event) => event.type === "agent.event" && agentEventKinds.isPassing(event.event),
  join(first, second) {
    if (first.type !== "agent.event" || second.type !== "agent.event" || first.task !== second.task) return undefined;
    const event = agentEventKinds.join(first.event, second.event);
    return event === undefined ? undefined : { ...first, event };
  },
};
