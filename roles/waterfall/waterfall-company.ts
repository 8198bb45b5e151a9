import { checkProjectOptions } from "../../actions/project-action.ts";
import { defineRole, type Role, ROUTE_TO_ALL, ROUTE_TO_SELF, UserRequirement } from "../../src/index.ts";
import { kinds, type Known } from "../../src/ports.ts";
import { refusedSandbox, type Sandbox, type Workspace } from "../../src/workspace/index.ts";
import { WriteDesign, WritePrd, WriteTasks, DebugError, RunTests, WriteCode, WriteCodeReview, WriteTest } from "../../actions/index.ts";

interface WaterfallCompanyOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  /** Default true. */
  readonly codeReview?: boolean | undefined;
  /** False: the result says that the tests were not run. Default true. */
  readonly runTests?: boolean | undefined;
  /** False: the company ends with its plan. Default true. */
  readonly implement?: boolean | undefined;
  /** Most rounds in which failing tests go back to the engineer. Default 3. */
  readonly debugRounds?: number | undefined;
  /** Most rounds of review for each file. Default 2. */
  readonly reviewRounds?: number | undefined;
}

const companyOptions: Known<WaterfallCompanyOptions> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  ...kinds.each(kinds.boolean, "codeReview", "runTests", "implement"),
  ...kinds.each(kinds.count, "debugRounds", "reviewRounds"),
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
  const roles = planners(options);
  return options.implement === false ? roles : [...roles, engineer(options), qaEngineer(options)];
}

function planners({ workspace }: WaterfallCompanyOptions): readonly Role[] {
  return [
    defineRole({
      name: "Alice",
      profile: "Product Manager",
      goal: "turn an idea into requirements that lead to a product its users like",
      constraints: "write in the language of the user; ask for nothing that the idea does not need",
      reactions: [{ on: UserRequirement, do: new WritePrd({ workspace }) }],
    }),
    defineRole({
      name: "Bob",
      profile: "Architect",
      goal: "design a system that is simple, complete and easy to test",
      constraints: "use what the platform has; write in the language of the requirements",
      reactions: [{ on: WritePrd, do: new WriteDesign({ workspace }) }],
    }),
    defineRole({
      name: "Eve",
      profile: "Project Manager",
      goal: "break a design into files that can be written one after another",
      constraints: "leave no file of the design out; write in the language of the requirements",
      reactions: [{ on: WriteDesign, needs: [WritePrd, WriteDesign], do: new WriteTasks({ workspace }) }],
    }),
  ];
}

/** Writes the code, reviews it, and repairs what failing tests find. The last report of the tests is the company's result. */
function engineer({ workspace, codeReview = true, reviewRounds = 2 }: WaterfallCompanyOptions): Role {
  const review = { on: WriteCode, needs: [], do: new WriteCodeReview({ workspace, rounds: reviewRounds }) };
  return defineRole({
    name: "Alex",
    profile: "Engineer",
    goal: "write code that is correct, plain and pleasant to read",
    constraints: "keep to the design; use the words of the design for names; no dependencies",
    watch: [WritePrd, WriteDesign, WriteTasks],
    reactions: [
      { on: WriteTasks, do: new WriteCode({ workspace, sendTo: [codeReview ? ROUTE_TO_SELF : ROUTE_TO_ALL] }) },
      ...(codeReview ? [review] : []),
      { on: RunTests, needs: [], do: new DebugError({ workspace }) },
    ],
  });
}

/** Writes the tests, runs them, and runs them again after each repair. */
function qaEngineer({ workspace, sandbox, codeReview = true, runTests = true, debugRounds = 3 }: WaterfallCompanyOptions): Role {
  const code = codeReview ? WriteCodeReview : WriteCode;
  return defineRole({
    name: "Edward",
    profile: "QA Engineer",
    goal: "find out whether the product does what the requirements say",
    constraints: "test what the requirements say and not what the code does; no test depends on chance or time",
    watch: [WritePrd, WriteDesign, WriteTasks, code, DebugError],
    reactions: [
      { on: code, do: new WriteTest({ workspace, sendTo: [ROUTE_TO_SELF] }) },
      {
        on: [WriteTest, DebugError],
        needs: [],
        do: new RunTests({ workspace, sandbox: runTests ? sandbox : nothingRuns, debugRounds }),
      },
    ],
  });
}
