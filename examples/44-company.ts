// The software company makes a program and proves it. A small server of the test kit stands in for OpenAI's: it has the words of three roles. The
// checks, the tests and the verdicts are real.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openai, Team, usd } from "troupe";
import { renderVerdicts } from "troupe/checks";
import { companyRounds, DeliverySchema, softwareCompany } from "troupe/roles";
import { openaiStub } from "troupe/testing";
import { chooseSandbox, openWorkspace } from "troupe/workspace";

const program = `const [name] = process.argv.slice(2);
if (name === undefined) {
  console.error("Expected a name: node greet.mjs Ada");
  process.exitCode = 2;
} else console.log(\`Hello, \${name}!\`);
`;
const test = `import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

test("greets", () => assert.match(execFileSync("node", ["greet.mjs", "Ada"], { encoding: "utf8" }), /Ada/));
`;
const readme = "# greeter\n\nGreets a person.\n\n```sh\nnode greet.mjs Ada\n```\n";
const files = [
  { path: "greet.mjs", content: program },
  { path: "greet.test.mjs", content: test },
  { path: "package.json", content: '{ "name": "greeter", "type": "module", "scripts": { "test": "node --test" } }\n' },
  { path: "README.md", content: readme },
];
const criterion = (id: string, given: string, then: string, steps: object[]) => {
  return { id, priority: "P0", given, when: "the program runs", then, check: { kind: "command", steps } };
};
const criteria = [
  criterion("A1", "a name", "it greets", [{ run: ["node", "greet.mjs", "Ada"], stdout: { contains: ["Ada"] } }]),
  criterion("A2", "no name", "it fails", [{ run: ["node", "greet.mjs"], exit: "failure", stderr: { contains: ["name"] } }]),
];
const brief = { speech: "It is one file.", name: "greeter", size: "S", stack: "node", assumptions: [], questions: [], criteria };
const review = { reasons: "It greets.", judgements: [], complaints: [], accepts: true };
const server = await openaiStub({
  handler: ({ messages }) => {
    const said = JSON.stringify(messages);
    if (said.includes("a Product Manager, named")) return JSON.stringify(brief);
    if (said.includes("a Verifier, named")) return JSON.stringify(review);
    const calls = { write_files: { files }, done: { summary: "It greets, and has a test." } };
    return { toolCalls: Object.entries(calls).map(([name, given]) => ({ name, arguments: JSON.stringify(given) })) };
  },
});
process.env["TROUPE_BASE_URL"] = server.url;

// #region company
const folder = await mkdtemp(join(tmpdir(), "greeter-"));
const workspace = await openWorkspace({ root: folder });
const roles = softwareCompany({ workspace, sandbox: await chooseSandbox("auto") });
const team = new Team({ roles, model: openai({ model: "gpt-5-mini" }), budget: usd(1) });

const { output } = await team.run("A command that greets a person by name", { rounds: companyRounds() }).result;
const { isDone, verification } = DeliverySchema.parse(output?.instructContent);
for (const line of renderVerdicts(verification.verdicts)) console.log(line);
console.log(isDone ? "done" : `not done: ${verification.notChecked}`);
// #endregion
await server.close();
delete process.env["TROUPE_BASE_URL"];
await rm(folder, { recursive: true });
