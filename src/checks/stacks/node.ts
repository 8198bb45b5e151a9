import type { Stack } from "../stack.ts";

/** Commands, libraries and servers in JavaScript on Node.js. */
export const nodeStack: Stack = {
  name: "node",
  description: "JavaScript on Node.js: a command, a library or a server without a page",
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
    'README.md has a section "Use" with a fenced block of sh. Each line of it is one command that works as written in the project\'s folder, without a ' +
      "pipe; an example file that it names is part of the project.",
  ],
  layout: ["package.json", "README.md"],
  sources: [".mjs", ".js", ".cjs"],
  testPath: "tests/list.test.mjs",
  test: ["node", "--test"],
  start: ["node", "src/cli.mjs"],
  install: ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund"],
};
