// Acceptance criteria run against a project, without a model and without a key. The last region lets the software company make a project.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openai, Team, usd } from "troupe";
import { AcceptanceSchema, isProven, renderVerdicts, verifyProject } from "troupe/checks";
import { companyRounds, type Delivery, DeliverySchema, softwareCompany } from "troupe/roles";
import { sqlite } from "troupe/sqlite";
import { chooseSandbox, openWorkspace } from "troupe/workspace";

// #region project
const root = await mkdtemp(join(tmpdir(), "greeter-"));
const program = `const [name] = process.argv.slice(2);
if (name === undefined) {
  console.error("greet: expected a name");
  process.exitCode = 2;
} else console.log(\`Hello, \${name}!\`);
`;
await writeFile(join(root, "greet.mjs"), program);
// #endregion

// #region criteria
const { criteria } = AcceptanceSchema.parse({
  assumptions: ["The greeting is in English."],
  criteria: [
    {
      id: "A1",
      priority: "P0",
      given: "a name",
      when: "the program runs",
      then: "it greets, and without a name it fails",
      check: {
        kind: "command",
        steps: [
          { run: ["node", "greet.mjs", "Ada"], stdout: { equals: "Hello, Ada!" } },
          { run: ["node", "greet.mjs"], exit: "failure", stderr: { contains: "expected a name" } },
        ],
      },
    },
    {
      id: "A2",
      priority: "P2",
      given: "a greeting",
      when: "a person reads it",
      then: "it sounds friendly",
      check: { kind: "judgement", reason: "A tone cannot be run." },
    },
  ],
});
// #endregion

// #region verify
const sandbox = await chooseSandbox("auto"); // bubblewrap; where that does not work, it refuses to run anything
const verification = await verifyProject({ root, sandbox, criteria, depth: "criteria" });
for (const line of renderVerdicts(verification.verdicts)) console.log(line);
// A1 P0 proven: 2 commands, the last node greet.mjs: exit code 2 and output as expected
// A2 P2 judged: A tone cannot be run.
console.log(verification.notChecked === undefined ? `proven: ${isProven(verification)}` : `not checked: ${verification.notChecked}`);
// #endregion
await rm(root, { recursive: true });

// #region company
/** Lets the company make a project in an empty folder. */
export async function develop(idea: string, folder: string): Promise<Delivery> {
  const company = softwareCompany({
    workspace: await openWorkspace({ root: folder }),
    sandbox: await chooseSandbox("auto"),
    size: "M", // leave it out, and the product manager decides
  });
  const journal = sqlite({ path: `${folder}.db` });
  const team = new Team({ roles: company, model: openai({ model: "gpt-5-mini" }), journal, budget: usd(1) });
  const result = await team.run(idea, { rounds: companyRounds() }).result;
  const delivery = result.messages.findLast(({ instructContent }) => DeliverySchema.safeParse(instructContent).success);
  if (delivery === undefined) throw result.error ?? new Error(`There is no delivery: the run is ${result.status}.`);
  return DeliverySchema.parse(delivery.instructContent);
}
// #endregion
