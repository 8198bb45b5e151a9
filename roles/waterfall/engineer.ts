import { checkProjectOptions } from "../../actions/project-action.ts";
import { DebugError, RunTests, WriteCode, WriteCodeReview, WriteDesign, WritePrd, WriteTasks } from "../../actions/index.ts";
import { type Address, kinds, type Known, type Reaction, Role, ROUTE_TO_ALL, ROUTE_TO_SELF } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";

/** Options of an engineer. */
export interface EngineerOptions {
  readonly workspace: Workspace;
  /** True when the code is reviewed before it is published. Default true. */
  readonly codeReview?: boolean;
  /** Most rounds of review for each file. Default 2. */
  readonly reviewRounds?: number;
}

const engineerOptions: Known<EngineerOptions> = { workspace: kinds.workspace, codeReview: kinds.boolean, reviewRounds: kinds.count };

/**
 * Writes the code, reviews it, and repairs what failing tests find. Reports of tests are not watched but sent to the engineer while they
 * fail, so that the last one is heard by nobody here and is the company's result.
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
