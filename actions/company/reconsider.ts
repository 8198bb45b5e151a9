import type { ActionContext, Address, Message } from "../../src/index.ts";
import { z } from "zod";
import { ProjectAction } from "../project-action.ts";
import { promptOf } from "../prompt.ts";
import { checkForms, WrittenCheckSchema } from "./check-forms.ts";
import { type ProjectGate, type WorkReport, WorkReportSchema } from "./project-gate.ts";
import { newestOrder, orderFiles, renderCriteria, renderForReview, renderOrder, type WorkOrder, WorkOrderSchema } from "./work-order.ts";

const AnswerSchema = z.object({
  reasons: z.string().describe("what the user's words demand here, worked out by hand, and what the check expects"),
  isWrong: z.boolean().describe("true when a product that does what the words say can fail the check"),
  check: WrittenCheckSchema.optional().describe("the corrected check, whole; only where it is wrong"),
});

const INSTRUCTION = `An engineer says that the check of a criterion contradicts the user's words. Decide by the words alone. A check that is right stays, however hard it is to pass. A wrong one is corrected: it must still fail for a product that does not do what the words say.`;

const VACUOUS = "Its correction holds without any product, so it would prove nothing.";

/** Decides on a disputed check. A correction is recorded as an assumption. */
export class Reconsider extends ProjectAction<WorkOrder, readonly []> {
  override readonly description: string = "Decide on a disputed check.";
  override readonly output: z.ZodType<WorkOrder> = WorkOrderSchema;
  readonly #gate: ProjectGate;
  readonly #receivers: readonly Address[];

  constructor({ gate, receivers }: { readonly gate: ProjectGate; readonly receivers: readonly Address[] }) {
    super({ workspace: gate.workspace });
    this.#gate = gate;
    this.#receivers = receivers;
  }

  override async run(ctx: ActionContext<readonly []>): Promise<Message<WorkOrder>> {
    const order = newestOrder(ctx.memory) as WorkOrder;
    const { criterion: id = "", summary }: WorkReport = WorkReportSchema.parse(ctx.news.at(-1)?.instructContent);
    const disputed = order.criteria.filter((criterion) => criterion.id === id);
    const prompt = promptOf("Reconsider", INSTRUCTION, [
      ["Forms of a check", checkForms()],
      ["Order", renderForReview(order)],
      ["The criterion", disputed.length === 0 ? `There is none with the id ${id}.` : renderCriteria({ criteria: disputed })],
      ["The engineer's objection", summary],
    ]);
    const { reasons, isWrong, check } = await ctx.ask(prompt, { schema: AnswerSchema });
    const correction = isWrong && check !== undefined && disputed[0] !== undefined ? { ...disputed[0], check } : undefined;
    // A correction that holds for every product is not taken.
    const isVacuous = correction !== undefined && (await this.#gate.vacuous(ctx.steps, [correction])).length > 0;
    const isCorrected = correction !== undefined && !isVacuous;
    const next: WorkOrder = {
      ...order,
      corrected: [...(order.corrected ?? []), ...(isCorrected ? [id] : [])],
      ...(isCorrected
        ? {
            criteria: order.criteria.map((criterion) => (criterion.id === id ? correction : criterion)),
            assumptions: [...order.assumptions, `The check of ${id} was corrected: ${reasons}`],
          }
        : {}),
    };
    const files = isCorrected ? orderFiles(next) : [];
    await this.write(ctx, files);
    const answer = isCorrected ? `The check of ${id} was wrong, and is corrected.` : `The check of ${id} stays.`;
    const content = `${renderOrder(next)}\n\n## The product manager's answer\n${answer} ${isVacuous ? VACUOUS : reasons}`;
    const message = ctx.message<WorkOrder>(content, { instructContent: next, sendTo: this.#receivers });
    const paths = files.map(({ path }) => path);
    if (paths.length > 0) await this.files.commit(ctx, { message: `Correct the check of ${id}`, paths, messageId: message.id });
    return message;
  }

  override render(order: WorkOrder): string {
    return renderOrder(order);
  }
}
