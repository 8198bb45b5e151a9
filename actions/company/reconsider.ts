import type { ActionContext, Address, Message } from "../../src/index.ts";
import { z } from "zod";
import { ProjectAction } from "../project-action.ts";
import { bullets, shortened } from "../markdown.ts";
import { asSpeech, companyPrompt } from "../prompt.ts";
import { WrittenCheckSchema } from "./check-forms.ts";
import type { ProjectGate } from "./project-gate.ts";
import { seenFiles } from "./project-view.ts";
import { WorkReportSchema } from "./work-report.ts";
import { newestOrder, orderFiles, referredOrder, renderCriteria, reviewedParts, type WorkOrder, WorkOrderSchema } from "./work-order.ts";

interface ReconsiderOptions {
  readonly gate: ProjectGate;
  /** First the engineer. */
  readonly receivers: readonly Address[];
  /** Decides on tests that are handed back in the same reply. */
  readonly tester: Address;
}

const AnswerSchema = z.object({
  reasons: z.string().describe(asSpeech("what the user's words demand here, worked out by hand, and what the check expects")),
  isWrong: z.boolean().describe("true when a product that does what the words say can fail the check"),
  check: WrittenCheckSchema.optional().describe("the corrected check, whole; only where it is wrong"),
});

const INSTRUCTION = `An engineer says that the check of a criterion contradicts the user's words. Decide by the words alone. A check that is right stays, however hard it is to pass. A wrong one is corrected: it must still fail for a product that does not do what the words say.`;

const VACUOUS = "Its correction holds without any product, so it would prove nothing.";

/** Characters. */
const EVIDENCE = 6_000;

interface Objection {
  readonly id: string;
  readonly why: string;
  readonly failing: string;
}

interface Decision {
  readonly order: WorkOrder;
  readonly answer: string;
  readonly isCorrected: boolean;
}

/** Decides on all checks that an engineer hands back in one reply. A correction is recorded as an assumption. */
export class Reconsider extends ProjectAction<WorkOrder, readonly []> {
  override readonly description: string = "Decide on disputed checks.";
  override readonly output: z.ZodType<WorkOrder> = WorkOrderSchema;
  readonly #options: ReconsiderOptions;

  constructor(options: ReconsiderOptions) {
    super({ workspace: options.gate.workspace });
    this.#options = options;
  }

  override async run(ctx: ActionContext<readonly []>): Promise<Message<WorkOrder>> {
    const { disputed: _disputed, ...order } = newestOrder(ctx.memory) as WorkOrder;
    const { disputes = [], failing = "" } = WorkReportSchema.parse(ctx.news.at(-1)?.instructContent);
    const decisions: Decision[] = [];
    for (const { criterion, why } of disputes) {
      const before = decisions.at(-1)?.order ?? order;
      if (criterion !== undefined) decisions.push(await this.#decided(ctx, before, { id: criterion, why, failing }));
    }
    const tests = disputes.flatMap(({ criterion, why }) => (criterion === undefined ? [why] : []));
    const next: WorkOrder = { ...(decisions.at(-1)?.order ?? order), ...(tests.length === 0 ? {} : { disputed: tests }) };
    const files = decisions.some(({ isCorrected }) => isCorrected) ? orderFiles(next) : [];
    await this.write(ctx, files);
    const open = tests.length === 0 ? [] : [`Tests that the engineer hands back to QA:\n${bullets(tests)}`];
    const answers = [...decisions.map(({ answer }) => answer), ...open].join("\n\n");
    const content = referredOrder(next, answers);
    const { receivers, tester } = this.#options;
    const sendTo = tests.length === 0 ? receivers : [tester, ...receivers.slice(1)];
    const message = ctx.message<WorkOrder>(content, { instructContent: next, speech: answers, sendTo });
    const paths = files.map(({ path }) => path);
    const corrected = disputes.map(({ criterion }) => criterion).join(", ");
    if (paths.length > 0) await this.files.commit(ctx, { message: `Correct the checks of ${corrected}`, paths, messageId: message.id });
    return message;
  }

  async #decided(ctx: ActionContext<readonly []>, order: WorkOrder, { id, why, failing }: Objection): Promise<Decision> {
    const [disputed] = order.criteria.filter((criterion) => criterion.id === id);
    const own = [
      ["The criterion", disputed === undefined ? `There is none with the id ${id}.` : renderCriteria({ criteria: [disputed] })],
      ["The engineer's objection", why],
      ["What the checks found last", shortened(failing, EVIDENCE)],
      ["Files of the project", await ctx.step("see files", { why }, () => seenFiles(this.#options.gate.workspace, why), { fresh: true })],
    ] as const;
    const prompt = companyPrompt({ role: ctx.role, shared: reviewedParts(order), task: "Reconsider", instruction: INSTRUCTION, own });
    const { reasons, isWrong, check } = await ctx.ask(prompt, { schema: AnswerSchema });
    const stays = (text: string): Decision => ({ order, answer: `The check of ${id} stays. ${text}`, isCorrected: false });
    if (!isWrong || check === undefined || disputed === undefined) return stays(reasons);
    const correction = { ...disputed, check };
    // A correction that holds for every product is not taken.
    if ((await this.#options.gate.vacuous(ctx.steps, [correction])).length > 0) return stays(VACUOUS);
    const next: WorkOrder = {
      ...order,
      corrected: [...(order.corrected ?? []), id],
      criteria: order.criteria.map((criterion) => (criterion.id === id ? correction : criterion)),
      assumptions: [...order.assumptions, `The check of ${id} was corrected: ${reasons}`],
    };
    return { order: next, answer: `The check of ${id} was wrong, and is corrected. ${reasons}`, isCorrected: true };
  }

  override render(order: WorkOrder): string {
    return referredOrder(order, "");
  }
}
