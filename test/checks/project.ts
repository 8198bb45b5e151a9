import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CommandStep, Criterion, GivenFile } from "../../src/checks/acceptance.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import type { Sandbox } from "../../src/workspace/sandbox.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const bubblewrap = await chooseSandbox("auto");
/** False where generated code cannot be isolated; then the tests that need it do not run, and say so. */
export const isolates: boolean = bubblewrap.kind === "bubblewrap";
if (!isolates) process.stderr.write(`\nChecks are tested without isolation only: ${bubblewrap.describe}\n`);

/** The sandbox for most tests: bubblewrap where there is one. */
export const sandbox: Sandbox = isolates ? bubblewrap : await chooseSandbox("none");

/** All sandboxes of this machine, with their names. */
export const sandboxes: readonly [string, Sandbox][] = [
  ...(isolates ? [["bubblewrap", bubblewrap] as [string, Sandbox]] : []),
  ["no isolation", await chooseSandbox("none")],
];

const python = await sandbox.run({ root: scratchFolder(), command: ["python3", "-c", "import pytest"] });
/** False where the sandbox cannot run Python, and where it cannot run tests of pytest. */
export const hasPython: boolean = python.kind === "exited" && [0, 1].includes(python.code);
export const hasPytest: boolean = python.kind === "exited" && python.code === 0;
if (!hasPytest) process.stderr.write("\nThe sandbox has no python3 with pytest (apt-get install python3-pytest)\n");

/** Returns the folder of a new project with these files. */
export function projectOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = scratchFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

/** A criterion with a command check of these steps. */
export function criterionOf(id: string, steps: readonly CommandStep[], given?: readonly GivenFile[]): Criterion {
  return {
    id,
    priority: "P0",
    given: "",
    when: "",
    then: "",
    check: { kind: "command", steps, ...(given === undefined ? {} : { given }) },
  };
}
