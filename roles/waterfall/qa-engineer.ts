import { checkProjectOptions } from "../../actions/project-action.ts";
import { DebugError, RunTests, WriteCode, WriteCodeReview, WriteDesign, WritePrd, WriteTasks, WriteTest } from "../../actions/index.ts";
import { type Address, kinds, type Known, type Reaction, Role, ROUTE_TO_SELF } from "../../src/index.ts";
import type { Sandbox, Workspace } from "../../src/workspace/index.ts";

/** Options of a QA engineer. */
export interface QaEngineerOptions {
  readonly workspace: Workspace;
  /** The sandbox that runs the tests. */
  readonly sandbox: Sandbox;
  /** True when the engineer reviews code: then the tests wait for that. Default true. */
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
