import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scriptedRun, wordsOf } from "../evaluation/scripted-company.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const check = { kind: "command", steps: [{ run: ["node", "src/cli.mjs"], stdout: { contains: ["ok"] } }] };
const brief = (size: string): object => ({
  reasoning: "It is small.",
  name: "adder",
  size,
  stack: "node",
  assumptions: [],
  questions: [],
  criteria: [{ id: "A1", priority: "P0", given: "nothing", when: "it runs", then: "it says ok", check }],
});
const giveUp = { toolCalls: [{ name: "give_up", arguments: '{"why":"This is enough to read the order."}' }] };
const code = "export function add(a, b) {\n  throw new Error(`not written: ${a} ${b}`);\n}\n";
const architect = { approach: "One part.", files: [{ path: "src/add.mjs", purpose: "adds", code }], tasks: [] };

describe("MetaGPT's options of the software company", () => {
  it.each([
    ["S", ["docs"]],
    ["M", ["docs", "src"]],
  ])("--no-implement ends with the plan of a product of size %s, and proves nothing", async (size, folders) => {
    const cwd = scratchFolder();
    const {
      code: exit,
      result,
      requests,
    } = await scriptedRun(cwd, "Add numbers.", { manager: brief(size), architect, engineer: [] }, ["--no-implement"]);
    expect([exit, result.status, result.delivery]).toEqual([0, "finished", undefined]);
    expect([requests.engineer, requests.qa, requests.verifier]).toEqual([[], [], []]);
    const names = readdirSync(join(cwd, "product")).filter((name) => !name.startsWith("."));
    expect(names).toEqual(expect.arrayContaining(folders));
    expect(existsSync(join(cwd, "product/docs/acceptance.json"))).toBe(true);
  });

  it("--reqa-file asks for the tests of one file of a project, and needs no idea", async () => {
    const cwd = scratchFolder();
    mkdirSync(join(cwd, "product/src"), { recursive: true });
    writeFileSync(join(cwd, "product/src/add.mjs"), "export const add = (a, b) => a + b;\n");
    writeFileSync(join(cwd, "product/README.md"), "# Adder\n\nStart it with `adder --sum 1 2`.\n");
    const words = ["--in", join(cwd, "product"), "--reqa-file", "src/add.mjs"];
    const { requests } = await scriptedRun(cwd, "Keep the names.", { manager: brief("S"), engineer: [giveUp] }, words);
    const [first] = requests.manager;
    expect(wordsOf(first!)).toContain("Keep the names.");
    expect(wordsOf(first!)).toContain("Start it with `adder --sum 1 2`.");
    expect(wordsOf(first!)).toContain("Write the tests of `src/add.mjs` again");
  });
});
