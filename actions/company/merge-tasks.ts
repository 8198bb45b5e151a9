import { Action, type ActionContext, checkKnownOptions, kinds, type Known, type Message } from "../../src/index.ts";
import type { z } from "zod";
import { WorkReportSchema } from "./project-gate.ts";
import type { Report, TaskBoard } from "./task-board.ts";
import { newestOrder, renderOrder, type WorkOrder, WorkOrderSchema } from "./work-order.ts";

/** Options of {@link MergeTasks}. */
export interface MergeTasksOptions {
  readonly board: TaskBoard;
}

const mergeOptions: Known<MergeTasksOptions> = { board: kinds.object };

/** Merges what the engineers report as finished, and gives out the next tasks. No model is asked. */
export class MergeTasks extends Action<WorkOrder, readonly []> {
  override readonly description: string = "Merge the work of the engineers.";
  override readonly output: z.ZodType<WorkOrder> = WorkOrderSchema;
  readonly #board: TaskBoard;

  /** @throws UsageError `OPTION_UNKNOWN` */
  constructor(options: MergeTasksOptions) {
    checkKnownOptions("new MergeTasks", options, mergeOptions);
    super();
    this.#board = options.board;
  }

  override async run(ctx: ActionContext<readonly []>): Promise<readonly Message[]> {
    const order = newestOrder(ctx.memory) as WorkOrder;
    const reports = ctx.news.flatMap((message): Report[] => {
      const { data } = WorkReportSchema.safeParse(message.instructContent);
      return data === undefined ? [] : [{ from: message.sentFrom, message, work: data }];
    });
    return this.#board.settled(ctx, order, reports);
  }

  override render(order: WorkOrder): string {
    return renderOrder(order);
  }
}
