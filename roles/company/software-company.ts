import { ProjectGate } from "../../actions/company/project-gate.ts";
import { DESIGN_REVIEW, designReview, type DesignReview, REVIEW_ROUNDS } from "../../actions/company/design-review.ts";
import { DesignSystem } from "../../actions/company/design-system.ts";
import { MergeTasks, MOST_TASKS, PlanTasks } from "../../actions/company/plan-tasks.ts";
import { Reconsider } from "../../actions/company/reconsider.ts";
import { MOST_TRIES, TaskBoard } from "../../actions/company/task-board.ts";
import { type KeptDocuments, Specify } from "../../actions/company/specify.ts";
import { MOST_REPAIRS, Verify } from "../../actions/company/verify.ts";
import { DeliverySchema, evidenceOf } from "../../actions/company/delivery.ts";
import { isDelivery, type Size } from "../../actions/company/work-order.ts";
import { checkProjectOptions } from "../../actions/project-action.ts";
import {
  type Address,
  type ChatModel,
  createMessage,
  defineRole,
  type Message,
  type Reaction,
  type Role,
  ROUTE_TO_NONE,
  TeamChange,
  UsageError,
  UserFeedback,
  UserRequirement,
} from "../../src/index.ts";
import { kinds, type Known } from "../../src/ports.ts";
import type { StackName, Verifier } from "../../src/checks/index.ts";
import { type FileWorkspace, type ForkedProject, type Sandbox, type Workspace, workspaceForks } from "../../src/workspace/index.ts";
import { engineer, IMPLEMENT, MOST_DISPUTES } from "./engineer.ts";
import { outsideEngineer, type OutsideWorker } from "./outside-engineer.ts";
import { qaEngineer, TEST_FIRST } from "./qa-engineer.ts";
import { IMPLEMENT_TASK, taskEngineer } from "./task-engineer.ts";
import { checkForms } from "../../actions/company/check-forms.ts";
import { COLLEAGUES, COMPANY, workAction } from "./worker.ts";

/** Options of a software company. */
export interface SoftwareCompanyOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Default: the product manager decides. */
  readonly size?: Size | undefined;
  /** Default: the product manager decides. */
  readonly stack?: StackName | undefined;
  /** The project has files of a user. Default false. */
  readonly existing?: boolean | undefined;
  /** The documents of earlier companies, kept beside the project. Default: the documents are files of the project. */
  readonly documents?: KeptDocuments | undefined;
  /** The difference to the project before the change. Default: the review reads the project's files. */
  readonly diff?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Packages may be installed, with the network for that step alone. Default false. */
  readonly allowInstall?: boolean | undefined;
  /** A person approves the criteria (`prd`), or the design of products of size M and L (`plan`). Default: no one. */
  readonly approve?: "prd" | "plan" | undefined;
  /** A person can be asked. Default false: open questions become assumptions. */
  readonly asks?: boolean | undefined;
  /** QA, the engineer and the verifier review the design of products of size M and L before they work on it. Default false. */
  readonly designReview?: boolean | undefined;
  /** The last part: the criteria, or the design of products of size M and L. The output is the work order then. Default: the proven product. */
  readonly until?: "criteria" | "design" | undefined;
  /** Default true. */
  readonly review?: boolean | undefined;
  /** Default: the team's. */
  readonly reviewModel?: ChatModel | undefined;
  /** Most rounds of repair by size. Default: as many as bring progress, 12 at most. */
  readonly rounds?: Readonly<Partial<Record<Size, number>>> | undefined;
  /** Engineers side by side on a product of size L, 1 to 8, in a workspace on disk. Default 3. */
  readonly engineers?: number | undefined;
  /** Share of the run's budget, from 0 to less than 1, that engineers and QA leave for the verification. Default 0.15. */
  readonly verificationShare?: number | undefined;
  /** Default: `verifyProject` of `troupe/checks`. */
  readonly verify?: Verifier | undefined;
  /** A coding agent that does the engineer's part, in a workspace on disk with git. Default: the company's own engineers. */
  readonly worker?: OutsideWorker | undefined;
}

const companyOptions: Known<SoftwareCompanyOptions> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  ...kinds.each(kinds.text, "size", "stack"),
  ...kinds.each(kinds.boolean, "existing", "allowInstall", "asks", "review", "designReview"),
  ...kinds.each(kinds.function, "diff", "verify"),
  documents: kinds.record(kinds.text),
  approve: kinds.oneOf("prd", "plan"),
  until: kinds.oneOf("criteria", "design"),
  reviewModel: kinds.model,
  rounds: kinds.options(kinds.each(kinds.count, "S", "M", "L")),
  engineers: kinds.size,
  verificationShare: {
    says: "a number from 0 to less than 1",
    fits: (value) => typeof value === "number" && value >= 0 && value < 1,
  },
  worker: kinds.options({ agent: kinds.having("a coding agent", "work"), budget: kinds.amount }, "agent", "budget"),
};

const { manager: MANAGER, architect: ARCHITECT, qa: QA, engineer: ENGINEER, planner: PLANNER, verifier: VERIFIER } = COLLEAGUES;
/** Of the roles that answer without tools. */
const INTRODUCTION = `${COMPANY}\n\n${checkForms()}`;
const ENGINEERS = ["Ann", "Ben", "Cid", "Dora", "Emil", "Finn", "Gwen", "Hugo"];
const USUAL_ENGINEERS = 3;
const USUAL_VERIFICATION_SHARE = 0.15;

/**
 * The roles that take an idea to a product that is proven by running it. Hire them all. The output of the run is a `Delivery`: a verdict
 * with evidence for each acceptance criterion. With `until` it is the work order with its criteria and design.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_UNKNOWN`
 */
export function softwareCompany(options: SoftwareCompanyOptions): readonly Role[] {
  checkProjectOptions("softwareCompany", options, companyOptions);
  const { workspace, sandbox, verify, allowInstall: mayInstall = false, verificationShare = USUAL_VERIFICATION_SHARE } = options;
  const gate = new ProjectGate({ workspace, sandbox, verify });
  if (options.designReview === true && options.until !== undefined) throw unreviewed(options.until);
  if (options.until === "criteria") return [manager(gate, options)];
  if (options.until === "design") return [manager(gate, options), architect(gate, options)];
  const project = forkedProject(workspace);
  // A coding agent from outside attends no meeting.
  const reviewers = [QA, ...(options.worker === undefined ? [ENGINEER] : []), VERIFIER];
  const review = options.designReview === true ? designReview({ workspace, architect: ARCHITECT, reviewers }) : undefined;
  const attends = review && { on: review.open.name, needs: [], do: review.speak };
  const machine = { workspace, sandbox, gate, project, mayInstall, budgetShare: 1 - verificationShare, attends };
  const engineers = namesOf(options.engineers);
  const board = new TaskBoard({ gate, project, engineers, integrator: ENGINEER, tester: QA, verifier: VERIFIER });
  const action = workAction(IMPLEMENT_TASK);
  return [
    manager(gate, options),
    architect(gate, options, review),
    qaEngineer(machine),
    planner(gate, board),
    ...engineers.map((name) => taskEngineer({ ...machine, name, action })),
    options.worker === undefined ? engineer(machine) : outsideEngineer(machine, options.worker, options.asks === true),
    verifier(gate, board, options, attends),
  ];
}

/**
 * Rounds that a run of the software company can take: with fewer, a product of size L whose tasks need one another could be cut off. What
 * the user says later takes as many again.
 *
 * @param repairs rounds of repair. Default 12
 * @throws UsageError `ARGUMENT_INVALID`
 */
export function companyRounds(repairs: number = MOST_REPAIRS): number {
  if (!Number.isSafeInteger(repairs) || repairs < 0) {
    const given = typeof repairs === "number" ? String(repairs) : `a value of type ${typeof repairs}`;
    throw new UsageError(
      "ARGUMENT_INVALID",
      `Expected rounds of repair as a whole number of at least 0, got ${given}. Leave it out for ${MOST_REPAIRS}.`,
    );
  }
  // The criteria, the design, its review, the tests and the plan; at the end the whole, its verification, and its news.
  const fixed = 4 + REVIEW_ROUNDS + 3;
  const tasks = MOST_TASKS * MOST_TRIES;
  // Each task may hand back a test once: QA, the plan and its engineer have a round each. One of the last engineer may need two colleagues.
  return fixed + 2 * (tasks + repairs) + 3 * (MOST_TASKS + MOST_DISPUTES);
}

/**
 * The message by which a run continues whose product is not done; undefined where nothing is open, or the user has said more since.
 *
 * @param messages all of the run
 */
export function continuedWork(messages: readonly Message[]): Message | undefined {
  const last = messages.findLast(({ instructContent, sentFrom }) => isDelivery(instructContent) || sentFrom === "");
  const { data } = DeliverySchema.safeParse(last?.instructContent);
  if (data === undefined || data.isDone) return undefined;
  const { reason, ...ended } = data;
  const why = reason === undefined ? "" : ` It ended because: ${reason}`;
  const content = `The user wants the work to continue.${why}\n\nThe verification found:\n\n${evidenceOf(data)}`;
  return createMessage(content, { instructContent: { ...ended, continued: true }, sendTo: [ENGINEER, VERIFIER] });
}

function manager(
  gate: ProjectGate,
  { size, stack, existing, documents, allowInstall, approve, asks, until, worker }: SoftwareCompanyOptions,
): Role {
  const receivers = receiversOf(until);
  const isUndivided = worker !== undefined;
  const said = [UserRequirement, UserFeedback];
  const approves = approve === "prd";
  return defineRole({
    name: MANAGER,
    description: INTRODUCTION,
    profile: "Product Manager",
    goal: "say how one can tell that the product does what the user asked for",
    watch: said,
    reactions: [
      { on: IMPLEMENT, needs: [], do: new Reconsider({ gate, receivers: [ENGINEER, VERIFIER], tester: QA }) },
      {
        on: said,
        do: new Specify({ gate, mayInstall: allowInstall, size, stack, asks, approves, existing, documents, receivers, isUndivided }),
      },
    ],
  });
}

function unreviewed(until: string): UsageError {
  return new UsageError(
    "ARGUMENT_INVALID",
    `Expected designReview in a company that works on its design, got until: "${until}". Leave one of them out.`,
  );
}

function receiversOf(until: SoftwareCompanyOptions["until"]): Readonly<Record<Size, readonly Address[]>> {
  const nobody = [ROUTE_TO_NONE];
  if (until === "criteria") return { S: nobody, M: nobody, L: nobody };
  const designers = until === "design" ? [ARCHITECT] : [ARCHITECT, VERIFIER];
  return { S: until === "design" ? nobody : [ENGINEER, VERIFIER], M: designers, L: designers };
}

function architect(gate: ProjectGate, { approve, until }: SoftwareCompanyOptions, review?: DesignReview): Role {
  const receivers = until === "design" ? [ROUTE_TO_NONE] : [QA, VERIFIER];
  const design = new DesignSystem({ gate, receivers, approves: approve === "plan", isReviewed: review !== undefined });
  const meeting: readonly Reaction[] =
    review === undefined
      ? []
      : [
          { on: DESIGN_REVIEW, needs: [], do: design },
          { on: design, needs: [], do: review.open },
          { on: [review.speak, TeamChange], needs: [], do: review.decide },
        ];
  return defineRole({
    name: ARCHITECT,
    description: INTRODUCTION,
    profile: "Architect",
    goal: "give the product a structure that is simple and easy to test",
    watch: review === undefined ? [] : [TeamChange],
    reactions: [{ on: Specify, needs: [], do: design }, ...meeting],
  });
}

function verifier(
  gate: ProjectGate,
  board: TaskBoard,
  { sandbox, diff, review, reviewModel, rounds }: SoftwareCompanyOptions,
  attends: Reaction | undefined,
): Role {
  const team = { gate, sandbox, board, repairedBy: ENGINEER, planners: [MANAGER, PLANNER] };
  return defineRole({
    name: VERIFIER,
    description: INTRODUCTION,
    profile: "Verifier",
    // A review that cannot be paid is left out.
    budgetShare: 1,
    goal: "find out by running it whether the product does what the user asked for",
    watch: [],
    reactions: [
      { on: IMPLEMENT, needs: [], do: new Verify({ ...team, diff, review, model: reviewModel, rounds }) },
      ...(attends === undefined ? [] : [attends]),
    ],
  });
}

function planner(gate: ProjectGate, board: TaskBoard): Role {
  return defineRole({
    name: PLANNER,
    description: INTRODUCTION,
    profile: "Project Manager",
    goal: "divide the work so that engineers do it side by side",
    watch: [],
    reactions: [
      { on: TEST_FIRST, needs: [], do: new PlanTasks({ gate, board }) },
      { on: IMPLEMENT_TASK, needs: [], do: new MergeTasks({ board }) },
    ],
  });
}

/** Made when first needed: only then must the workspace be on disk. */
function forkedProject(workspace: Workspace): () => ForkedProject {
  let made: ForkedProject | undefined;
  return () => (made ??= { workspace, forks: workspaceForks({ workspace: workspace as FileWorkspace }) });
}

function namesOf(engineers: number = USUAL_ENGINEERS): readonly string[] {
  if (Number.isInteger(engineers) && engineers >= 1 && engineers <= ENGINEERS.length) return ENGINEERS.slice(0, engineers);
  throw new UsageError(
    "ARGUMENT_INVALID",
    `Expected engineers as a whole number from 1 to ${ENGINEERS.length}, got ${String(engineers)}. Leave it out for ${USUAL_ENGINEERS}.`,
  );
}
