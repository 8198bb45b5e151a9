import { describe, expect, it } from "vitest";
import { checkReadme, readmeBlocks } from "../../src/checks/readme.ts";
import type { Fault } from "../../src/checks/verification.ts";
import { projectOf, sandbox } from "./project.ts";

const cli = `const [verb] = process.argv.slice(2);
if (verb === "serve") { console.log("listening"); setInterval(() => {}, 1000); }
else if (verb === "hang") setInterval(() => {}, 1000);
else if (verb === undefined || verb === "bad") { console.error("unknown verb"); process.exitCode = 2; }
else console.log("did " + verb);
`;
const project = { "cli.mjs": cli, "package.json": `{ "name": "x", "bin": { "doit": "cli.mjs" }, "scripts": { "start": "node cli.mjs" } }` };

async function faultsOf(readme: string): Promise<Fault[]> {
  return checkReadme({ root: projectOf({ ...project, "README.md": readme }), sandbox, timeout: 6_000 });
}

async function commandsIn(text: string): Promise<string[]> {
  const blocks = await readmeBlocks(text, new Set(["doit"]));
  return blocks.map(({ steps }) => steps.map(({ run, exit }) => `${run.join("|")}${exit === "any" ? "!" : ""}`).join(" ; "));
}

describe("the commands of a README", () => {
  it("may end with a code that a criterion expects of their program, where they print and complain of nothing", async () => {
    const finds = 'console.log("two are equal"); process.exitCode = process.argv[2] === "odd" ? 3 : 1;';
    const root = projectOf({
      "dups.mjs": finds,
      "README.md": "# Dups\n## Use\n```sh\nnode dups.mjs pictures\n```\n## Examples\n```sh\nnode dups.mjs odd\n```\n",
    });
    const check = { kind: "command", steps: [{ run: ["node", "dups.mjs", "given"], exit: 1 }] } as const;
    const criteria = [{ id: "A1", priority: "P0", given: "two files", when: "they are equal", then: "it ends with 1", check }] as const;
    const commands = async (some: typeof criteria | []): Promise<unknown> =>
      (await checkReadme({ root, sandbox, timeout: 6_000, criteria: some })).map(({ command }) => command);
    expect(await commands([])).toEqual(["node dups.mjs pictures", "node dups.mjs odd"]);
    expect(await commands(criteria)).toEqual(["node dups.mjs odd"]);
  });

  it("are those of the sections about use", async () => {
    const text = `# Use of things
\`\`\`sh
node outside.mjs
\`\`\`
## Install
\`\`\`sh
node install.mjs
\`\`\`
## Usage
\`\`\`sh
# a comment
node cli.mjs add "two words" 'a $b' \\
  --flag # trailing
doit list
npx doit list
npm start -- x
python3 -m thing a.csv
\`\`\`
\`\`\`js
node.js();
\`\`\`
### More
~~~console
$ doit show
shown
$ doit bad
error: unknown verb
~~~
## License
\`\`\`sh
node after.mjs
\`\`\`
`;
    expect(await commandsIn(text)).toEqual([
      "node|cli.mjs|add|two words|a $b|--flag ; doit|list ; npx|doit|list ; npm|start|--|x ; python3|-m|thing|a.csv",
      "doit|show ; doit|bad!",
    ]);
  });

  it.each([
    ["a placeholder", "doit <file>", "doit [options]", "doit add ...", "doit path/to/file", "doit FILE_NAME"],
    [
      "a shell",
      "doit a | sort",
      "doit a > b",
      "doit $HOME",
      "doit a && doit b",
      "doit `x`",
      "A=1 doit",
      "doit *.csv",
      "doit <<EOF",
      "(doit)",
    ],
    ["another program", "git clone x", "curl http://x", "cd x", "rm -rf /", "npx other", "sudo doit", "../doit"],
    ["the network", "npm install", "npm i -g doit", "npm link", "python3 -m pip install x", "python -m venv v", "yarn"],
    ["tests, which are run anyway", "npm test", "node --test", "python3 -m pytest", "python3 -m unittest"],
  ])("leave out %s", async (_what, ...lines) => {
    for (const line of lines) expect(await commandsIn(`## Use\n\`\`\`\n${line}\n\`\`\``), line).toEqual([]);
  });

  it("are few", async () => {
    const block = `\`\`\`sh\n${"doit a\n".repeat(100)}\`\`\`\n`;
    const blocks = await readmeBlocks(`## Use\n${block.repeat(50)}`, new Set(["doit"]));
    expect([blocks.length, blocks[0]?.steps.length]).toEqual([8, 12]);
  });
});

describe("checkReadme", () => {
  it("finds no fault in commands that work, servers, and failures that are announced", { tags: ["company", "long"] }, async () => {
    const text =
      "## Use\n```sh\ndoit a\n# an unknown verb fails:\ndoit bad\ndoit b\n```\n```\nnpm start serve\n```\nand\n```\n$ doit bad\nerror: unknown verb\n```\n";
    expect(await faultsOf(text)).toEqual([]);
    expect(await faultsOf("# No section\n")).toEqual([]);
    expect(await checkReadme({ root: projectOf({}), sandbox })).toEqual([]);
  });

  it("names each command that does not work", { tags: ["company", "long"] }, async () => {
    const text = "## Usage\n```sh\ndoit a\ndoit bad\n```\n```sh\nnode gone.mjs\n```\n```sh\ndoit hang\n```\n";
    const faults = await faultsOf(text);
    expect(faults.map(({ kind, file, command }) => [kind, file, command])).toEqual([
      ["readme", "README.md", "doit bad"],
      ["readme", "README.md", "node gone.mjs"],
      ["readme", "README.md", "doit hang"],
    ]);
    expect(faults[0]?.message).toBe(
      "The README shows it as a command that works: the exit code should be 0 and is 2.\nunknown verb\nBefore it, in the same copy of the project: doit a.",
    );
    expect(faults[1]?.message).toMatch(/Cannot find module[^]*It ran first, in a fresh copy of the project\.$/);
    expect(faults[2]?.message).toContain("did not end within");
  });
});
