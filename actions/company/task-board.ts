import type { Verification } from "../../src/checks/index.ts";
import type { Address, Message, RoleContext } from "../../src/index.ts";
import { type ForkedProject, openFork, removeFork, updateFork } from "../../src/workspace/index.ts";
import { settleFork } from "../../src/workspace/fork-steps.ts";
import { shortened } from "../markdown.ts";
import { type ProjectGate, testRequest } from "./project-gate.ts";
import type { WorkReport } from "./work-report.ts";
import { renderOrder, type WorkOrder, type WorkTask } from "./work-order.ts";

/** Faults of the files and tests of a task, and of the tests of merged tasks. Other files are only interfaces yet. @param tasks the plan */
export function taskFaults({ suites, faults, notChecked }: Verification, task: WorkTask, tasks: readonly WorkTask[]): string | undefined {
  if (notChecked !== undefined) return undefined;
  const own = faults.filter(({ kind, file }) => kind === "syntax" && (file === undefined || task.owns.includes(file)));
  const merged = tasks.filter(({ state }) => state === "merged");
  const wanted = new Set([task, ...merged].flatMap(({ tests }) => tests));
  const failures = suites.flatMap((suite) => suite.failures).filter(({ file }) => wanted.has(file));
  const ended = suites.filter((suite) => suite.kind === "timeout" && suite.files.some((file) => wanted.has(file)));
  const reasons = suites.flatMap(({ reason }) => reason ?? []).join(" ");
  const ran = new Set(suites.flatMap(({ files }) => files));
  const helpers = new Set(task.tests.filter((file) => /(^|\/)(conftest|__init__)\.py$/.test(file)));
  const lines = [
    ...own.map(({ file = "the project", message }) => `${file}: ${message}`),
    ...failures.map(({ file, name, message }) => `${file}, "${name}": ${message}`),
    ...(failures.length === 0 ? ended.map(({ language }) => `The tests in ${language} did not end in time.`) : []),
    ...task.tests.filter((file) => !ran.has(file) && !helpers.has(file)).map((file) => `${file} did not run. ${reasons}`.trim()),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

interface TaskBoardOptions {
  readonly gate: ProjectGate;
  readonly project: () => ForkedProject;
  readonly engineers: readonly string[];
  readonly integrator: string;
  readonly tester: string;
  readonly verifier: Address;
}

type BoardContext = Pick<RoleContext, "steps" | "message" | "memory" | "now">;

/** The second time because it does not fit what colleagues have merged. */
export const MOST_TRIES = 2;
const EVIDENCE = 2_000;
const SUBJECT = 72;
const ANSWERED = "QA has decided about this: the tests in your copy are as they stay.";

/**
 * Gives out the tasks of an order and merges what comes back, without a model. It trusts no report: what is merged has passed its checks
 * together with what was merged before. It holds no data of a run: the newest order in the memory of the project manager has the plan.
 */
export class TaskBoard {
  readonly engineers: readonly string[];
  readonly receivers: readonly Address[];
  readonly #gate: ProjectGate;
  readonly #project: () => ForkedProject;
  readonly #tester: string;

  constructor({ gate, project, engineers, integrator, tester, verifier }: TaskBoardOptions) {
    this.#gate = gate;
    this.#project = project;
    this.engineers = engineers;
    this.receivers = [integrator, verifier];
    this.#tester = tester;
  }

  missingForks(ctx: BoardContext): Promise<string | null> {
    const spec = { kind: "step", name: "find git", request: {}, fresh: true };
    return ctx.steps.step(spec, async ({ signal }) => (await this.#project().forks.missing(signal)) ?? null);
  }

  /**
   * Gives ready tasks to free engineers, or the whole order to the integrator when none is left.
   *
   * @param again ids of tasks that go back to their engineers
   */
  async given(ctx: BoardContext, order: WorkOrder, again: readonly string[] = []): Promise<readonly Message[]> {
    const { task: _task, disputed: _disputed, ...plan } = order;
    const before = withoutHopeless(plan.tasks ?? []);
    const free = this.engineers.filter((name) => !before.some(({ state, by }) => state === "working" && by === name));
    const ready = before.filter((task) => isReady(task, before)).slice(0, free.length);
    const names = new Map(ready.map(({ id }, index) => [id, free[index] as string]));
    const tasks = before.map((task): WorkTask => {
      const by = names.get(task.id);
      return by === undefined ? task : { ...task, state: "working", by, tries: 1 };
    });
    const forks = new Map(tasks.map(({ id }, index) => [id, forkName(index)]));
    for (const { id } of ready) {
      const fork = forks.get(id) as string;
      // One may be left of an earlier plan.
      await removeFork(ctx.steps, this.#project(), fork);
      await openFork(ctx.steps, this.#project(), fork);
    }
    return this.#reported(ctx, { ...plan, tasks }, new Set([...again, ...names.keys()]));
  }

  /** Merges the reported work, and gives out what became ready. */
  async settled(ctx: BoardContext, order: WorkOrder, reports: readonly Report[]): Promise<readonly Message[]> {
    let tasks = order.tasks ?? [];
    const [again, disputed]: [string[], string[]] = [[], []];
    for (const report of reports) {
      const index = tasks.findIndex(({ state, by }) => state === "working" && by === report.from);
      const task = tasks[index];
      if (task === undefined) continue;
      if (report.work.status === "disputed" && task.dispute === undefined) {
        tasks = tasks.with(index, { ...task, dispute: "open", note: shortened(report.work.summary, EVIDENCE) });
        disputed.push(task.id);
        continue;
      }
      const now = await this.#merged(ctx, { order: { ...order, tasks }, task, fork: forkName(index), report });
      if (now.state === "working") again.push(now.id);
      tasks = tasks.with(index, now);
    }
    await this.#updated(ctx, tasks, again);
    // Their plan is the newest one, also where nothing is given out.
    const disputes = disputed.map((id) => {
      const { note = "" } = tasks.find((task) => task.id === id) as WorkTask;
      const asked: WorkOrder = { ...order, tasks, task: id, disputed: [note] };
      return ctx.message(note, { instructContent: asked, sendTo: [this.#tester] });
    });
    return [...disputes, ...(await this.given(ctx, { ...order, tasks }, again))];
  }

  /** Gives tasks back to their engineers once QA has decided about a test of them. */
  async answered(ctx: BoardContext, { answered = [], ...order }: WorkOrder): Promise<readonly Message[]> {
    const isAnswered = ({ id, dispute }: WorkTask): boolean => dispute === "open" && answered.includes(id);
    const again = (order.tasks ?? []).filter(isAnswered).map(({ id }) => id);
    const tasks = (order.tasks ?? []).map((task): WorkTask =>
      again.includes(task.id) ? { ...task, dispute: "answered", note: `${task.note ?? ""}\n${ANSWERED}` } : task,
    );
    await this.#updated(ctx, tasks, again);
    return this.given(ctx, { ...order, tasks }, again);
  }

  async #updated(ctx: BoardContext, tasks: readonly WorkTask[], ids: readonly string[]): Promise<void> {
    for (const id of ids) await updateFork(ctx.steps, this.#project(), forkName(tasks.findIndex((task) => task.id === id)));
  }

  async closed(ctx: Pick<BoardContext, "steps">, { tasks = [] }: WorkOrder): Promise<void> {
    for (const { keptIn } of tasks) if (keptIn !== undefined) await removeFork(ctx.steps, this.#project(), keptIn);
  }

  /** Merges the work on a task, or gives it back once, or leaves it in its fork. */
  async #merged(ctx: BoardContext, reported: ReportedTask): Promise<WorkTask> {
    const { task, fork, report } = reported;
    const project = this.#project();
    await openFork(ctx.steps, project, fork);
    const author = { author: task.by as string, date: ctx.now(), trailers: { "Troupe-Message": report.message.id } };
    const request = { message: subjectOf(task), ...author, paths: task.owns };
    const end = await settleFork(ctx.steps, project, fork, { request, check: () => this.#against(ctx, reported) });
    if (end.kind === "conflict") return unmerged(reported, end.paths.join(", "), end.note);
    if (end.kind === "red") return unmerged(reported, ...end.why);
    await removeFork(ctx.steps, project, fork);
    return { ...task, state: "merged", note: undefined };
  }

  /** Returns what is against merging some work, and the advice to its engineer if he can repair it. */
  async #against(
    ctx: BoardContext,
    { order, task, fork, report }: ReportedTask,
  ): Promise<readonly [why: string, advice?: string] | undefined> {
    const gate = this.#gate.at(this.#project().forks.workspace(fork));
    const verification = await gate.check(ctx.steps, testRequest(order, task.id));
    const red = taskFaults(verification, task, order.tasks ?? []);
    if (red !== undefined) return [red, `Together with the work of your colleagues, the checks are red:\n${red}`];
    const { notChecked = task.tests.length === 0 ? "It has no tests that show what it is worth." : undefined } = verification;
    return report.work.status === "finished" || notChecked === undefined ? undefined : [notChecked];
  }

  /** The plan is only remembered where no one gets a message. */
  #reported(ctx: BoardContext, order: WorkOrder, started: ReadonlySet<string>): readonly Message[] {
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

export interface Report {
  readonly from: string;
  readonly message: Message;
  readonly work: WorkReport;
}

interface ReportedTask {
  readonly order: WorkOrder;
  readonly task: WorkTask;
  readonly fork: string;
  readonly report: Report;
}

function unmerged({ task, fork, report: { work } }: ReportedTask, why: string, advice?: string): WorkTask {
  const isFinished = work.status === "finished";
  if (isFinished && advice !== undefined && task.tries < MOST_TRIES) {
    return { ...task, tries: task.tries + 1, note: shortened(advice, EVIDENCE) };
  }
  const note = [...(isFinished ? [] : [work.summary]), why].join("\n");
  return { ...task, state: "stuck", note: shortened(note, EVIDENCE), keptIn: fork };
}

export function taskIn({ tasks = [], task: id }: WorkOrder): GivenTask | undefined {
  const index = tasks.findIndex((task) => task.id === id);
  const task = tasks[index];
  return task === undefined ? undefined : { task, fork: forkName(index) };
}

interface GivenTask {
  readonly task: WorkTask;
  readonly fork: string;
}

/** By the index and not the id, which a model has written. */
function forkName(index: number): string {
  return `task-${index + 1}`;
}

function isReady({ state, needs }: WorkTask, tasks: readonly WorkTask[]): boolean {
  return state === "open" && needs.every((id) => tasks.find((task) => task.id === id)?.state === "merged");
}

/** The tests of a task that needs a stuck one cannot pass. Each task comes after its needs. */
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
