import type { Verification } from "../../src/checks/index.ts";
import { isRed } from "../../src/checks/verification.ts";
import { type ActionContext, type Address, type ChatModel, type Message, ROUTE_TO_ALL, TroupeError } from "../../src/index.ts";
import type { Sandbox } from "../../src/workspace/index.ts";
import type { z } from "zod";
import { inFence, shortened } from "../markdown.ts";
import { filesInPrompt, type ProjectFile } from "../project-files.ts";
import { ProjectAction } from "../project-action.ts";
import {
  type Complaint,
  complaintCriteria,
  type Delivery,
  DeliverySchema,
  evidenceOf,
  failureMarks,
  gateRequest,
  isDeliverable,
  renderDelivery,
  spokenDelivery,
  restated,
  unmergedTasks,
  workSoFar,
  type WorkSoFar,
} from "./delivery.ts";
import type { ProjectGate } from "./project-gate.ts";
import { type WorkReport, WorkReportSchema } from "./work-report.ts";
import type { TaskBoard } from "./task-board.ts";
import { withProofs } from "./test-proofs.ts";
import { uncoveredRules } from "./rules.ts";
import { isTestPath, type Size, type WorkOrder, WRITTEN_BY_MANAGER } from "./work-order.ts";
import { looksNow, objectionsIn, type ReviewedFiles, repairText } from "./looks.ts";
import { type Review, reviewBy } from "./review.ts";

interface VerifyOptions {
  readonly gate: ProjectGate;
  /** The copy in which the reviewer tries the product. */
  readonly sandbox: Sandbox;
  readonly repairedBy: Address;
  /** Most rounds of repair, by the size of the work. Default: as many as bring progress, 12 at most. */
  readonly rounds?: Readonly<Partial<Record<Size, number>>> | undefined;
  /** The difference to the project before; undefined where there was none. */
  readonly diff?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
  readonly review?: boolean | undefined;
  readonly model?: ChatModel | undefined;
  /** Roles that divide a product of size L, and must know when the work has ended. */
  readonly planners?: readonly Address[] | undefined;
  readonly board?: Pick<TaskBoard, "closed"> | undefined;
}

export const MOST_REPAIRS = 12;
const REVIEWED = 60_000;
const MAX_TESTS = 100;
/** Earlier rounds with the same failures; after the first the engineer is asked for another approach. */
const MAX_EQUAL = 2;
const UNREVIEWED = /^(?:AGENT_UNFINISHED|AGENT_REPLY_UNUSABLE|BUDGET_SHARE|OUTPUT_INVALID)$/;
const SAME_ENDS = "The same failures came a third time, also after another approach was asked for:";
const NOTHING_RED = "Nothing that ran is red. What is missing is a proof, which no change of the code brings by itself.";

const SAME_AGAIN =
  "These are the same failures as in the last round. Change the strategy: find the real cause before you edit, and write the failing part from scratch.";

interface Round {
  readonly order: WorkOrder;
  readonly work: WorkReport;
  readonly earlier: readonly Delivery[];
  readonly verification: Verification;
  readonly complaints: Complaint[];
  readonly review: Delivery["review"];
  /** The review was made in this round. */
  readonly isReviewed: boolean;
}

/** Proves the product by running it, has it reviewed, and hands it over or back. Only what ran counts. */
export class Verify extends ProjectAction<Delivery, readonly []> {
  override readonly description: string = "Verify the product by running it.";
  override readonly output: z.ZodType<Delivery> = DeliverySchema;
  override readonly model: ChatModel | undefined;
  readonly #options: VerifyOptions;

  constructor(options: VerifyOptions) {
    super({ workspace: options.gate.workspace });
    this.#options = options;
    this.model = options.model;
  }

  override async run(ctx: ActionContext<readonly []>): Promise<readonly Message<Delivery>[]> {
    const { order, earlier } = workSoFar(ctx.memory) as WorkSoFar;
    const before = earlier.at(-1);
    const asked = gateRequest(order, before?.complaints ?? []);
    const found = withJudgements(await this.#options.gate.check(ctx.steps, asked), before);
    const verification = await withProofs(ctx, this.files, { order, earlier }, found);
    const complaints = restated(before?.complaints ?? [], verification);
    const review = before?.continued === true ? undefined : before?.review;
    const round: Round = { order, earlier, verification, complaints, work: workIn(ctx.news), review, isReviewed: false };
    const needsNone = !looksNow(earlier) || this.#options.review === false;
    if (isRed(verification) || verification.notChecked !== undefined || needsNone) return this.#reported(ctx, round);
    return this.#reported(ctx, await this.#reviewed(ctx, round));
  }

  override render(delivery: Delivery): string {
    return renderDelivery(delivery);
  }

  /** The verdicts stand without a review that the budget does not allow, or that comes to no end. */
  async #reviewed(ctx: ActionContext<readonly []>, round: Round): Promise<Round> {
    try {
      return await this.#review(ctx, round);
    } catch (error) {
      if (!TroupeError.isInstance(error) || !UNREVIEWED.test(error.code)) throw error;
      const { order } = round;
      return { ...round, order: { ...order, assumptions: [...order.assumptions, `No one has reviewed the product. ${error.message}`] } };
    }
  }

  async #review(ctx: ActionContext<readonly []>, round: Round): Promise<Round> {
    const { order, verification, review: last } = round;
    const { gate, sandbox } = this.#options;
    const work = await this.#work(ctx);
    const known = last === undefined ? [] : round.complaints;
    const seen = last === undefined ? undefined : (ctx.state["reviewed"] as ReviewedFiles | undefined);
    ctx.state["reviewed"] = work.files;
    const shown = seen === undefined ? work.text : repairText(seen, work.files);
    const before = last && { reasons: last.reasons, complaints: known };
    const review = await reviewBy(ctx, { workspace: gate.workspace, sandbox }, { order, verification, work: shown, before });
    const complaints = objectionsIn(review, known);
    const criteria = complaintCriteria(complaints.filter((complaint) => !known.includes(complaint as Complaint)));
    const ran = criteria.length === 0 ? undefined : await gate.check(ctx.steps, { criteria, depth: "criteria", stack: order.stack });
    const verdicts = [...judged(verification, review), ...(ran?.verdicts ?? [])];
    const { reasons, accepts } = review;
    return {
      ...round,
      verification: { ...verification, verdicts },
      complaints: restated(complaints, { verdicts }),
      review: { reasons, accepts, look: (last?.look ?? 0) + 1 },
      isReviewed: true,
    };
  }

  async #work(ctx: ActionContext<readonly []>): Promise<{ readonly text: string; readonly files: ReviewedFiles }> {
    const { diff } = this.#options;
    const changes = diff && (await ctx.step("read changes", {}, async ({ signal }) => (await diff(signal)) ?? null, { fresh: true }));
    if (changes !== undefined && changes !== null) {
      const parts = reviewedDiff(changes);
      const files = parts.map(({ path, text }) => ({ path, content: text }));
      return { text: inFence(shortened(parts.map(({ text }) => text).join(""), REVIEWED), "diff"), files: keptFiles(files) };
    }
    const own = (await this.#paths(ctx)).filter((path) => !WRITTEN_BY_MANAGER.has(path));
    const read = await this.files.read(
      ctx,
      own.filter((path) => !isTestPath(path)),
    );
    const shown = filesInPrompt(read, REVIEWED);
    // Tests have run, and a spot check has tried whether they can fail.
    const tests = own.filter(isTestPath).slice(0, MAX_TESTS).join(", ");
    return { text: tests === "" ? shown : `${shown}\n\nTests, not shown: ${tests}`, files: keptFiles(read) };
  }

  #paths(ctx: ActionContext<readonly []>): Promise<readonly string[]> {
    return ctx.step("list files", {}, async () => this.#options.gate.workspace.list(), { fresh: true });
  }

  async #reported(ctx: ActionContext<readonly []>, round: Round): Promise<readonly Message<Delivery>[]> {
    const { order, earlier, verification, complaints, work, review } = round;
    const { name, size, stack } = order;
    const assumptions = [...order.assumptions, ...(work.notes ?? [])];
    const isDone = isDeliverable(verification, complaints, review?.accepts ?? true);
    const facts = { name, size, stack, isDone, verification, complaints, review, assumptions, uncovered: [...uncoveredRules(order)] };
    const unmerged = unmergedTasks(order, { isDone, taken: new Set(work.taken), suites: verification.suites });
    const { repair, reason } = this.#next(round, isDone);
    const more = { ...(unmerged.length === 0 ? {} : { unmerged }), ...(reason === undefined ? {} : { reason }) };
    const repaired = earlier.filter(({ continued }) => continued !== true).length;
    const delivery: Delivery = { kind: "delivery", ...facts, summary: work.summary, round: repaired, ...more };
    const speech = spokenDelivery(delivery, round.isReviewed);
    if (repair === undefined) return this.#ended(ctx, order, delivery, speech);
    return [ctx.message<Delivery>(repair, { instructContent: delivery, speech, sendTo: [this.#options.repairedBy] })];
  }

  /** Planners get a copy: what the user says from now on is another change. */
  async #ended(
    ctx: ActionContext<readonly []>,
    order: WorkOrder,
    delivery: Delivery,
    speech: string,
  ): Promise<readonly Message<Delivery>[]> {
    const { planners = [], board } = this.#options;
    if (delivery.isDone) await board?.closed(ctx, order);
    const parts = { instructContent: delivery };
    const copies =
      order.size === "L" && planners.length > 0 ? [ctx.message<Delivery>("The work has ended.", { ...parts, sendTo: planners })] : [];
    return [...copies, ctx.message<Delivery>(renderDelivery(delivery), { ...parts, speech, sendTo: [ROUTE_TO_ALL] })];
  }

  /** Another round of repair, or why there is none. */
  #next(round: Round, isDone: boolean): { readonly repair?: string; readonly reason?: string } {
    const { order, earlier, verification, complaints, work, isReviewed } = round;
    if (isDone) return {};
    const hasObjection = complaints.some(({ state }) => state === "failing");
    if (work.status === "stuck" && !(hasObjection && isReviewed)) return { reason: work.summary };
    if (!isRed(verification) && !hasObjection) return { reason: NOTHING_RED };
    const rounds = earlier.filter(({ continued }) => continued !== true);
    const most = this.#options.rounds?.[order.size] ?? MOST_REPAIRS;
    const charged = rounds.filter((one) => !isOfWrongChecks(one, order));
    if (charged.length >= most) return { reason: `The rounds of repair are used up: ${most}.` };
    const now = failuresOf(verification);
    const equal = rounds.filter((one) => failuresOf(one.verification) === now).length;
    if (equal >= MAX_EQUAL) return { reason: `${SAME_ENDS} ${failureMarks(verification).join("; ")}` };
    const parts = [`Round ${rounds.length + 1} of repair. The verification found:`, evidenceOf({ complaints, verification })];
    return { repair: [...parts, ...(equal > 0 ? [SAME_AGAIN] : [])].join("\n\n") };
  }
}

/** A check that its author wrote wrong is not charged to the engineer. */
function isOfWrongChecks({ verification, complaints }: Delivery, { corrected = [] }: WorkOrder): boolean {
  const failed = verification.verdicts.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
  const others = [...verification.suites.flatMap(({ failures }) => failures), ...verification.faults];
  const hasObjection = complaints.some(({ state }) => state === "failing");
  return failed.length > 0 && others.length === 0 && !hasObjection && failed.every((id) => corrected.includes(id));
}

/** Opinions stand until they are asked for again: running the project says nothing about them. */
function withJudgements(found: Verification, before: Delivery | undefined): Verification {
  if (before?.review === undefined) return found;
  const said = new Map(before.verification.verdicts.map((verdict) => [verdict.id, verdict]));
  const verdicts = found.verdicts.map((verdict) => {
    const earlier = verdict.outcome === "judged" ? said.get(verdict.id) : undefined;
    return earlier?.outcome === "judged" ? { ...verdict, evidence: earlier.evidence } : verdict;
  });
  return { ...found, verdicts };
}

function failuresOf(verification: Verification): string {
  return failureMarks(verification).join("\n");
}

function judged({ verdicts }: Verification, { judgements }: Review): Verification["verdicts"] {
  const said = new Map(judgements.map((judgement) => [judgement.id, judgement]));
  return verdicts.map((verdict) => {
    const judgement = verdict.outcome === "judged" ? said.get(verdict.id) : undefined;
    if (judgement === undefined) return verdict;
    return { ...verdict, evidence: `${judgement.holds ? "It holds" : "It does not hold"}: ${judgement.reason}` };
  });
}

function workIn(news: readonly Message[]): WorkReport {
  const parsed = WorkReportSchema.safeParse(news.at(-1)?.instructContent);
  return parsed.success ? parsed.data : { status: "finished", summary: news.at(-1)?.content ?? "" };
}

/** Without the company's own documents, and with the tests at its end. */
function reviewedDiff(diff: string): readonly { readonly path: string; readonly text: string }[] {
  const parts = diff.split(/^(?=diff --git )/m).map((text) => ({ text, path: / b\/(.*)$/m.exec(text.split("\n", 1)[0] ?? "")?.[1] ?? "" }));
  const reviewed = parts.filter(({ path }) => !WRITTEN_BY_MANAGER.has(path));
  return [...reviewed.filter(({ path }) => !isTestPath(path)), ...reviewed.filter(({ path }) => isTestPath(path))];
}

/** As many as the reviewer was shown, for the state of its role. */
function keptFiles(files: readonly ProjectFile[]): ReviewedFiles {
  let left = REVIEWED;
  return Object.fromEntries(files.filter(({ content }) => (left -= content.length) >= 0).map(({ path, content }) => [path, content]));
}
