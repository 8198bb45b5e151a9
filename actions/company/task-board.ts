import type { Message, RoleContext } from "../../src/index.ts";
import { type ForkedProject, mergeFork, openFork, removeFork, updateFork } from "../../src/workspace/index.ts";
import type { WorkReport } from "./project-gate.ts";
import { renderOrder, type WorkOrder, type WorkTask } from "./work-order.ts";

/** Options of a board. */
export interface TaskBoardOptions {
  /** Returns the project with its forks. It is called when a task is given out, because only size L has forks. */
  readonly project: () => ForkedProject;
  /** Names of the engineers who work side by side. */
  readonly engineers: readonly string[];
  /** The engineer who gets the whole order at the end. */
  readonly integrator: string;
}

/** The part of a context that a board needs. */
type BoardContext = Pick<RoleContext, "steps" | "message" | "memory" | "now">;

/** How often a task is given to its engineer: the second time after a conflict. */
const MOST_TRIES = 2;
/** Characters of the first line of a commit. */
const SUBJECT = 72;

/**
 * Gives out the tasks of an order and merges what comes back, without a model. It holds no data of a run: the state of the plan is in the
 * order, and the newest order in the memory of the project manager is the present one.
 */
export class TaskBoard {
  readonly engineers: readonly string[];
  readonly integrator: string;
  readonly #project: () => ForkedProject;

  constructor({ project, engineers, integrator }: TaskBoardOptions) {
    this.#project = project;
    this.engineers = engineers;
    this.integrator = integrator;
  }

  /**
   * Gives ready tasks to free engineers, or the whole order to the integrator when no task is left.
   *
   * @param again ids of tasks that go back to their engineers
   */
  async given(ctx: BoardContext, order: WorkOrder, again: readonly string[] = []): Promise<readonly Message[]> {
    const { task: _task, ...plan } = order;
    const before = withoutHopeless(plan.tasks ?? []);
    const free = this.engineers.filter((name) => !before.some(({ state, by }) => state === "working" && by === name));
    const ready = before.filter((task) => isReady(task, before)).slice(0, free.length);
    const names = new Map(ready.map(({ id }, place) => [id, free[place] as string]));
    const tasks = before.map((task): WorkTask => {
      const by = names.get(task.id);
      return by === undefined ? task : { ...task, state: "working", by, tries: 1 };
    });
    const forks = new Map(tasks.map(({ id }, place) => [id, forkName(place)]));
    for (const { id } of ready) {
      const fork = forks.get(id) as string;
      // One of this name may be left of an earlier plan.
      await removeFork(ctx.steps, this.#project(), fork);
      await openFork(ctx.steps, this.#project(), fork);
    }
    return this.#told(ctx, { ...plan, tasks }, new Set([...again, ...names.keys()]));
  }

  /** Takes in an engineer's report, merges the work, and gives out what became ready. */
  async settled(ctx: BoardContext, order: WorkOrder, reports: readonly Report[]): Promise<readonly Message[]> {
    let tasks = order.tasks ?? [];
    const again: string[] = [];
    for (const report of reports) {
      const place = tasks.findIndex(({ state, by }) => state === "working" && by === report.from);
      const task = tasks[place];
      if (task === undefined) continue;
      const now = await this.#merged(ctx, task, forkName(place), report);
      if (now.state === "working") again.push(now.id);
      tasks = tasks.with(place, now);
    }
    return this.given(ctx, { ...order, tasks }, again);
  }

  async #merged(ctx: BoardContext, task: WorkTask, fork: string, { message, work }: Report): Promise<WorkTask> {
    const project = this.#project();
    await openFork(ctx.steps, project, fork);
    const request = { message: subjectOf(task), author: task.by as string, date: ctx.now(), trailers: { "Troupe-Message": message.id } };
    const merge = await mergeFork(ctx.steps, project, fork, request);
    if (merge.kind === "merged") {
      await removeFork(ctx.steps, project, fork);
      // What there is of a stuck task is worth more than interfaces that throw.
      return work.status === "finished" ? { ...task, state: "merged", note: undefined } : { ...task, state: "stuck", note: work.summary };
    }
    const paths = merge.paths.join(", ");
    if (task.tries >= MOST_TRIES || work.status !== "finished") {
      const note = `It was not merged, because the project changed meanwhile in ${paths}. ${work.summary}`;
      return { ...task, state: "stuck", note };
    }
    const { conflicts } = await updateFork(ctx.steps, project, fork);
    const marked = conflicts.length === 0 ? paths : conflicts.join(", ");
    const note = `The project changed meanwhile in ${paths}. Its changes are now in your files; resolve the marks of conflicts in ${marked}, and call done again.`;
    return { ...task, tries: task.tries + 1, note };
  }

  /** The messages after a change of the plan. Where nobody gets one, the plan is only remembered. */
  #told(ctx: BoardContext, order: WorkOrder, started: ReadonlySet<string>): readonly Message[] {
    const tasks = order.tasks ?? [];
    if (tasks.every(({ state }) => state === "merged" || state === "stuck")) {
      return [ctx.message(renderOrder(order), { instructContent: order, sendTo: [this.integrator] })];
    }
    if (started.size === 0) ctx.memory.add(ctx.message(renderOrder(order), { instructContent: order }));
    const own = tasks.filter(({ id }) => started.has(id));
    return own.map(({ id, by }) => {
      const given: WorkOrder = { ...order, task: id };
      return ctx.message(renderOrder(given), { instructContent: given, sendTo: [by as string] });
    });
  }
}

/** A report of an engineer on a task. */
export interface Report {
  readonly from: string;
  readonly message: Message;
  readonly work: WorkReport;
}

/** The task of the one who gets an order; undefined for an order without one. */
export function taskIn({ tasks = [], task: id }: WorkOrder): { readonly task: WorkTask; readonly fork: string } | undefined {
  const place = tasks.findIndex((task) => task.id === id);
  const task = tasks[place];
  return task === undefined ? undefined : { task, fork: forkName(place) };
}

/** The place in the plan and not the id, which a model has written. */
function forkName(place: number): string {
  return `task-${place + 1}`;
}

function isReady({ state, needs }: WorkTask, tasks: readonly WorkTask[]): boolean {
  return state === "open" && needs.every((id) => tasks.find((task) => task.id === id)?.state === "merged");
}

/** A task that needs a stuck one is left to the integrator: its tests cannot pass before. Each task comes after its needs. */
function withoutHopeless(tasks: readonly WorkTask[]): readonly WorkTask[] {
  const stuck = new Set<string>();
  return tasks.map((task): WorkTask => {
    const missing = task.state === "open" ? task.needs.filter((id) => stuck.has(id)) : [];
    if (missing.length > 0 || task.state === "stuck") stuck.add(task.id);
    return missing.length === 0 ? task : { ...task, state: "stuck", note: `It needs ${missing.join(", ")}.` };
  });
}

function subjectOf({ title }: WorkTask): string {
  const [line = ""] = title.trim().split("\n");
  return line.length <= SUBJECT ? line : `${line.slice(0, SUBJECT - 1).trimEnd()}…`;
}
