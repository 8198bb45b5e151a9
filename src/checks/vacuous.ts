import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ioError } from "../workspace/folders.ts";
import { temporaryFolder } from "../workspace/project-copy.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { type Criterion, criteriaShape } from "./acceptance.ts";
import { checkCommands } from "./commands.ts";
import { checkPages } from "./page-check.ts";

/** Criteria that may hold without any product. */
export interface VacuousRequest {
  readonly sandbox: Sandbox;
  readonly criteria: readonly Criterion[];
  /** Milliseconds for all the commands of one criterion. Default 15,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const vacuousRequest: Known<VacuousRequest> = {
  sandbox: kinds.sandbox,
  criteria: criteriaShape,
  timeout: kinds.milliseconds,
  signal: kinds.signal,
};

/** A project without code, whose tests fail: a runner that finds none would succeed. */
const NOTHING: Readonly<Record<string, string>> = {
  "nothing.test.mjs": 'import { test } from "node:test";\ntest("nothing", () => {\n  throw new Error("nothing is here");\n});\n',
  "test_nothing.py":
    'import unittest\n\n\nclass Nothing(unittest.TestCase):\n    def test_nothing(self):\n        self.fail("nothing is here")\n',
};

const EMPTY_PAGE = "<!doctype html><html><head><title>Nothing</title></head><body><p>Nothing is here.</p></body></html>";

/**
 * Finds criteria that hold without the project, such as `node --version`, and returns their ids. Steps on a page are played on one that has
 * nothing, where there is a browser.
 *
 * @throws ControlError when the signal aborts; UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`; WorkspaceError
 */
export async function findVacuous(request: VacuousRequest): Promise<string[]> {
  checkGivenOptions("findVacuous", request, vacuousRequest);
  takes("findVacuous", "criteria", request.criteria, criteriaShape);
  const { criteria, sandbox, timeout, signal } = request;
  if (criteria.every(({ check }) => check.kind === "judgement")) return [];
  const { path: root, remove } = temporaryFolder("troupe-nothing-");
  try {
    for (const [name, text] of Object.entries(NOTHING)) await writeFile(join(root, name), text);
    const commands = await checkCommands({ root, sandbox, criteria, timeout, signal });
    const hasPages = criteria.some(({ check }) => check.kind === "page");
    if (hasPages) await writeFile(join(root, "index.html"), EMPTY_PAGE);
    // Nothing on this page changes, so there is nothing to wait for.
    const pages = hasPages ? (await checkPages({ root, sandbox, criteria, times: { wait: 0 }, signal })).verdicts : [];
    const held = new Set([...commands, ...pages].filter(({ outcome }) => outcome === "proven").map(({ id }) => id));
    return criteria.filter(({ id }) => held.has(id)).map(({ id }) => id);
  } catch (error) {
    throw ioError(error, "make a folder without a project", root);
  } finally {
    await remove();
  }
}
