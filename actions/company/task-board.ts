import type { Verification } from "../../src/checks/index.ts";
import type { Address, Message, RoleContext } from "../../src/index.ts";
import { compareFork, type ForkedProject, mergeFork, openFork, removeFork, updateFork } from "../../src/workspace/index.ts";
import { shortened } from "../markdown.ts";
import { type ProjectGate, testRequest, type WorkReport } from "./project-gate.ts";
import { taskFaults } from "./task-faults.ts";
import { renderOrder, type WorkOrder, type WorkTask } from "./work-order.ts";

/** Options of a board. */
export interface TaskBoardOptions {
  readonly gate: ProjectGate;
  /** Returns the project with its forks. It is called when a task is given out, because only size L has forks. */
  readonly project: () => ForkedProject;
  /** Names of the engineers who work side by side. */
  readonly engineers: readonly string[];
  /** The engineer who gets the whole order at the end. */
  readonly integrator: string;
  /** The role that verifies the product. */
  readonly verifier: Address;
}

/** The part of a context that a board needs. */
type BoardContext = Pick<RoleContext, "steps" | "message" | "memory" | "now">;

/** How often a task is given to its engineer: the second time because it does not fit what colleagues have merged. */
export const MOST_TRIES = 2;
/** Characters of the reason why a task is not merged. */
const EVIDENCE = 2_000;
/** Characters of the first line of a commit. */
const SUBJECT = 72;

/**
 * Gives out the tasks of an order and merges what comes back, without a model. It trusts no report: what is merged has passed its checks
 * together with what was merged before. It holds no data of a run: the state of the plan is in the order, and the newest order in the memory
 * of the project manager is the present one.
 */
export class TaskBoard {
  readonly engineers: readonly string[];
  /** Those who get the whole order at the end. */
  readonly receivers: readonly Address[];
  readonly #gate: ProjectGate;
  readonly #project: () => ForkedProject;

  constructor({ gate, project, engineers, integrator, verifier }: TaskBoardOptions) {
    this.#gate = gate;
    this.#project = project;
    this.engineers = engineers;
    this.receivers = [integrator, verifier];
  }

  /** Returns why the tasks cannot have forks; null where they can. */
  missingForks(ctx: BoardContext): Promise<string | null> {
    const spec = { kind: "step", name: "find git", request: {}, fresh: true };
    return ctx.steps.step(spec, async ({ signal }) => (await this.#project().forks.missing(signal)) ?? null);
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
      const now = await this.#merged(ctx, { order: { ...order, tasks }, task, fork: forkName(place), report });
      if (now.state === "working") again.push(now.id);
      tasks = tasks.with(place, now);
    }
    // A task that goes back has what was merged after it.
    for (const id of again) await updateFork(ctx.steps, this.#project(), forkName(tasks.findIndex((task) => task.id === id)));
    return this.given(ctx, { ...order, tasks }, again);
  }

  /** Removes the forks of tasks that are not merged: the product is done without them. */
  async closed(ctx: Pick<BoardContext, "steps">, { tasks = [] }: WorkOrder): Promise<void> {
    for (const { keptIn } of tasks) if (keptIn !== undefined) await removeFork(ctx.steps, this.#project(), keptIn);
  }

  /** Merges the work on a task, or gives it back once, or leaves it in its fork. */
  async #merged(ctx: BoardContext, reported: ReportedTask): Promise<WorkTask> {
    const { task, fork, report } = reported;
    const project = this.#project();
    await openFork(ctx.steps, project, fork);
    const compared = await compareFork(ctx.steps, project, fork, task.owns);
    const { conflicts } = await updateFork(ctx.steps, project, fork);
    const marked = conflicts.filter((path) => task.owns.includes(path));
    const changed = compared.kind === "conflict" ? compared.paths : marked;
    if (changed.length > 0) return unmerged(reported, changed.join(", "), conflictNote(changed, marked));
    const verification = await this.#checked(ctx, reported);
    const red = taskFaults(verification, task, reported.order.tasks ?? []);
    if (red !== undefined) return unmerged(reported, red, `Together with the work of your colleagues, the checks are red:\n${red}`);
    const { notChecked = task.tests.length === 0 ? "It has no tests that show what it is worth." : undefined } = verification;
    if (report.work.status !== "finished" && notChecked !== undefined) return unmerged(reported, notChecked);
    const author = { author: task.by as string, date: ctx.now(), trailers: { "Troupe-Message": report.message.id } };
    const merge = await mergeFork(ctx.steps, project, fork, { message: subjectOf(task), ...author, paths: task.owns });
    if (merge.kind === "conflict") return unmerged(reported, merge.paths.join(", "), conflictNote(merge.paths, []));
    await removeFork(ctx.steps, project, fork);
    return { ...task, state: "merged", note: undefined };
  }

  /** Runs the checks in a fork that has the project's changes. */
  #checked(ctx: BoardContext, { order, fork }: ReportedTask): Promise<Verification> {
    const gate = this.#gate.at(this.#project().forks.workspace(fork));
    return gate.check(ctx.steps, testRequest(order));
  }

  /** The messages after a change of the plan. Where nobody gets one, the plan is only remembered. */
  #told(ctx: BoardContext, order: WorkOrder, started: ReadonlySet<string>): readonly Message[] {
    const tasks = order.tasks ?? [];
    if (tasks.every(({ state }) => state === "merged" || state === "stuck")) {
      return [ctx.message(renderOrder(order), { instructContent: order, sendTo: this.receivers })];
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

/** A task that an engineer has reported on. */
interface ReportedTask {
  readonly order: WorkOrder;
  readonly task: WorkTask;
  readonly fork: string;
  readonly report: Report;
}

/**
 * The task after work that cannot be merged.
 *
 * @param why it cannot
 * @param advice to its engineer, where another try may help
 */
function unmerged({ task, fork, report: { work } }: ReportedTask, why: string, advice?: string): WorkTask {
  const isFinished = work.status === "finished";
  if (isFinished && advice !== undefined && task.tries < MOST_TRIES) {
    return { ...task, tries: task.tries + 1, note: shortened(advice, EVIDENCE) };
  }
  const note = [...(isFinished ? [] : [work.summary]), why].join("\n");
  return { ...task, state: "stuck", note: shortened(note, EVIDENCE), keptIn: fork };
}

function conflictNote(changed: readonly string[], marked: readonly string[]): string {
  const files = changed.join(", ");
  const marks = marked.length === 0 ? files : marked.join(", ");
  return `The project changed meanwhile in ${files}. Its changes are now in your files; resolve the marks of conflicts in ${marks}, and call done again.`;
}

/** The task of the one who gets an order; undefined for an order without one. */
export function taskIn({ tasks = [], task: id }: WorkOrder): GivenTask | undefined {
  const place = tasks.findIndex((task) => task.id === id);
  const task = tasks[place];
  return task === undefined ? undefined : { task, fork: forkName(place) };
}

/** A task with the name of its fork. */
export interface GivenTask {
  readonly task: WorkTask;
  readonly fork: string;
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
