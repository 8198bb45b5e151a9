/** Checks that run: acceptance criteria, tests, and what a project proves. Published as `troupe/checks`. */

export type { Acceptance, Criterion } from "./acceptance.ts";
export { AcceptanceSchema, CriterionSchema } from "./acceptance.ts";
export { isProven, type Verdict, type Verification } from "./verification.ts";
export { renderVerdicts, renderVerification } from "./verification-text.ts";
export { type Stack, stackNamed, type StackName, stackOf, stacks } from "./stacks.ts";
export { verifyProject } from "./verify.ts";
export { VerificationCache, type Verifier } from "./verification-cache.ts";
export { findVacuous } from "./vacuous.ts";
export { installPackages } from "./install.ts";
export { missingPageMeans } from "./chromium.ts";
export { findNondeterminism } from "./determinism.ts";
