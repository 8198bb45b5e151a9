import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { Criterion } from "./acceptance.ts";
import { checkCommands } from "./commands.ts";
import type { StackName } from "./stack.ts";
import { runSuites } from "./suites.ts";
import type { Verdict, Verification } from "./verification.ts";

/** A project to verify. */
export interface VerifyRequest {
  /** The project's folder. */
  readonly root: string;
  /** Where all of its code runs. One that refuses proves nothing. */
  readonly sandbox: Sandbox;
  readonly criteria: readonly Criterion[];
  /** The stack of the project; with it, what every project of the stack has is expected. */
  readonly stack?: StackName | undefined;
  /** Paths that must be there and not empty. */
  readonly planned?: readonly string[] | undefined;
  /**
   * `criteria`: the criteria alone. `syntax`: the syntax of the files alone. `quick`: syntax, tests, criteria and plan. `whole`: also the
   * commands of the README, and whether the tests can fail.
   */
  readonly depth: "criteria" | "syntax" | "quick" | "whole";
  /** Milliseconds for the tests of one language. Default 60,000. A criterion has a quarter of it. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hears what is done now, as a line for a screen. */
  readonly progress?: ((line: string) => void) | undefined;
}

const verifyRequest: Known<VerifyRequest> = {
  root: true,
  sandbox: true,
  criteria: true,
  stack: true,
  planned: true,
  depth: true,
  timeout: true,
  signal: true,
  progress: true,
};

/** Milliseconds for the tests of one language, and the share of it for one criterion. */
const VERIFY_TIMEOUT = 60_000;
const CRITERION_SHARE = 0.25;

/**
 * Runs a project in the sandbox and tells what it proves, without a model. The project itself stays unchanged, and the result for one state of a
 * project is plain JSON without times and temporary paths.
 *
 * @throws ControlError when the signal aborts.
 * @throws WorkspaceError when the project cannot be read.
 */
export async function verifyProject(request: VerifyRequest): Promise<Verification> {
  checkKnownOptions("verifyProject", request, verifyRequest);
  const { root, sandbox, criteria, depth, timeout = VERIFY_TIMEOUT, signal, progress } = request;
  const refusal = await refusalOf(request);
  if (refusal !== undefined) {
    const verdicts = criteria.map((criterion) => judgedOrNot(criterion, refusal));
    return { verdicts, suites: [], faults: [], notChecked: refusal };
  }
  if (depth === "syntax") return { verdicts: [], suites: [], faults: [] };
  progress?.("runs the tests");
  const suites = depth === "criteria" ? [] : await runSuites({ root, sandbox, timeout, signal });
  progress?.("checks the criteria");
  const commands = await checkCommands({ root, sandbox, criteria, timeout: timeout * CRITERION_SHARE, signal });
  const verdicts = criteria.map(
    (criterion) =>
      (criterion.check.kind === "command" ? commands.shift() : undefined) ??
      judgedOrNot(criterion, "No check of this kind can be run here."),
  );
  return {
    verdicts,
    suites,
    faults: [],
  };
}

/** Why nothing can be run; undefined when something can. */
async function refusalOf({ root, sandbox, signal }: VerifyRequest): Promise<string | undefined> {
  if (sandbox.kind !== "refused") return undefined;
  const result = await sandbox.run({ root, command: ["node", "--version"], signal });
  return result.kind === "refused" ? `${result.reason}. ${result.hint}`.trim() : undefined;
}

function judgedOrNot({ id, priority, check }: Criterion, reason: string): Verdict {
  return check.kind === "judgement"
    ? { id, priority, outcome: "judged", by: "judgement", evidence: check.reason }
    : { id, priority, outcome: "not checked", by: "nothing", evidence: reason };
}
