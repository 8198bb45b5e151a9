import { aText, listOf, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { visible } from "../workspace/path-rules.ts";
import type { Criterion } from "./acceptance.ts";

export const stackNames = ["node", "page", "python", "other"] as const;

/** The name of a stack. */
export type StackName = (typeof stackNames)[number];

/** A technology that projects are written in: everything the company knows about it. Plain data. */
export interface Stack {
  readonly name: StackName;
  readonly description: string;
  readonly rules: readonly string[];
  readonly layout: readonly string[];
  readonly testPath: string;
  /** An example of the command by which a user starts a product; undefined where a user opens a file. */
  readonly start?: readonly [string, ...string[]] | undefined;
  /** Undefined where packages of it cannot be installed. */
  readonly install?: readonly [string, ...string[]] | undefined;
  readonly page?: string | undefined;
}

const nodeStack: Stack = {
  name: "node",
  description: "JavaScript on Node.js: a command, a library or a server",
  rules: [
    'Write JavaScript for Node.js 20 as ES modules. Files end in .mjs, or in .js where package.json has "type": "module". Relative imports have the file\'s ' +
      "ending; built-in modules have the prefix node:. Use no package of npm unless the task says that packages may be installed.",
    'package.json has "name", "version", "type": "module" and "scripts": { "start": "node src/cli.mjs", "test": "node --test" }. A command has ' +
      '"bin": { "<name>": "src/cli.mjs" }, and that file begins with #!/usr/bin/env node. A library has "exports" instead.',
    "Logic stands in modules under src/ that do nothing when they are imported. src/cli.mjs reads arguments, standard input and files, calls them, and " +
      "prints. Results go to stdout. A wrong use prints one line to stderr, no stack trace, and ends with an exit code other than 0, by process.exitCode. " +
      "The program ends by itself and asks nothing unless the requirement says so.",
    "Tests stand in tests/<module>.test.mjs and use node:test and node:assert/strict. They import the modules they test. Each test asserts something that " +
      "would fail if the code were wrong; none is skipped. They need no network and no present time, and write only below fs.mkdtempSync(path.join(os.tmpdir(), " +
      '"t-")). A test of the command runs it with spawnSync(process.execPath, [fileURLToPath(new URL("../src/cli.mjs", import.meta.url)), ...]).',
    "No TypeScript unless the user asks for it: Node.js runs it only from 22.18 on.",
    'README.md has a section "Use" with a fenced block of sh. Each line of it is one command that works as written in the project\'s folder and ends with exit code 0, without a ' +
      "pipe; blocks of text and console are tried too; an example file that it names is part of the project.",
  ],
  layout: ["package.json", "README.md"],
  testPath: "tests/list.test.mjs",
  start: ["node", "src/cli.mjs"],
  install: ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"],
};

const pageStack: Stack = {
  name: "page",
  description: "a page in a browser: HTML, CSS and JavaScript that work when index.html is opened from the disk, without a server",
  rules: [
    "index.html works when it is opened from the disk (file://), without a server, a build step or the network: no CDN, no web font, no fetch of a file. " +
      "Styles stand in styles.css, scripts under src/; index.html names all of them by relative paths. Where the user wants one file, they stand in index.html.",
    'Scripts are classic scripts at the end of the body: <script src="src/cards.js"></script>, in the order in which they need each other. Never write ' +
      'type="module", import or export in a file that the page loads: browsers refuse modules from the disk. Classic scripts share one global scope, so each file ' +
      "wraps its code in (() => { ... })();, or a name that two files declare stops the page.",
    "Logic without the DOM stands in files of its own, which run in the page and in Node.js alike: they add their functions to one global object, as in " +
      "globalThis.Kanban = { ...globalThis.Kanban, moveCard }; and never touch document, window or localStorage. src/app.js, which is loaded last, connects " +
      "them with the DOM.",
    "State that outlives a reload is kept in localStorage. Reading it expects that it is missing, broken or refused, and begins with an empty state then. Text of " +
      "users enters the page by textContent or value, never by innerHTML.",
    "Every element that a person uses has an id or a data-testid, and a label or visible text: checks find elements by CSS selectors and by their text. What can " +
      "be dragged can also be done by a button or a key.",
    "Tests of the logic stand in tests/<file>.test.mjs and use node:test and node:assert/strict. They load a script for its effect, import " +
      '"../src/cards.js", and call globalThis.Kanban.moveCard(...). Each test asserts something that would fail if the code were wrong; none is skipped. They need ' +
      'no DOM. package.json has "private": true and "scripts": { "test": "node --test" }, and no "type".',
    'README.md says in a section "Use" that index.html is to be opened, and what can be done there.',
  ],
  layout: ["index.html", "README.md"],
  testPath: "tests/cards.test.mjs",
  install: ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"],
  page: "index.html",
};

const pythonStack: Stack = {
  name: "python",
  description: "Python 3: a command, a library, work with data or text",
  rules: [
    "Write Python 3.9 or later, or the version that the user names, with type hints. Use only the standard library unless the task says that packages may be installed.",
    "Where the user names a file, such as count.py, the program is that file with a def main() in the root. Else the project is one package in a folder of its own: <name>/__init__.py, <name>/<module>.py, and <name>/__main__.py, so that " +
      "python3 -m <name> runs it from the root. Modules import each other by the package's name, from <name>.parse import parse. A package has pyproject.toml with " +
      '[project] with name, version and requires-python = ">=3.9", and for a command [project.scripts] with <name> = "<name>.__main__:main".',
    "Logic stands in modules that do nothing when they are imported. __main__.py has def main() -> int, which reads sys.argv by argparse, calls the logic, prints and " +
      'returns the exit code, and ends with if __name__ == "__main__": sys.exit(main()). Results go to stdout. A wrong use prints what is wrong to stderr, as argparse does, no ' +
      "traceback, and ends with an exit code other than 0.",
    "Tests stand in tests/test_<module>.py, as methods of classes of unittest.TestCase: the standard library alone must be enough to run them, by " +
      "python3 -m unittest discover -s tests from the root, so they do not import pytest, unless the user or the project uses it. Each asserts something that would fail if the code were wrong; none is " +
      "skipped or expected to fail. They need no network and no present time, and write only below a tempfile.TemporaryDirectory(). " +
      'A test of the command runs subprocess.run([sys.executable, "-m", "<name>", ...], capture_output=True, text=True).',
    'README.md has a section "Use" with a fenced block of sh. Each line of it is one command that works as written in the project\'s folder and ends with exit code 0, such as ' +
      "python3 -m <name> example.csv, without a pipe; blocks of text and console are tried too; an example file that it names is part of the project.",
  ],
  layout: ["README.md"],
  testPath: "tests/test_parse.py",
  start: ["python3", "-m", "name"],
  install: ["python3", "-m", "pip", "install", "--target", ".packages", "-r", "requirements.txt"],
};

const otherStack: Stack = {
  name: "other",
  description: "any other language, such as Go, Rust or C, whose tests one command runs",
  rules: [
    "Write in the language that the user or the project names, with its usual layout and tools. Use only its standard library unless the project has packages already: there is no network.",
    "A file of the project names the one command that runs all tests: go.mod (go test ./...), Cargo.toml (cargo test), a target test in a Makefile, a recipe test in a justfile, a script test in package.json. Where the product must be built first, a target, recipe or script build does it. A command succeeds with exit code 0 only.",
    "Each test asserts something that would fail if the code were wrong; none is skipped. They need no network and no present time, and write only to temporary folders.",
    'README.md has a section "Use" with a fenced block of sh that shows how to build and to start it.',
  ],
  layout: ["README.md"],
  testPath: "a target test in a Makefile",
};

/** The stacks that projects can be written in, the most general first. */
export const stacks: readonly Stack[] = [nodeStack, pageStack, pythonStack, otherStack];

/** The stacks of a product: its own, and a page beside it where a criterion opens one. */
export function partsOf({ stack, criteria }: { readonly stack: StackName; readonly criteria: readonly Criterion[] }): readonly Stack[] {
  const hasPage = stack !== "page" && criteria.some(({ check }) => check.kind === "page");
  return [stackNamed(stack), ...(hasPage ? [pageStack] : [])];
}

/** Returns the stack of a name. @throws UsageError `OPTION_INVALID` */
export function stackNamed(name: string): Stack {
  const found = stacks.find((stack) => stack.name === name);
  if (found !== undefined) return found;
  const known = stacks.map((stack) => stack.name).join(", ");
  throw new UsageError("OPTION_INVALID", `Expected the name of a stack (${known}), got "${visible(name, 60)}". Use one of these names.`);
}

/** Returns the stack that a project is written in, by its paths; undefined where none fits. @throws UsageError `ARGUMENT_INVALID` */
export function stackOf(files: readonly string[]): StackName | undefined {
  takes("stackOf", "files", files, listOf(aText));
  const isThere = new Set(files);
  const count = (ending: RegExp): number => files.filter((file) => ending.test(file)).length;
  const [python, script] = [count(/\.py$/), count(/\.[cm]?[jt]sx?$/)];
  if (isThere.has("pyproject.toml") || isThere.has("setup.py") || python > script) return "python";
  if (isThere.has("go.mod") || isThere.has("Cargo.toml")) return "other";
  if (isThere.has("index.html") && !files.some((file) => /(^|\/)(cli|server|main)\.[cm]?js$/.test(file))) return "page";
  if (isThere.has("package.json") || script > 0) return "node";
  return files.some((file) => /^(GNU)?[Mm]akefile$|^\.?[Jj]ustfile$/.test(file)) ? "other" : undefined;
}
