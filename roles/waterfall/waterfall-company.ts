import { checkProjectOptions } from "../../actions/project-action.ts";
import { Role, type Reaction, UserRequirement, type Address, ROUTE_TO_ALL, ROUTE_TO_SELF } from "../../src/index.ts";
import { kinds, type Known } from "../../src/ports.ts";
import { refusedSandbox, type Sandbox, type Workspace } from "../../src/workspace/index.ts";
import { WriteDesign, WritePrd, WriteTasks, DebugError, RunTests, WriteCode, WriteCodeReview, WriteTest } from "../../actions/index.ts";

/** Options of a QA engineer. */
export interface QaEngineerOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** The tests wait for the engineer's review. Default true. */
  readonly codeReview?: boolean;
  /** Most rounds in which failing tests go back to the engineer. Default 3. */
  readonly debugRounds?: number;
  /** Milliseconds for all tests. Default 60,000. */
  readonly testTimeout?: number;
}

const qaEngineerOptions: Known<QaEngineerOptions> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  codeReview: kinds.boolean,
  debugRounds: kinds.count,
  testTimeout: kinds.milliseconds,
};

/** Writes the tests, runs them, and runs them again after each repair. */
export class QaEngineer extends Role {
  override readonly name: string = "Edward";
  override readonly profile: string = "QA Engineer";
  override readonly goal: string = "find out whether the product does what the requirements say";
  override readonly constraints: string = "test what the requirements say and not what the code does; no test depends on chance or time";
  override readonly watch: readonly Address[];
  override readonly reactions: readonly Reaction[];

  constructor(options: QaEngineerOptions) {
    super();
    checkProjectOptions("new QaEngineer", options, qaEngineerOptions);
    const { workspace, sandbox, codeReview = true, debugRounds = 3, testTimeout } = options;
    const code = codeReview ? WriteCodeReview : WriteCode;
    const timeout = testTimeout === undefined ? {} : { timeout: testTimeout };
    this.watch = [WritePrd, WriteDesign, WriteTasks, code, DebugError];
    this.reactions = [
      { on: code, do: new WriteTest({ workspace, sendTo: [ROUTE_TO_SELF] }) },
      { on: [WriteTest, DebugError], needs: [], do: new RunTests({ workspace, sandbox, debugRounds, ...timeout }) },
    ];
  }
}

/** Options of an engineer. */
export interface EngineerOptions {
  readonly workspace: Workspace;
  /** Default true. */
  readonly codeReview?: boolean;
  /** Most rounds of review for each file. Default 2. */
  readonly reviewRounds?: number;
}

const engineerOptions: Known<EngineerOptions> = { workspace: kinds.workspace, codeReview: kinds.boolean, reviewRounds: kinds.count };

/**
 * Writes the code, reviews it, and repairs what failing tests find. Reports are sent to the engineer while tests fail; the last one is the
 * company's result.
 */
export class Engineer extends Role {
  override readonly name: string = "Alex";
  override readonly profile: string = "Engineer";
  override readonly goal: string = "write code that is correct, plain and pleasant to read";
  override readonly constraints: string = "keep to the design; use the words of the design for names; no dependencies";
  override readonly watch: readonly Address[] = [WritePrd, WriteDesign, WriteTasks];
  override readonly reactions: readonly Reaction[];

  constructor(options: EngineerOptions) {
    super();
    checkProjectOptions("new Engineer", options, engineerOptions);
    const { workspace, codeReview = true, reviewRounds = 2 } = options;
    const writeCode = new WriteCode({ workspace, sendTo: [codeReview ? ROUTE_TO_SELF : ROUTE_TO_ALL] });
    const review: Reaction = { on: WriteCode, needs: [], do: new WriteCodeReview({ workspace, rounds: reviewRounds }) };
    this.reactions = [
      { on: WriteTasks, do: writeCode },
      ...(codeReview ? [review] : []),
      { on: RunTests, needs: [], do: new DebugError({ workspace }) },
    ];
  }
}

/** Breaks a design into files to write. */
export class ProjectManager extends Role {
  override readonly name: string = "Eve";
  override readonly profile: string = "Project Manager";
  override readonly goal: string = "break a design into files that can be written one after another";
  override readonly constraints: string = "leave no file of the design out; write in the language of the requirements";
  override readonly reactions: readonly Reaction[];

  constructor(options: { readonly workspace: Workspace }) {
    super();
    checkProjectOptions("new ProjectManager", options, { workspace: kinds.workspace });
    const { workspace } = options;
    this.reactions = [{ on: WriteDesign, needs: [WritePrd, WriteDesign], do: new WriteTasks({ workspace }) }];
  }
}

/** Turns the user's idea into requirements. */
export class ProductManager extends Role {
  override readonly name: string = "Alice";
  override readonly profile: string = "Product Manager";
  override readonly goal: string = "turn an idea into requirements that lead to a product its users like";
  override readonly constraints: string = "write in the language of the user; ask for nothing that the idea does not need";
  override readonly reactions: readonly Reaction[];

  constructor(options: { readonly workspace: Workspace }) {
    super();
    checkProjectOptions("new ProductManager", options, { workspace: kinds.workspace });
    const { workspace } = options;
    this.reactions = [{ on: UserRequirement, do: new WritePrd({ workspace }) }];
  }
}

/** Turns requirements into a design. */
export class Architect extends Role {
  override readonly name: string = "Bob";
  override readonly profile: string = "Architect";
  override readonly goal: string = "design a system that is simple, complete and easy to test";
  override readonly constraints: string = "use what the platform has; write in the language of the requirements";
  override readonly reactions: readonly Reaction[];

  constructor(options: { readonly workspace: Workspace }) {
    super();
    checkProjectOptions("new Architect", options, { workspace: kinds.workspace });
    const { workspace } = options;
    this.reactions = [{ on: WritePrd, do: new WriteDesign({ workspace }) }];
  }
}

/** Options of a software company. */
export interface WaterfallCompanyOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Default true. */
  readonly codeReview?: boolean;
  /** False: the result says that the tests were not run. Default true. */
  readonly runTests?: boolean;
  /** False: the company ends with its plan. Default true. */
  readonly implement?: boolean;
  /** Most rounds in which failing tests go back to the engineer. Default 3. */
  readonly debugRounds?: number;
  /** Most rounds of review for each file. Default 2. */
  readonly reviewRounds?: number;
  /** Milliseconds for all tests. Default 60,000. */
  readonly testTimeout?: number;
}

const companyOptions: Known<WaterfallCompanyOptions> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  ...kinds.each(kinds.boolean, "codeReview", "runTests", "implement"),
  ...kinds.each(kinds.count, "debugRounds", "reviewRounds"),
  testTimeout: kinds.milliseconds,
};

const nothingRuns = refusedSandbox("running them is switched off", "Run them in the project's folder with: node --test");

/**
 * The roles that take an idea to a tested project. Hire them all. The output of the run is the last report of the tests.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { type ChatModel, Team, usd } from "troupe";
 * import { waterfallCompany } from "troupe/roles";
 * import { chooseSandbox, openWorkspace } from "troupe/workspace";
 *
 * export async function build(idea: string, model: ChatModel): Promise<string> {
 *   const workspace = await openWorkspace({ root: "workspace/new" });
 *   const sandbox = await chooseSandbox("auto");
 *   const team = new Team({ roles: waterfallCompany({ workspace, sandbox }), model, budget: usd(3) });
 *   return (await team.run(idea).result).status;
 * }
 */
export function waterfallCompany(options: WaterfallCompanyOptions): readonly Role[] {
  checkProjectOptions("waterfallCompany", options, companyOptions);
  const {
    workspace,
    sandbox,
    codeReview = true,
    runTests = true,
    implement = true,
    debugRounds = 3,
    reviewRounds = 2,
    testTimeout,
  } = options;
  const timeout = testTimeout === undefined ? {} : { testTimeout };
  const planners = [new ProductManager({ workspace }), new Architect({ workspace }), new ProjectManager({ workspace })];
  if (!implement) return planners;
  return [
    ...planners,
    new Engineer({ workspace, codeReview, reviewRounds }),
    new QaEngineer({ workspace, sandbox: runTests ? sandbox : nothingRuns, codeReview, debugRounds, ...timeout }),
  ];
}
