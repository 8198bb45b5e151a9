/** Checks that run: acceptance criteria, tests, and what a project proves. Published as `troupe/checks`. */

export type { Acceptance, Check, CommandStep, Criterion, FileRule, GivenFile, PageStep, Priority, TextRule } from "./acceptance.ts";
export { AcceptanceSchema, CheckSchema, CriterionSchema } from "./acceptance.ts";
export { type Fault, isProven, isRed, type Outcome, type SuiteReport, type Verdict, type Verification } from "./verification.ts";
export type { Stack, StackName } from "./stack.ts";

// Running the checks.
export { type VerifyRequest, verifyProject } from "./verify.ts";
export { type CachedRequest, VerificationCache, type Verifier } from "./verification-cache.ts";
export { checkCommands, type CommandChecksRequest } from "./commands.ts";
export { checkSyntax, type SyntaxRequest } from "./syntax.ts";
export { checkReadme, type ReadmeRequest } from "./readme.ts";
export { findWeakTests, spotCheck, type SpotCheckRequest } from "./spot-check.ts";
export { runSuites, type SuitesRequest } from "./suites.ts";
export { checkPages, defaultPageTimes, type PageCheckRequest, type PageReport, type PageTimes } from "./page-check.ts";
export { findVacuous, type VacuousRequest } from "./vacuous.ts";
export { installPackages, type InstallReport, type InstallRequest } from "./install.ts";
export { missingPageMeans, type PageMeansChoice } from "./page-means.ts";
export { type DeterminismFault, findNondeterminism } from "./determinism.ts";

// The stacks.
export { stackNamed, stackOf, stacks } from "./stacks.ts";

// Texts of a result.
export { renderVerdicts, renderVerification } from "./verification-text.ts";
