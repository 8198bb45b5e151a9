import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scriptedRun } from "../evaluation/scripted-company.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { command } from "./kept-run.ts";

const check = { kind: "command", steps: [{ run: ["node", "src/cli.mjs"], stdout: { contains: ["ok"] } }] };
const brief = {
  speech: "It has several parts.",
  name: "adder",
  size: "M",
  stack: "node",
  criteria: [{ id: "A1", priority: "P0", given: "nothing", when: "it runs", then: "it says ok", check }],
};
const script = { manager: brief, engineer: [] };

function writeProduct(folder: string, said: string): void {
  mkdirSync(join(folder, "src"), { recursive: true });
  mkdirSync(join(folder, "test"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "adder", "type": "module" }\n');
  writeFileSync(join(folder, "README.md"), "# Adder\n\n## Use\n\n```sh\nnode src/cli.mjs\n```\n");
  writeFileSync(join(folder, "src/word.mjs"), `export const word = () => "${said}";\n`);
  writeFileSync(join(folder, "src/cli.mjs"), 'import { word } from "./word.mjs";\n\nconsole.log(word());\n');
  const test = `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { word } from "../src/word.mjs";\n\n`;
  writeFileSync(join(folder, "test/word.test.mjs"), `${test}test("says a word", () => assert.equal(word(), "${said}"));\n`);
}

describe("troupe spec", () => {
  it("writes criteria with checks, asks the product manager alone, and judges work that anybody did by them", async () => {
    const cwd = scratchFolder();
    const { code, result, requests } = await scriptedRun(cwd, "Say ok.", script, [], { verb: "spec" });
    expect([code, result.status, result.isSpec]).toEqual([0, "finished", true]);
    expect([requests.architect, requests.engineer, requests.verifier]).toEqual([[], [], []]);
    const product = join(cwd, "product");
    const prove = async (): Promise<number> => (await command(cwd, ["prove", "--in", product, "--sandbox", "none"])).code;
    writeProduct(product, "ok");
    expect(await prove()).toBe(0);
    writeProduct(product, "no");
    expect(await prove()).toBe(6);
  });

  it("writes the criteria of a change beside the project, and changes no file of it", async () => {
    const cwd = scratchFolder();
    const product = join(cwd, "product");
    writeProduct(product, "no");
    const git = (...args: readonly string[]): string => execFileSync("git", ["-C", product, ...args], { encoding: "utf8" });
    git("init", "-q");
    git("add", ".");
    git("-c", "user.name=U", "-c", "user.email=u@example.com", "commit", "-qm", "Begin");
    const { code } = await scriptedRun(cwd, "Say ok.", script, ["--in", product], { verb: "spec" });
    expect(code).toBe(0);
    expect([git("status", "--porcelain"), existsSync(join(product, "docs"))]).toEqual(["", false]);
    expect(JSON.parse(readFileSync(join(product, ".troupe/acceptance.json"), "utf8"))).toMatchObject({ criteria: [{ id: "A1" }] });
  });

  it("has no script for a bundled idea, and asks for a model", async () => {
    const { code, stderr } = await command(scratchFolder(), ["spec", "Create a 2048 game"]);
    expect([code, stderr]).toEqual([7, expect.stringContaining("Expected a model to ask, but no model is set.")]);
  });
});
