/** The work of a software company, from an idea to tested code. Published as `troupe/actions`. */

// In the order of the work.
export { WritePrd } from "./write-prd.ts";
export { WriteDesign } from "./write-design.ts";
export { WriteTasks } from "./write-tasks.ts";
export { WriteCode } from "./write-code.ts";
export { WriteCodeReview, type WriteCodeReviewOptions } from "./write-code-review.ts";
export { WriteTest } from "./write-test.ts";
export { RunTests, type RunTestsOptions } from "./run-tests.ts";
export { DebugError } from "./debug-error.ts";

// The documents.
export { type Prd, PrdSchema, type Priority } from "./prd.ts";
export { type Design, DesignSchema } from "./design.ts";
export { type TaskPlan, TaskPlanSchema } from "./task-plan.ts";
export { type WrittenFiles, WrittenFilesSchema } from "./project-files.ts";
export { type Review, type ReviewedFile, type ReviewReport, ReviewReportSchema, ReviewSchema, type Verdict } from "./code-review.ts";
export { type TestReport, type TestReportFailure, TestReportSchema } from "./test-report.ts";
export { type DebugReport, DebugReportSchema } from "./test-report.ts";

// For actions of your own.
export { payloadOf, ProjectAction, type ProjectActionOptions } from "./project-action.ts";
