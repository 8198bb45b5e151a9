/** The work of a software company, from an idea to tested code. Published as `troupe/actions`. */

export { type Prd, PrdSchema, WritePrd } from "./waterfall/write-prd.ts";
export { type Design, DesignSchema, WriteDesign } from "./waterfall/write-design.ts";
export { TaskPlanSchema, WriteTasks } from "./waterfall/write-tasks.ts";
export { WriteCode, WriteTest } from "./waterfall/write-code.ts";
export { type WrittenFiles } from "./project-files.ts";
export { type Review, type ReviewReport, ReviewSchema, type Verdict, WriteCodeReview } from "./waterfall/write-code-review.ts";
export { RunTests, type TestReport } from "./waterfall/run-tests.ts";
export { DebugError } from "./waterfall/debug-error.ts";
export { payloadOf, ProjectAction } from "./project-action.ts";
