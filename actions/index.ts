/** The work of a software company, from an idea to tested code. Published as `troupe/actions`. */

// In the order of the work.
export { WritePrd } from "./waterfall/write-prd.ts";
export { WriteDesign } from "./waterfall/write-design.ts";
export { WriteTasks } from "./waterfall/write-tasks.ts";
export { WriteCode } from "./waterfall/write-code.ts";
export { WriteCodeReview } from "./waterfall/write-code-review.ts";
export { WriteTest } from "./waterfall/write-code.ts";
export { RunTests } from "./waterfall/run-tests.ts";
export { DebugError } from "./waterfall/debug-error.ts";

// The documents.
export { type Prd, PrdSchema } from "./waterfall/write-prd.ts";
export { type Design, DesignSchema } from "./waterfall/write-design.ts";
export { TaskPlanSchema } from "./waterfall/write-tasks.ts";
export { type WrittenFiles } from "./project-files.ts";
export { type Review, type ReviewReport, ReviewSchema, type Verdict } from "./waterfall/write-code-review.ts";
export { type TestReport } from "./waterfall/run-tests.ts";

// For actions of your own.
export { payloadOf, ProjectAction } from "./project-action.ts";
