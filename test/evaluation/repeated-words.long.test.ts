// @module-tag company
import { expect, it } from "vitest";
import { isolates } from "../checks/project.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { type Script, scriptedRun, writes } from "./scripted-company.ts";

/** Share of the prompts' characters that an earlier prompt had. A company that pastes every file everywhere came to 0.98. */
const MOST_REPEATED = 0.4;
/** Share of those that no provider can have cached. */
const MOST_PAID = 0.15;
const NUMBERS = Array.from({ length: 12 }, (_, n) => n + 1);

/** A module of about 60 lines, no line of which is like one of another module. */
function moduleOf(n: number): string {
  const cases = Array.from(
    { length: 55 },
    (_, row) => `  if (value === ${row}) return "${n}-${row}-${(n * 7_919 + row * 104_729) % 99_991}";`,
  );
  return `/** Names of kind ${n}. */\nexport function name${n}(value) {\n${cases.join("\n")}\n  throw new RangeError(\`${n} has no name for \${value}\`);\n}\n`;
}

const path = (n: number): string => `src/name-${n}.js`;
const stubOf = (n: number): string =>
  `/** Names of kind ${n}. */\nexport function name${n}(value) {\n  throw new Error(\`not written: \${value}\`);\n}\n`;
const testOf = (n: number): string => {
  const first = /return "(.*?)"/.exec(moduleOf(n))?.[1];
  return `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { name${n} } from "../src/name-${n}.js";\n\ntest("A1: kind ${n}", () => {\n  assert.equal(name${n}(0), "${first}");\n  assert.throws(() => name${n}(99), /no name/);\n});\n`;
};
const main = `${NUMBERS.map((n) => `import { name${n} } from "./${path(n)}";`).join("\n")}\n\nconst names = [${NUMBERS.map((n) => `name${n}`).join(", ")}];\nconsole.log(names.map((name) => name(0)).join(" "));\n`;
const other = {
  "package.json":
    '{ "name": "names", "version": "1.0.0", "type": "module", "bin": { "names": "names.js" }, "scripts": { "test": "node --test" } }\n',
  "README.md": "# names\n\n## Use\n\n```sh\nnode names.js\n```\n",
};
const all = (numbers: readonly number[], text: (n: number) => string, where: (n: number) => string): Record<string, string> =>
  Object.fromEntries(numbers.map((n) => [where(n), text(n)]));

const script: Script = {
  manager: {
    speech: "Twelve tables.",
    name: "names",
    size: "M",
    stack: "node",
    assumptions: [],
    questions: [],
    criteria: [
      {
        id: "A1",
        priority: "P0",
        given: "the command",
        when: "it runs",
        then: "it prints twelve names",
        check: { kind: "command", steps: [{ run: ["node", "names.js"], stdout: { matches: "^1-0-\\d+ .* 12-0-\\d+$" } }] },
      },
    ],
  },
  architect: {
    approach: "One table in each file.",
    files: [
      ...NUMBERS.map((n) => ({ path: path(n), purpose: `names of kind ${n}`, code: stubOf(n) })),
      { path: "names.js", purpose: "the command", code: main },
      { path: "package.json", purpose: "the package", code: other["package.json"] },
    ],
    tasks: [],
  },
  qa: [writes(all(NUMBERS, testOf, (n) => `test/name-${n}.test.js`))],
  engineer: [
    writes({ ...all(NUMBERS.slice(0, 6), moduleOf, path), ...other }, ...NUMBERS.slice(0, 6).map(path)),
    writes(all(NUMBERS.slice(6), moduleOf, path), ...NUMBERS.slice(6).map(path)),
  ],
};

it.runIf(isolates)("in a project of twelve files, few of the paid words are repeats", async () => {
  const { result, all: requests } = await scriptedRun(
    scratchFolder(),
    "A command names.js that prints twelve names, each from a table of its own.",
    script,
  );
  const { repeatedShares } = (await import("../../evaluation/answers.mjs" as string)) as {
    readonly repeatedShares: (bodies: readonly OpenAIBody[]) => { readonly repeated: number; readonly paid: number };
  };
  expect(result).toMatchObject({ exitCode: 0 });
  const { repeated, paid } = repeatedShares(requests);
  expect(repeated).toBeLessThan(MOST_REPEATED);
  expect(paid).toBeLessThan(MOST_PAID);
  expect(requests.length).toBeLessThanOrEqual(8);
});
