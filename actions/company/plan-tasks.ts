import { type ActionContext, type Address, type Message, Plan, TroupeError, Action } from "../../src/index.ts";
import { z } from "zod";
import { ProjectAction } from "../project-action.ts";
import { filesInPrompt } from "../project-files.ts";
import { companyPrompt } from "../prompt.ts";
import type { ProjectGate } from "./project-gate.ts";
import { WorkReportSchema } from "./work-report.ts";
import type { TaskBoard, Report } from "./task-board.ts";
import {
  changingParts,
  newestOrder,
  planUnderWay,
  renderOrder,
  sharedParts,
  type WorkOrder,
  WorkOrderSchema,
  type WorkTask,
} from "./work-order.ts";

/** Merges what the engineers report as finished, and gives out the next tasks. No model is asked. */
export class MergeTasks extends Action<WorkOrder, readonly []> {
  override readonly description: string = "Merge the work of the engineers.";
  override readonly output: z.ZodType<WorkOrder> = WorkOrderSchema;
  readonly #board: TaskBoard;

  constructor({ board }: { readonly board: TaskBoard }) {
    super();
    this.#board = board;
  }

  override async run(ctx: ActionContext<readonly []>): Promise<readonly Message[] | undefined> {
    const order = newestOrder(ctx.memory) as WorkOrder;
    const reports = ctx.news.flatMap((message): Report[] => {
      const { data } = WorkReportSchema.safeParse(message.instructContent);
      return data === undefined ? [] : [{ from: message.sentFrom, message, work: data }];
    });
    return orNone(await this.#board.settled(ctx, order, reports));
  }

  override render(order: WorkOrder): string {
    return renderOrder(order);
  }
}

/** An action with an output schema that returns an empty list returns data. */
function orNone(messages: readonly Message[]): readonly Message[] | undefined {
  return messages.length === 0 ? undefined : messages;
}

export const MOST_TASKS = 8;
const READ = 40_000;

const UNFORKED = "One engineer writes the product, because several need a git repository with a commit, and";
const UNDIVIDED = "One engineer writes the product, because no plan of tasks fitted its files.";

const INSTRUCTION = `Divide the code of the product into at most ${MOST_TASKS} tasks for engineers who work side by side, each in a copy of the project with the interfaces and the tests. A task owns the files that its engineer writes; nobody else writes them. Give each file of the design to exactly one task.

needs names only tasks whose finished code this one cannot be tested without; an interface is there already. The fewer needs, the more is done at once. tests names the test files that pass once this task and its needs are merged. Keep together what changes together. Do not divide what one engineer writes in one go.`;

const WrittenTaskSchema = z.object({
  id: z.string().min(1).describe("t1, t2, ..."),
  title: z.string().trim().min(1).describe("what is done, in a few words"),
  owns: z.array(z.string()).min(1).describe("paths of the design"),
  tests: z.array(z.string()).default([]).describe("paths of test files"),
  needs: z.array(z.string()).default([]).describe("ids of tasks"),
});

type WrittenTask = z.infer<typeof WrittenTaskSchema>;

const AnswerSchema = z.object({ tasks: z.array(WrittenTaskSchema).min(1).max(MOST_TASKS) });
type Answer = z.infer<typeof AnswerSchema>;

/** A plan that does not fit is asked for again, with the reason. */
function planSchema(order: WorkOrder) {
  return AnswerSchema.superRefine(({ tasks }, ctx) => {
    for (const message of planFaults(tasks, order)) ctx.addIssue({ code: "custom", path: ["tasks"], message });
  });
}

function planFaults(tasks: readonly WrittenTask[], { design, tests = [] }: WorkOrder): readonly string[] {
  const files = new Set(design?.files.map(({ path }) => path));
  const owners = new Map<string, string>();
  const faults: string[] = [];
  for (const { id, owns, tests: named } of tasks) {
    for (const path of owns) {
      const owner = owners.get(path);
      if (!files.has(path)) faults.push(`Expected ${id} to own files of the design, but ${path} is none.`);
      else if (owner !== undefined) faults.push(`Expected each file in one task, but ${owner} and ${id} own ${path}.`);
      owners.set(path, id);
    }
    const unknown = named.filter((path) => !tests.includes(path));
    if (unknown.length > 0) faults.push(`Expected ${id} to name test files of QA, but ${unknown.join(", ")} is none.`);
  }
  try {
    sorted(tasks);
  } catch (error) {
    if (!TroupeError.isInstance(error)) throw error;
    faults.push(error.message);
  }
  return faults;
}

function sorted(tasks: readonly WrittenTask[]): readonly WrittenTask[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const plan = new Plan({
    goal: "the product",
    tasks: tasks.map(({ id, title, needs }) => ({ id, instruction: title, dependsOn: needs })),
  });
  return plan.tasks.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Files that no task owns go to the last one. */
function workTasks({ tasks }: Answer, { design }: WorkOrder): WorkTask[] {
  const owned = new Set(tasks.flatMap(({ owns }) => owns));
  const left = (design?.files ?? []).map(({ path }) => path).filter((path) => !owned.has(path));
  return sorted(tasks).map((task, index) => ({
    ...task,
    needs: [...new Set(task.needs)],
    owns: index === tasks.length - 1 ? [...task.owns, ...left] : task.owns,
    state: "open",
    tries: 0,
  }));
}

/** The user has said more while the engineers work: their tasks stay, and the integrator does the rest. */
function changedPlan(plan: WorkOrder, order: WorkOrder): WorkOrder {
  const { tasks } = plan;
  const [before, now] = [plan.design, order.design];
  if (before === undefined || now === undefined) return { ...order, tasks, design: now ?? before };
  const known = new Set(before.files.map(({ path }) => path));
  const approach = before.approach === now.approach ? now.approach : `${before.approach}\n\n${now.approach}`;
  return { ...order, tasks, design: { approach, files: [...before.files, ...now.files.filter(({ path }) => !known.has(path))] } };
}

/** Divides a product of size L among engineers, in one question, and gives out the first tasks. */
export class PlanTasks extends ProjectAction<WorkOrder, readonly []> {
  override readonly description: string = "Divide the work among the engineers.";
  override readonly output: z.ZodType<WorkOrder> = WorkOrderSchema;
  readonly #board: TaskBoard;

  constructor({ gate, board }: { readonly gate: ProjectGate; readonly board: TaskBoard }) {
    super({ workspace: gate.workspace });
    this.#board = board;
  }

  override async run(ctx: ActionContext<readonly []>): Promise<readonly Message[] | undefined> {
    const order = newestOrder(ctx.memory) as WorkOrder;
    const plan = planUnderWay(ctx.memory);
    if (plan !== undefined) return orNone(await this.#board.answered(ctx, changedPlan(plan, order)));
    return orNone(await this.#board.given(ctx, await this.#planned(ctx, order)));
  }

  /** Without git, and without a plan that fits, one engineer does all of it. */
  async #planned(ctx: ActionContext<readonly []>, order: WorkOrder): Promise<WorkOrder> {
    const lack = await this.#board.missingForks(ctx);
    if (lack !== null) return { ...order, tasks: [], assumptions: [...order.assumptions, `${UNFORKED} ${lack}.`] };
    const paths = [...(order.design?.files.map(({ path }) => path) ?? []), ...(order.tests ?? [])];
    const files = filesInPrompt(await this.files.read(ctx, paths), READ);
    const shared = [...sharedParts(order), ...changingParts(order)];
    const own = [
      ["Interfaces and tests", files],
      ["Engineers", `${this.#board.engineers.length}`],
    ] as const;
    try {
      const answer = await ctx.ask(companyPrompt({ role: ctx.role, shared, task: "PlanTasks", instruction: INSTRUCTION, own }), {
        schema: planSchema(order),
      });
      return { ...order, tasks: workTasks(answer, order) };
    } catch (error) {
      if (!TroupeError.isInstance(error) || error.code !== "OUTPUT_INVALID") throw error;
      return { ...order, tasks: [], assumptions: [...order.assumptions, UNDIVIDED] };
    }
  }

  override render(order: WorkOrder): string {
    return renderOrder(order);
  }

  override sendTo(): readonly Address[] {
    return this.#board.receivers;
  }
}
