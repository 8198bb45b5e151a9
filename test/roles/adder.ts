import type { Criterion } from "../../src/checks/index.ts";
import type { ChatRequest, ToolCall } from "../../src/index.ts";
import { type ScriptedModel, scriptedModel, type ScriptedReply } from "../../src/testing/index.ts";

/** Answers by the name of the role, in the order of its calls. */
export type RoleScript = Readonly<Record<string, readonly ScriptedReply[]>>;

/**
 * A model that answers each role from its own list, whatever the order of the roles.
 *
 * @param heard is called with each request before it is answered
 */
export function roleModel(script: RoleScript, heard: (request: ChatRequest) => unknown = () => undefined): ScriptedModel {
  const counts = new Map<string, number>();
  return scriptedModel(
    async (request) => {
      await heard(request);
      if (/^# Derive$/m.test(String(request.messages.at(-1)?.content))) return '{"outputs":[]}';
      const role = roleIn(request);
      const count = counts.get(role) ?? 0;
      counts.set(role, count + 1);
      const reply = script[role]?.[count];
      if (reply === undefined)
        throw new Error(
          `The script has no reply ${count + 1} for ${role}, whose last message is: ${String(request.messages.at(-1)?.content)}`,
        );
      return reply;
    },
    { id: "roles", price: { input: 1, output: 4 } },
  );
}

/** The name in the introduction of a role, or at the end of its task. */
export function roleIn({ messages }: ChatRequest): string {
  const [system = "", task = ""] = messages.map(({ content }) => String(content));
  return (/\n## Your role\n.*? named (\w+)/.exec(task) ?? /named (\w+)/.exec(system))?.[1] ?? "";
}

let calls = 0;

/** A reply that calls tools, one after another. */
export function calling(...named: readonly (readonly [string, unknown])[]): ScriptedReply {
  const toolCalls = named.map(([name, args]): ToolCall => ({
    id: `call-${++calls}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { content: "", toolCalls, finishReason: "tool_calls" };
}

/** The criteria of a command that adds two numbers. */
export const criteria: readonly Criterion[] = [
  {
    id: "A1",
    priority: "P0",
    given: "two numbers",
    when: "the command runs",
    then: "it prints the sum",
    check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: "5" } }] },
  },
  {
    id: "A2",
    priority: "P1",
    given: "a word",
    when: "the command runs",
    then: "it fails and names the word",
    check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "x"], exit: "failure", stderr: { contains: ["x"] } }] },
  },
];

/** A product manager's answer for the adder. */
export function brief(size: "S" | "M" | "L", more: object = {}): string {
  const base = { speech: "It is small.", name: "adder", size, stack: "node", assumptions: ["Numbers are decimal."], questions: [] };
  return JSON.stringify({ ...base, criteria, ...more });
}

const CLI = `#!/usr/bin/env node
import { add } from "./add.mjs";

const words = process.argv.slice(2);
const wrong = words.find((word) => Number.isNaN(Number(word)));
if (words.length !== 2 || wrong !== undefined) {
  console.error(\`Expected two numbers, got \${wrong ?? words.length}\`);
  process.exitCode = 1;
} else {
  console.log(add(Number(words[0]), Number(words[1])));
}
`;

const TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { add } from "../src/add.mjs";

test("A1: adds", () => assert.equal(add(2, 3), 5));
`;

/** The function of the adder, with its body. */
export function adding(body: string): { readonly path: string; readonly content: string } {
  return { path: "src/add.mjs", content: `/** The sum of two numbers. */\nexport function add(a, b) {\n  ${body}\n}\n` };
}

/** The adder's test. */
export const test = { path: "tests/add.test.mjs", content: TEST };

/** The files of the adder but its function and its test. */
export const around = [
  {
    path: "package.json",
    content:
      '{ "name": "adder", "version": "1.0.0", "type": "module", "bin": { "adder": "src/cli.mjs" }, "scripts": { "test": "node --test" } }\n',
  },
  { path: "README.md", content: "# adder\n\nAdds two numbers.\n\n## Use\n\n```sh\nnode src/cli.mjs 2 3\n```\n" },
  { path: "src/cli.mjs", content: CLI },
];

export const RIGHT = "return a + b;";
export const WRONG = "return a - b;";

/** A review that has nothing to say. */
export const accepted = JSON.stringify({ reasons: "It adds, and refuses words.", judgements: [], complaints: [], accepts: true });
