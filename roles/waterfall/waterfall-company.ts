import { checkProjectOptions } from "../../actions/project-action.ts";
import { kinds, type Known, type Role } from "../../src/index.ts";
import { refusedSandbox, type Sandbox, type Workspace } from "../../src/workspace/index.ts";
import { Architect } from "./architect.ts";
import { Engineer } from "./engineer.ts";
import { ProductManager } from "./product-manager.ts";
import { ProjectManager } from "./project-manager.ts";
import { QaEngineer } from "./qa-engineer.ts";

/** Options of a software company. */
export interface WaterfallCompanyOptions {
  /** The workspace that holds the project. */
  readonly workspace: Workspace;
  /** The sandbox of its tests. */
  readonly sandbox: Sandbox;
  /** Default true. */
  readonly codeReview?: boolean;
  /** True when the tests are run once they are written; else the company's result says that they were not. Default true. */
  readonly runTests?: boolean;
  /** False: the company ends with its plan, and writes no code. Default true. */
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
 * The roles that take an idea to a tested project: product manager, architect, project manager, engineer, QA engineer. Hire them all. The
 * output of the run is the last report of the tests.
 *
 * @throws UsageError `OPTION_INVALID` for an invalid number of rounds, `OPTION_UNKNOWN`
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
