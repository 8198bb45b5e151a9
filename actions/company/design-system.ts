import { renderVerification } from "../../src/checks/index.ts";
import { isRed } from "../../src/checks/verification.ts";
import { type ActionContext, type Address, type Message, ROUTE_TO_SELF } from "../../src/index.ts";
import { checkPath } from "../../src/workspace/path-rules.ts";
import { z } from "zod";
import { ProjectAction } from "../project-action.ts";
import { filesInPrompt, type ProjectFile } from "../project-files.ts";
import { asSpeech, companyPrompt } from "../prompt.ts";
import { approvedBy, wantsApproval } from "./approval.ts";
import { isOutdated, reviewIn, wantedChange } from "./design-review.ts";
import type { ProjectGate } from "./project-gate.ts";
import {
  changingParts,
  isTestPath,
  newestOrder,
  referredOrder,
  sharedParts,
  type SystemDesign,
  type WorkOrder,
  WorkOrderSchema,
  WRITTEN_BY_MANAGER,
} from "./work-order.ts";

interface DesignSystemOptions {
  readonly gate: ProjectGate;
  readonly receivers: readonly Address[];
  readonly approves?: boolean | undefined;
  /** Its reviewers get the design first. Default false. */
  readonly isReviewed?: boolean | undefined;
}

/** One answer gives no larger design well. */
const MAX_FILES = 60;

const AnswerSchema = z.object({
  approach: z.string().describe(asSpeech("how the parts work together, what is risky, and what you need of whom")),
  files: z
    .array(
      z.object({
        path: z
          .string()
          .describe("a source file, none in docs/ or tests/")
          .refine(isProductPath, "Expected the path of a source file below the project's folder, and none in docs/ or tests/."),
        purpose: z.string().describe("one line"),
        code: z.string().describe("the file as an interface that compiles"),
      }),
    )
    .min(1)
    .max(MAX_FILES),
});

type Answer = z.infer<typeof AnswerSchema>;

/** Changes that the review decided, and that a person wants. */
interface Wishes {
  readonly wanted?: readonly string[];
  readonly before?: readonly ProjectFile[];
  readonly said?: readonly string[];
}

const INSTRUCTION = `Give the product its structure: every source file with its purpose and its interface as code. Colleagues then write the tests against your interfaces, and after that the code; they see nothing else of your thoughts.

code is the file itself, as it compiles now: imports, exported names with their parameters and results documented (types, units, errors), and bodies that throw an error "not written". Data files and pages are as complete as the criteria demand: a page has its elements with the ids that the checks use. Files such as package.json are whole.

Keep to the order: names in its checks are binding. The fewest files that keep logic apart from input, output and storage; what is hard to get right stands alone and can be tested alone. No file without a use. In a project that is there already, name only files that are new or must change; those that are there keep their code.`;

/** Characters of a first answer that is shown again. */
const SHOWN = 40_000;

/** Gives the product its structure, as files whose interfaces compile. */
export class DesignSystem extends ProjectAction<WorkOrder, readonly []> {
  override readonly description: string = "Design the system.";
  override readonly output: z.ZodType<WorkOrder> = WorkOrderSchema;
  readonly #options: DesignSystemOptions;

  constructor(options: DesignSystemOptions) {
    super({ workspace: options.gate.workspace });
    this.#options = options;
  }

  override async run(ctx: ActionContext<readonly []>): Promise<Message<WorkOrder> | undefined> {
    const order = newestOrder(ctx.memory) as WorkOrder;
    const review = reviewIn(ctx);
    if (review !== undefined && isOutdated(ctx.memory)) return undefined;
    const wanted = review === undefined ? [] : wantedChange(review);
    if (review !== undefined && wanted.length === 0)
      return this.conclude(ctx, order, {
        files: [],
        speech: "Nobody wants my design changed. We build it.",
        summary: `Design ${order.name}`,
      });
    const before = wanted.length === 0 ? [] : await this.files.read(ctx, order.design?.written ?? []);
    const change = { wanted, before };
    const first = await this.#approved(ctx, order, change);
    const named = new Set(first.files.map(({ path }) => checkPath(path)));
    const dropped = before.map(({ path }) => path).filter((path) => !named.has(path));
    for (const path of dropped) await this.files.remove(ctx, path);
    const written = await this.#write(
      ctx,
      first,
      before.filter(({ path }) => named.has(path)),
    );
    const faults = await this.#faults(ctx);
    const shown = faults === undefined ? "" : `${faults}\n\n${filesInPrompt(written, SHOWN)}`;
    const files = faults === undefined ? written : await this.#write(ctx, await this.#ask(ctx, order, shown, { wanted }), written);
    const design: SystemDesign = {
      approach: first.approach,
      files: first.files.map(({ path, purpose }) => ({ path: checkPath(path), purpose })),
      written: files.map(({ path }) => path),
    };
    return this.conclude(
      ctx,
      { ...order, design },
      {
        files: [...files, ...dropped.map((path) => ({ path }))],
        speech: first.approach,
        summary: `Design ${order.name}`,
      },
    );
  }

  override render(order: WorkOrder): string {
    return referredOrder(order, order.design?.approach ?? "");
  }

  override sendTo(ctx: ActionContext<readonly []>): readonly Address[] {
    return this.#options.isReviewed === true && reviewIn(ctx) === undefined ? [ROUTE_TO_SELF] : this.#options.receivers;
  }

  async #approved(ctx: ActionContext<readonly []>, order: WorkOrder, change: Wishes): Promise<Answer> {
    const answer = await this.#ask(ctx, order, "", change);
    if (!(await wantsApproval(ctx.steps, this.#options.approves === true))) return answer;
    return approvedBy(ctx.human, {
      value: answer,
      show: ({ approach, files }) => `${approach}\n\n${files.map(({ path, purpose }) => `${path}: ${purpose}`).join("\n")}`,
      change: (said) => this.#ask(ctx, order, "", { ...change, said }),
    });
  }

  #ask(
    ctx: ActionContext<readonly []>,
    order: WorkOrder,
    faults: string,
    { wanted = [], before = [], said = [] }: Wishes = {},
  ): Promise<Answer> {
    const own = [
      ["Your design was reviewed, and this change was decided: give the whole design again with it", wanted.join("\n")],
      ["The files of your design, as they are", filesInPrompt(before, SHOWN)],
      ["What the user says of your design", said.join("\n")],
      ["Your first answer does not compile", faults],
    ] as const;
    const shared = [...sharedParts(order), ...changingParts(order)];
    return ctx.ask(companyPrompt({ role: ctx.role, shared, task: "DesignSystem", instruction: INSTRUCTION, own }), {
      schema: AnswerSchema,
    });
  }

  /** An interface never replaces code. */
  async #write(ctx: ActionContext<readonly []>, { files }: Answer, earlier: readonly ProjectFile[]): Promise<readonly ProjectFile[]> {
    const paths = files.map(({ path }) => checkPath(path));
    const mine = new Set(earlier.map(({ path }) => path));
    const there = new Set((await this.files.read(ctx, paths)).map(({ path }) => path).filter((path) => !mine.has(path)));
    const own = files.map(({ path, code }) => ({ path: checkPath(path), content: code })).filter(({ path }) => !there.has(path));
    await this.write(ctx, own);
    return [...earlier.filter(({ path }) => !own.some((file) => file.path === path)), ...own];
  }

  async #faults(ctx: ActionContext<readonly []>): Promise<string | undefined> {
    const verification = await this.#options.gate.check(ctx.steps, { criteria: [], depth: "syntax" });
    return isRed(verification) ? renderVerification(verification) : undefined;
  }
}

function isProductPath(path: string): boolean {
  try {
    const normal = checkPath(path);
    return !WRITTEN_BY_MANAGER.has(normal) && !isTestPath(normal);
  } catch {
    return false;
  }
}
