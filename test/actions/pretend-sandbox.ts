import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseSandbox, type Sandbox, type SandboxRequest, type SandboxResult, type Workspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";

/** The outcome of one pretended run of the tests: good, or with a failure that says something. */
export type Pretended = "passed" | { readonly failing: string };

/**
 * A sandbox that pretends: whatever the project is, its one test file, `tests/greet.test.mjs`, goes as it is told. What the test runner
 * says then is real, but said once and remembered, so that many runs cost the time of one.
 */
export function pretendSandbox(judge: (run: number) => Pretended | Promise<Pretended>): Sandbox & { readonly runs: number } {
  const sandbox = {
    kind: "none" as const,
    describe: "a pretence",
    runs: 0,
    run: async (request: SandboxRequest): Promise<SandboxResult> => {
      sandbox.runs += 1;
      const went = await judge(sandbox.runs);
      const key = JSON.stringify([went, request.command]);
      const known = remembered.get(key) ?? pretendedRun(went, request);
      remembered.set(key, known);
      return known;
    },
  };
  return sandbox;
}

const remembered = new Map<string, Promise<SandboxResult>>();

async function pretendedRun(went: Pretended, request: SandboxRequest): Promise<SandboxResult> {
  const body = went === "passed" ? "" : `throw new Error(${JSON.stringify(went.failing)});`;
  const root = folderWithTests(`import { test } from "node:test";\ntest("greets by name", () => {\n  ${body}\n});\n`);
  return (await chooseSandbox("none")).run({ ...request, root });
}

/** A folder with nothing in it but the test file of the small project. */
export function folderWithTests(content = ""): string {
  const root = scratchFolder();
  mkdirSync(join(root, "tests"));
  writeFileSync(join(root, "tests/greet.test.mjs"), content);
  return root;
}

/** A sandbox in which every command ends in the given way. */
export function endingSandbox(result: SandboxResult, kind: Sandbox["kind"] = "none"): Sandbox {
  return { kind, describe: "nothing is run", run: () => Promise.resolve(result) };
}

/** The workspace with another root: a folder that has files for those who look at the disk. */
export function rootedAt<W extends Workspace>(workspace: W, root: string): W {
  return new Proxy(workspace, {
    get: (target, key) => {
      if (key === "root") return root;
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === "function" ? (member as (...args: unknown[]) => unknown).bind(target) : member;
    },
  });
}
