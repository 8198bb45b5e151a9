import { failingTests, type ProjectGate, testRequest } from "../../actions/company/project-gate.ts";
import { isTestPath, type WorkOrder } from "../../actions/company/work-order.ts";
import type { RoleContext } from "../../src/index.ts";
import { type FileWorkspace, fileWorkspace } from "../../src/workspace/index.ts";
import { copyProject } from "../../src/workspace/project-copy.ts";

interface OwnTests {
  readonly gate: ProjectGate;
  readonly fork: FileWorkspace;
  readonly order: Pick<WorkOrder, "failedBefore">;
  readonly others: readonly string[];
}

const FOLDER = /^(?:.*?\/)?(?:[Tt]ests?|__tests__|spec)\//;

/** Removes the tests of a worker that hide a failure of others': many runners load all tests into one process. Returns what was removed. */
export function removeMaskingTests(rc: RoleContext, { gate, fork, order, others }: OwnTests): Promise<readonly string[]> {
  const folders = new Set(others.map((path) => FOLDER.exec(path)?.[0]));
  const isOwn = (path: string): boolean => {
    const folder = FOLDER.exec(path)?.[0];
    return isTestPath(path) && !others.includes(path) && (folder === undefined || folders.has(folder));
  };
  const run = async ({
    signal,
    step,
  }: Pick<RoleContext["steps"], "step"> & { readonly signal: AbortSignal }): Promise<readonly string[]> => {
    const own = (await fork.list()).filter(isOwn);
    if (own.length === 0 || others.length === 0) return [];
    const failing = async (workspace: FileWorkspace): Promise<readonly string[]> => {
      const { suites } = await gate.at(workspace).check({ step }, testRequest(order));
      return failingTests({ suites: suites.filter(({ kind }) => kind === "failed") });
    };
    const copy = await copyProject(fork.root, { signal });
    try {
      const alone = fileWorkspace({ root: copy.project, git: false });
      for (const path of own) await alone.remove(path);
      const apart = await failing(alone);
      if (apart.length === 0) return [];
      const together = await failing(fork);
      // Once more, because a test may fail by chance.
      const again = apart.every((test) => together.includes(test)) ? [] : await failing(alone);
      if (!apart.some((test) => again.includes(test) && !together.includes(test))) return [];
    } finally {
      await copy.remove();
    }
    for (const path of own) await fork.remove(path);
    return own;
  };
  return rc.step("try tests of others alone", {}, run, { fresh: true });
}
