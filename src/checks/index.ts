/** Checks that run: acceptance criteria, tests, and what a project proves. Published as `troupe/checks`. */

export type { Acceptance, Check, Criterion } from "./acceptance.ts";
export { AcceptanceSchema, CheckSchema, CriterionSchema } from "./acceptance.ts";
export { type Fault, isProven, isRed, type SuiteReport, type Verdict, type Verification } from "./verification.ts";
export { renderVerdicts, renderVerification } from "./verification-text.ts";
export { type Stack, stackNamed, type StackName, stackOf, stacks } from "./stacks.ts";
export { type VerifyRequest, verifyProject } from "./verify.ts";
export { VerificationCache, type Verifier } from "./verification-cache.ts";
export { findVacuous } from "./vacuous.ts";
export { installPackages, type InstallReport } from "./install.ts";
export { missingPageMeans } from "./chromium.ts";
export { type DeterminismFault, findNondeterminism } from "./determinism.ts";
