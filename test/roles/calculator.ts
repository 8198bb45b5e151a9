import type { OpenAIBody, StubAnswer } from "../../src/testing/stub-reply.ts";
import { accepted, brief } from "./adder.ts";

/*
 * A product of size L, with answers that depend on the conversation alone, so that no process needs to know of another: two functions, one that
 * needs both, and a command.
 */

interface OwnFile {
  readonly path: string;
  readonly content: string;
}

const STUB = 'throw new Error("not written");';
const BOTH = 'import { add } from "./add.mjs";\nimport { times } from "./times.mjs";\n\n';

function code(name: string, body: string, imports = ""): OwnFile {
  return { path: `src/${name}.mjs`, content: `${imports}/** A part. */\nexport function ${name}(a, b) {\n  ${body}\n}\n` };
}

function testOf(name: string, expected: number): OwnFile {
  const imports = `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { ${name} } from "../src/${name}.mjs";\n`;
  return { path: `tests/${name}.test.mjs`, content: `${imports}\ntest("A1: ${name}", () => assert.equal(${name}(2, 3), ${expected}));\n` };
}

const command = 'import { calc } from "./calc.mjs";\n\nconsole.log(calc(...process.argv.slice(2).map(Number)));\n';
const readme = { path: "README.md", content: "# calc\n\nIt calculates.\n\n## Use\n\n```sh\nnode src/cli.mjs 2 3\n```\n" };
const interfaces = [
  code("add", STUB),
  code("times", STUB),
  code("calc", STUB, BOTH),
  { path: "src/cli.mjs", content: command },
  { path: "package.json", content: '{ "name": "calc", "type": "module", "scripts": { "test": "node --test" } }\n' },
];
const parts = new Map([
  ["sum", code("add", "return a + b;")],
  ["product", code("times", "return a * b;")],
  ["whole", code("calc", "return add(a, b) + times(a, b);", BOTH)],
]);
const check = { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: "11" } }] };
const criteria = [{ id: "A1", priority: "P0", given: "numbers", when: "it runs", then: "it calculates", check }];
const tasks = [
  { id: "sum", title: "Write the sum", owns: ["src/add.mjs"], tests: ["tests/add.test.mjs"] },
  { id: "product", title: "Write the product", owns: ["src/times.mjs"], tests: ["tests/times.test.mjs"] },
  { id: "whole", title: "Write the whole", owns: ["src/calc.mjs"], tests: ["tests/calc.test.mjs"], needs: ["sum", "product"] },
];

function writing(...files: readonly OwnFile[]): StubAnswer {
  const calls = [
    { name: "read_files", args: { paths: files.map(({ path }) => path) } },
    { name: "write_files", args: { files } },
    { name: "done", args: { summary: "It is done." } },
  ];
  return { toolCalls: calls.map(({ name, args }, n) => ({ id: `call_${n}`, name, arguments: JSON.stringify(args) })) };
}

/** The answer to a conversation with a role of the software company. */
export function calculatorAnswer(messages: OpenAIBody["messages"]): string | StubAnswer {
  const text = messages.map(({ content }) => (typeof content === "string" ? content : "")).join("\n");
  const role = (/\n## Your role\n.*? named (\w+)/.exec(text) ?? /named (\w+)/.exec(text))?.[1] ?? "";
  const task = /## Your task\n(\w+):/.exec(text)?.[1] ?? "";
  switch (role) {
    case "Alice":
      return brief("L", { name: "calc", criteria });
    case "Bob":
      return JSON.stringify({
        approach: "Two functions, one that needs both, and a command.",
        files: interfaces.map(({ path, content }) => ({ path, purpose: path, code: content })),
      });
    case "Edward":
      return writing(testOf("add", 5), testOf("times", 6), testOf("calc", 11));
    case "Eve":
      return JSON.stringify({ tasks });
    case "Vera":
      return accepted;
    case "Alex":
      return writing(readme);
    default:
      return writing(parts.get(task) as OwnFile);
  }
}
