import { type Criterion, type Stack, stackOf, stacks, type StackName } from "../../src/checks/index.ts";
import { stackNames } from "../../src/checks/stacks.ts";
import type { ActionContext, Address, Message } from "../../src/index.ts";
import { z } from "zod";
import { ProjectAction } from "../project-action.ts";
import { projectNameOf } from "../project-path.ts";
import { repoMap } from "../../src/workspace/index.ts";
import { bullets, inFence, shortened } from "../markdown.ts";
import { asSpeech, companyPrompt, parted, type PromptPart } from "../prompt.ts";
import { WrittenCheckSchema } from "./check-forms.ts";
import { problemsOf, type ProjectGate } from "./project-gate.ts";
import { conventionsIn, fileText, seenFiles } from "./project-view.ts";
import { numberedRules, uncoveredRules } from "./rules.ts";
import { tryChecks } from "./try-checks.ts";
import { approvedBy, wantsApproval } from "./approval.ts";
import {
  ACCEPTANCE_FILE,
  type AcceptanceFile,
  acceptanceIn,
  CONVENTIONS,
  isUnderWay,
  orderFiles,
  renderCriteria,
  reviewedParts,
  saidParts,
  REQUIREMENT_FILE,
  renderOrder,
  type Size,
  type WorkOrder,
  WorkOrderSchema,
} from "./work-order.ts";

interface SpecifyOptions {
  /** The documents that are kept beside the project; undefined: they are files of it. */
  readonly documents?: KeptDocuments | undefined;
  readonly size?: Size | undefined;
  readonly stack?: StackName | undefined;
  readonly receivers: Readonly<Record<Size, readonly Address[]>>;
  readonly existing?: boolean | undefined;
  readonly gate: ProjectGate;
  readonly mayInstall?: boolean | undefined;
  readonly approves?: boolean | undefined;
  readonly asks?: boolean | undefined;
  /** One worker writes all code: size L is worked on as M. */
  readonly isUndivided?: boolean | undefined;
}

/** Contents of the company's documents. */
export interface KeptDocuments {
  readonly requirement?: string | undefined;
  readonly acceptance?: string | undefined;
}

const WrittenCriterionSchema = z
  .object({
    id: z.string().min(1).describe("A1, A2, ..."),
    priority: z.enum(["P0", "P1", "P2"]).describe("P0 never with a judgement, which proves nothing"),
    given: z.string(),
    when: z.string(),
    then: z.string(),
    covers: z.array(z.number()).optional().catch(undefined).describe("numbers of the user's rules that it covers, where they have numbers"),
    check: WrittenCheckSchema,
  })
  .refine(({ priority, check }) => priority !== "P0" || check.kind !== "judgement", {
    path: ["check"],
    error: "a P0 must be proven, and a judgement proves nothing: write a check that runs, or make it P1",
  });

const OpenQuestionSchema = z.object({
  question: z.string(),
  choices: z
    .array(z.string())
    .default([])
    .describe("2 to 5 likely answers, what you would choose first; the user may answer in other words"),
});

const BriefSchema = z.object({
  speech: z.string().default("").describe(asSpeech("what is hard here, and therefore which size; what you decided, and what you doubt")),
  name: z.string().transform(projectNameOf).describe("short name in kebab-case"),
  size: z.enum(["S", "M", "L"]),
  stack: z.enum(stackNames),
  assumptions: z.array(z.string()).default([]).describe("what the words leave open, and what you decided"),
  questions: z
    .array(z.union([OpenQuestionSchema, z.string()]))
    .default([])
    .describe("only what the user alone can decide and what changes the product; usually empty"),
  criteria: z
    .array(WrittenCriterionSchema)
    .describe("all of them; where there are criteria so far, only those that are new or replace one"),
  removed: z.array(z.string()).default([]).describe("ids of criteria so far that the words make void; usually empty"),
});

type Brief = z.infer<typeof BriefSchema>;
type WrittenCriterion = Criterion & Pick<Brief["criteria"][number], "covers">;

/** @param before the criteria so far, to which the answer is a patch */
function briefSchema(before: readonly Criterion[]): typeof BriefSchema {
  const known = new Set(before.map(({ id }) => id));
  return BriefSchema.superRefine(({ criteria, removed }, ctx) => {
    const strange = removed.filter((id) => !known.has(id));
    if (strange.length > 0)
      ctx.addIssue({ code: "custom", path: ["removed"], message: `${strange.join(", ")} is none of the criteria so far` });
    const left = [...known].filter((id) => !removed.includes(id)).length + criteria.length;
    if (left === 0) ctx.addIssue({ code: "custom", path: ["criteria"], message: "no criterion is left" });
  });
}

const INSTRUCTION = `Turn the user's words into acceptance criteria. Everybody gets the words themselves, so do not repeat, shorten or weaken them.

Size: S when one person writes it in one go, up to about five small files. M for several modules that need a structure, such as a page with state or a command with subcommands and a file store. L for more than about twelve source files, or parts that people can build side by side.

Criteria: S has 3 to 5, M up to 12, L up to 20. Each wish and each rule in the user's words is covered by one; a specification with many rules needs criteria that cover several rules each, and none may be left out: covers names the numbers of those that a criterion covers. P0 is what the user asked for, P1 is what they would miss at once, P2 is taste. Every P0 has a check that runs. A judgement is only for what cannot be run. given, when and then have a few words each: the check says the rest.

Checks are the contract: choose the names they need (start file, flags, ids of elements), and the engineer will use them. A check must pass for every correct product and fail for a wrong one: expect what the words demand, not wording that you made up. Prefer contains to equals for messages. Include wrong input. Work out each expected output by hand, twice: a wrong check stops the company.`;

const CHANGE = `Write criteria for what the change demands, and for what it might break; the tests that are there run in any case. Use the stack and the names of the project: its commands, flags, files and formats are what its README says. Its files and symbols:`;

const PATCH =
  "These stay as they are. Give only criteria that are new, and those that replace one, by its id; name in removed those that the words make void.";

const COVER = "Write criteria for them, or replace those that cover one, with its number in covers.";

const MAP_TOKENS = 4_000;

const README_LENGTH = 6_000;

const MAX_QUESTIONS = 3;

const MAX_CHOICES = 6;
const MAX_CHOICE = 200;

/** Turns the user's words into a work order: triage, assumptions and acceptance criteria in one question. */
export class Specify extends ProjectAction<WorkOrder, readonly []> {
  override readonly description: string = "Write the acceptance criteria.";
  override readonly output: z.ZodType<WorkOrder> = WorkOrderSchema;
  readonly #options: SpecifyOptions;

  constructor(options: SpecifyOptions) {
    super({ workspace: options.gate.workspace });
    this.#options = options;
  }

  override async run(ctx: ActionContext<readonly []>): Promise<Message<WorkOrder>> {
    const before = ctx.memory.newestBy(this) as Message<WorkOrder> | undefined;
    const earlier = before === undefined ? undefined : WorkOrderSchema.parse(before.instructContent);
    const project = this.#options.existing === true || earlier !== undefined ? await this.#project(ctx, earlier) : undefined;
    const noPages = await this.#options.gate.missingForPages(ctx.steps);
    const brief = await this.#brief(ctx, { earlier, project, noPages, answers: [] });
    const answers = this.#options.asks === true ? await asked(ctx, brief.questions) : [];
    const facts: KnownFacts = { earlier, project, noPages, answers };
    const draft = this.#order(ctx, facts, brief);
    const last = answers.length === 0 ? brief : patched(brief, await this.#brief(ctx, { ...facts, draft }));
    const covering = await this.#covering(ctx, facts, last);
    const order = await this.#approved(ctx, facts, this.#order(ctx, facts, await this.#tried(ctx, facts, covering)));
    const files = orderFiles(order);
    await this.write(ctx, files);
    const { speech } = covering;
    return this.conclude(ctx, order, { files, speech, summary: `Write the acceptance criteria of ${order.name}` });
  }

  override render(order: WorkOrder): string {
    return renderOrder(order);
  }

  override sendTo(_ctx: ActionContext<readonly []>, order: WorkOrder | undefined): readonly Address[] {
    return this.#options.receivers[order?.size ?? "M"];
  }

  /** With the tests that fail already, but for what the company left red itself. */
  async #project(ctx: ActionContext<readonly []>, earlier: WorkOrder | undefined): Promise<Project> {
    const { gate } = this.#options;
    const { workspace } = gate;
    const { documents } = this.#options;
    const look = async (): Promise<Omit<Project, "failedBefore" | "notRun">> => ({
      words: (documents === undefined ? await workspace.read(REQUIREMENT_FILE) : documents.requirement) ?? null,
      acceptance: acceptanceIn(documents === undefined ? await workspace.read(ACCEPTANCE_FILE) : documents.acceptance) ?? null,
      conventions: await conventionsIn(workspace),
      files: await seenFiles(workspace, ctx.text),
      map: await repoMap({ workspace, budget: MAP_TOKENS, focus: ctx.text }),
      readme: shortened((await fileText(workspace, "README.md")) ?? "", README_LENGTH),
      stack: stackOf(await workspace.list()) ?? null,
    });
    const seen = await ctx.step("map project", { focus: ctx.text }, look, { fresh: true });
    if (earlier !== undefined) return { ...seen, notRun: [], failedBefore: earlier.failedBefore ?? [] };
    const verification = await gate.check(ctx.steps, {
      criteria: [],
      depth: "whole",
      stack: this.#options.stack ?? seen.stack ?? undefined,
    });
    const notRun = verification.suites.flatMap(({ language, kind, reason = "" }) =>
      kind === "not run" ? [`The tests in ${language} are not checked, so the product cannot be done: ${reason}`] : [],
    );
    return { ...seen, notRun, failedBefore: [...problemsOf(verification)] };
  }

  #brief(ctx: ActionContext<readonly []>, { earlier, project, noPages, answers, draft, uncovered = [] }: KnownFacts): Promise<Brief> {
    const { size, stack = project?.stack ?? undefined } = this.#options;
    const fixed = [...(size === undefined ? [] : [`The size is ${size}.`]), ...(stack === undefined ? [] : [`The stack is ${stack}.`])];
    const criteria = draft?.criteria ?? project?.acceptance?.criteria ?? earlier?.criteria ?? [];
    const before = criteria.length === 0 ? "" : `${renderCriteria({ criteria })}\n${PATCH}`;
    const [first, ...later] = wordsOf(ctx, earlier);
    const own: readonly PromptPart[] = [
      ["Stacks", [...stacks.map(stackLine), PAGE_BESIDE, ...(noPages === null ? [] : [`${NO_PAGES} ${ONLY_IF_DEMANDED}`])].join("\n")],
      ["Decided", fixed.join(" ")],
      ...later,
      ["A change of a project that is there", project === undefined ? "" : `${CHANGE}\n\n${project.map}`],
      ["README.md of the project", project?.readme ? inFence(project.readme, "md") : ""],
      ["Files of the project", project?.files ?? ""],
      [CONVENTIONS, project?.conventions ?? ""],
      ["The user's rules by number, for covers", numberedRules(saidIn(ctx, earlier))],
      ["Criteria so far", before],
      ["The user's answers", answers.join("\n")],
      ["Rules that no criterion covers", uncovered.length === 0 ? "" : `${bullets(uncovered)}\n${COVER}`],
    ];
    const prompt = companyPrompt({ role: ctx.role, shared: [first], task: "Specify", instruction: INSTRUCTION, own });
    return ctx.ask(prompt, { schema: briefSchema(criteria) });
  }

  /** Asks once more where rules are left out. */
  async #covering(ctx: ActionContext<readonly []>, facts: KnownFacts, brief: Brief): Promise<Brief> {
    const draft = this.#order(ctx, facts, brief);
    const before = facts.earlier === undefined ? [] : uncoveredRules(facts.earlier);
    const uncovered = uncoveredRules(draft).filter((rule) => !before.includes(rule));
    return uncovered.length === 0 ? brief : patched(brief, await this.#brief(ctx, { ...facts, draft, uncovered }));
  }

  async #tried(ctx: ActionContext<readonly []>, { earlier, project, answers }: KnownFacts, brief: Brief): Promise<Brief> {
    const [first, ...later] = wordsOf(ctx, earlier);
    const words: readonly PromptPart[] = [
      ...later,
      ["README.md of the project", project?.readme ? inFence(project.readme, "md") : ""],
      ["Files of the project, before the change", project?.files ?? ""],
      ["The user's answers", answers.join("\n")],
    ];
    const { gate } = this.#options;
    const { assumptions } = brief;
    const { criteria, told } = await tryChecks(ctx, { gate, criteria: numbered(brief.criteria, []), shared: [first], words, assumptions });
    return { ...brief, criteria: [...criteria], assumptions: [...assumptions, ...told] };
  }

  /** Corrections of the user count as their words. */
  async #approved(ctx: ActionContext<readonly []>, known: KnownFacts, order: WorkOrder): Promise<WorkOrder> {
    let draft = order;
    if (!(await wantsApproval(ctx.steps, this.#options.approves === true))) return order;
    return approvedBy(ctx.human, {
      value: order,
      show: (shown) => parted(reviewedParts({ ...shown, size: "S" })),
      change: async (said) => {
        const facts = { ...known, draft, answers: [...known.answers, ...said] };
        draft = this.#order(ctx, facts, await this.#tried(ctx, facts, await this.#brief(ctx, facts)));
        return draft;
      },
    });
  }

  #order(ctx: ActionContext<readonly []>, { earlier, project, noPages, answers, draft }: KnownFacts, brief: Brief): WorkOrder {
    const { size: chosen = brief.size, stack = project?.stack ?? brief.stack, isUndivided } = this.#options;
    // Engineers who work side by side continue: the change joins their plan.
    const size = earlier?.size === "L" && isUnderWay(ctx.memory) ? "L" : chosen === "L" && isUndivided === true ? "M" : chosen;
    const before = draft?.assumptions ?? project?.acceptance?.assumptions ?? earlier?.assumptions ?? [];
    const hasPage = stack === "page" || brief.criteria.some(({ check }) => check.kind === "page");
    const lack = [...(hasPage && noPages !== null ? [`${NO_PAGES} ${noPages}`] : []), ...(project?.notRun ?? [])];
    const past = project?.acceptance?.criteria ?? earlier?.criteria ?? [];
    const written = numbered(brief.criteria, draft?.criteria ?? past).filter(({ id }) => !brief.removed.includes(id));
    const facts = {
      kind: "order" as const,
      size,
      stack,
      assumptions: [...new Set([...before, ...brief.assumptions, ...answers, ...replacedBy(brief, past), ...lack])],
      criteria: written.map(plain),
      covers: { ...(draft ?? earlier)?.covers, ...Object.fromEntries(written.flatMap(({ id, covers }) => (covers ? [[id, covers]] : []))) },
      isChange: project !== undefined,
      ...(this.#options.mayInstall === true ? { mayInstall: true } : {}),
      ...(project === undefined ? {} : { map: project.map, failedBefore: project.failedBefore, conventions: project.conventions }),
      ...(this.#options.documents === undefined ? {} : { isBeside: true }),
    };
    if (earlier !== undefined) {
      const { requirement, feedback, name, recordedWords } = earlier;
      return { ...facts, requirement, feedback: [...feedback, ctx.text], name, recordedWords };
    }
    const recordedWords = project?.words ?? undefined;
    return { ...facts, requirement: ctx.text, feedback: [], name: brief.name, recordedWords };
  }
}

interface Project {
  readonly words: string | null;
  readonly acceptance: AcceptanceFile | null;
  readonly map: string;
  readonly conventions: string;
  readonly files: string;
  readonly readme: string;
  readonly stack: StackName | null;
  readonly failedBefore: string[];
  /** The reasons why tests of the project cannot be run here. */
  readonly notRun: readonly string[];
}

interface KnownFacts {
  readonly earlier: WorkOrder | undefined;
  readonly project: Project | undefined;
  readonly noPages: string | null;
  readonly answers: readonly string[];
  /** The order that the user has not approved yet; the answer changes it. */
  readonly draft?: WorkOrder;
  /** Rules that no criterion of the draft covers. */
  readonly uncovered?: readonly string[];
}

const NO_PAGES = "No page can be opened on this machine, so checks of a page stay unchecked.";
const ONLY_IF_DEMANDED = "Choose page only where the words demand one, and give its logic checks by command.";

const PAGE_BESIDE =
  "A command or a server with a page has the stack of the command; each check is of the command or of the page, to which it gives the files that the command writes.";

function stackLine({ name, description, start }: Stack): string {
  return `- ${name}: ${description}.${start === undefined ? "" : ` Started by \`${start.join(" ")}\`.`}`;
}

/** The first words, which begin each prompt, and the later ones. */
function wordsOf(ctx: ActionContext<readonly []>, earlier: WorkOrder | undefined): readonly [PromptPart, ...PromptPart[]] {
  return saidParts(saidIn(ctx, earlier)) as [PromptPart, ...PromptPart[]];
}

function saidIn({ text }: ActionContext<readonly []>, earlier: WorkOrder | undefined): Pick<WorkOrder, "requirement" | "feedback"> {
  return { requirement: earlier?.requirement ?? text, feedback: earlier === undefined ? [] : [...earlier.feedback, text] };
}

async function asked({ human }: ActionContext<readonly []>, questions: Brief["questions"]): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const open of questions.slice(0, MAX_QUESTIONS)) {
    const { question, choices } = typeof open === "string" ? { question: open, choices: [] } : open;
    const likely = [...new Set(choices.map((choice) => choice.trim().slice(0, MAX_CHOICE)))].filter((choice) => choice !== "");
    const [first] = likely;
    const isOpen = first === undefined || likely.length < 2;
    const form = { choices: likely.slice(0, MAX_CHOICES), words: "answer in other words" };
    answers.push(`${question} ${await (isOpen ? human.ask(question) : human.ask(question, { ...form, default: first }))}`);
  }
  return answers;
}

function patched(before: Brief, patch: Brief): Brief {
  const criteria = numbered(patch.criteria, before.criteria).filter(({ id }) => !patch.removed.includes(id));
  return { ...patch, criteria, assumptions: [...before.assumptions, ...patch.assumptions] };
}

/** No criterion is weakened in silence. */
function replacedBy({ criteria, removed }: Pick<Brief, "criteria" | "removed">, earlier: readonly Criterion[]): readonly string[] {
  const next = new Map(criteria.map((criterion) => [criterion.id, JSON.stringify(plain(criterion))]));
  const isReplaced = (criterion: Criterion): boolean => next.has(criterion.id) && next.get(criterion.id) !== JSON.stringify(criterion);
  const before = ({ priority, then }: Criterion): string => `an earlier criterion (${priority}): ${then}`;
  return [
    ...earlier.filter(isReplaced).map((criterion) => `${criterion.id} replaces ${before(criterion)}`),
    ...earlier.filter(({ id }) => removed.includes(id)).map((criterion) => `${criterion.id} is void, ${before(criterion)}`),
  ];
}

/** Ids that a model gave twice become different. */
function numbered(criteria: readonly WrittenCriterion[], earlier: readonly WrittenCriterion[]): WrittenCriterion[] {
  const byId = new Map<string, WrittenCriterion>(earlier.map((criterion) => [criterion.id, criterion]));
  const own = new Set<string>();
  for (const criterion of criteria) {
    let { id } = criterion;
    for (let next = 2; own.has(id); next++) id = `${criterion.id}-${next}`;
    own.add(id);
    byId.set(id, { ...criterion, id });
  }
  return [...byId.values()];
}

function plain({ covers: _covers, ...criterion }: WrittenCriterion): Criterion {
  return criterion;
}
