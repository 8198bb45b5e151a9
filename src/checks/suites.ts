import type { ProjectTests } from "../workspace/run-tests.ts";
import { runProjectTests } from "../workspace/run-tests.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { visible, visibleLines } from "../workspace/path-rules.ts";
import type { SuiteReport } from "./verification.ts";

/** A project whose tests to run. */
export interface SuitesRequest {
  /** The project's folder. */
  readonly root: string;
  readonly sandbox: Sandbox;
  /** Milliseconds for the tests of one language. Default 60,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Most failures of a report, and characters of the message of one. */
const MOST_FAILURES = 50;
const MESSAGE_LENGTH = 2_000;

/**
 * Runs all the tests of a project in the sandbox, in each language that it has tests in. The project itself stays unchanged.
 *
 * @returns a report for each language; empty where the project has no tests
 * @throws ControlError when the signal aborts.
 * @throws WorkspaceError when the project cannot be read.
 */
export async function runSuites({ root, sandbox, timeout, signal }: SuitesRequest): Promise<SuiteReport[]> {
  const javascript = await runProjectTests({
    root,
    sandbox,
    ...(timeout === undefined ? {} : { timeout }),
    ...(signal === undefined ? {} : { signal }),
  });
  return javascript.kind === "none" ? [] : [reportOf(javascript, javascript.kind)];
}

function reportOf(tests: ProjectTests, kind: SuiteReport["kind"]): SuiteReport {
  const { files, tests: total, passed, failed, skipped } = tests;
  const failures = tests.failures.slice(0, MOST_FAILURES).map(({ name, file, message }) => ({
    name: visible(name, 300),
    file,
    message: visibleLines(message, MESSAGE_LENGTH),
  }));
  const reason = reasonOf(tests);
  return { language: "javascript", kind, total, passed, failed, skipped, files, failures, ...(reason === undefined ? {} : { reason }) };
}

function reasonOf(tests: ProjectTests): string | undefined {
  if (tests.kind === "not run") return `${tests.reason}. ${tests.hint}`.trim();
  return tests.kind === "timeout" ? `They did not end within ${tests.ms} ms.` : undefined;
}
