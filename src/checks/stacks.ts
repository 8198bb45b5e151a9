import { aText, listOf, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Stack, StackName } from "./stack.ts";
import { nodeStack } from "./stacks/node.ts";
import { pageStack } from "./stacks/page.ts";
import { pythonStack } from "./stacks/python.ts";
import { visible } from "../workspace/path-rules.ts";

/** The stacks that projects can be written in, the most general first. */
export const stacks: readonly Stack[] = [nodeStack, pageStack, pythonStack];

/**
 * Returns the stack of a name.
 *
 * @throws UsageError `OPTION_INVALID` for a name that no stack has.
 */
export function stackNamed(name: string): Stack {
  const found = stacks.find((stack) => stack.name === name);
  if (found !== undefined) return found;
  const known = stacks.map((stack) => stack.name).join(", ");
  throw new UsageError("OPTION_INVALID", `Expected the name of a stack (${known}), got "${visible(name, 60)}". Use one of these names.`);
}

/**
 * Returns the stack that an existing project is written in, by the names of its files; undefined where none fits.
 *
 * @param files paths relative to the project
 * @throws UsageError `ARGUMENT_INVALID`
 */
export function stackOf(files: readonly string[]): StackName | undefined {
  takes("stackOf", "files", files, listOf(aText));
  const isThere = new Set(files);
  const count = (ending: RegExp): number => files.filter((file) => ending.test(file)).length;
  const [python, script] = [count(/\.py$/), count(/\.[cm]?[jt]sx?$/)];
  if (isThere.has("pyproject.toml") || isThere.has("setup.py") || python > script) return "python";
  if (isThere.has("index.html") && !files.some((file) => /(^|\/)(cli|server|main)\.[cm]?js$/.test(file))) return "page";
  return isThere.has("package.json") || script > 0 ? "node" : undefined;
}
