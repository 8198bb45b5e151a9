import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Script, type ScriptedRun, scriptedRun } from "../evaluation/scripted-company.ts";
import { type Acts, standIn } from "../workspace/coding-agent/stand-in.ts";
import { scratchFolder } from "../workspace/scratch.ts";

export const check = { kind: "command", steps: [{ run: ["node", "src/cli.mjs"], stdout: { equals: "ok\n" } }] };
export const criterion = { id: "A1", priority: "P0", given: "nothing", when: "it runs", then: "it says ok", check };
export const brief = { speech: "It is small.", name: "adder", size: "S", stack: "node", criteria: [criterion] };
export const script: Script = { manager: brief, engineer: [] };

/** A small product that says a word, with a test. */
export function product(said: string): Readonly<Record<string, string>> {
  const test = `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { word } from "../src/word.mjs";\n\n`;
  return {
    "package.json": '{ "name": "adder", "type": "module", "scripts": { "test": "node --test" } }\n',
    "README.md": "# Adder\n\n## Use\n\n```sh\nnode src/cli.mjs\n```\n",
    "src/word.mjs": `export const word = () => "${said}";\n`,
    "src/cli.mjs": 'import { word } from "./word.mjs";\n\nconsole.log(word());\n',
    "test/word.test.mjs": `${test}test("says a word", () => assert.equal(word(), "${said}"));\n`,
  };
}

/** A run with a stand-in as its worker. */
export interface Worked extends ScriptedRun {
  readonly cwd: string;
  readonly starts: ReturnType<typeof standIn>["starts"];
}

/** Runs `troupe run --worker` with a stand-in. */
export async function worked(
  acts: Acts | readonly Acts[],
  words: readonly string[] = [],
  more: { readonly cwd?: string; readonly protocol?: string; readonly script?: Script } = {},
): Promise<Worked> {
  const { cwd = scratchFolder(), protocol = "claude" } = more;
  const { command: line, variables, starts } = standIn(protocol, acts);
  const own = ["--worker", line.join(" "), "--worker-env", Object.keys(variables).join(","), "--allow-worker"];
  const run = await scriptedRun(cwd, "Say ok.", more.script ?? script, [...own, ...words], { env: variables });
  return { ...run, cwd, starts };
}

/** A repository of a user with a commit. */
export function userProject(cwd: string, files: Readonly<Record<string, string>>): string {
  const folder = join(cwd, "product");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const git = (...args: readonly string[]): unknown => execFileSync("git", ["-C", folder, ...args]);
  git("init", "-q");
  git("add", ".");
  git("-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "-qm", "Begin");
  return folder;
}
