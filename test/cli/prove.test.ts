import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { adding, around, criteria, RIGHT, test as written, WRONG } from "../roles/adder.ts";
import { command, freshFolder, linesIn } from "./kept-run.ts";

function project(body: string, acceptance: unknown = { criteria }): string {
  const cwd = freshFolder();
  const files = [...around, adding(body), written];
  if (acceptance !== null) files.push({ path: "docs/acceptance.json", content: JSON.stringify(acceptance) });
  for (const { path, content } of files) {
    mkdirSync(dirname(join(cwd, "sums", path)), { recursive: true });
    writeFileSync(join(cwd, "sums", path), content);
  }
  return cwd;
}

describe("prove", () => {
  it("runs the criteria and the tests of a project without a model, and writes reports again over its own", async () => {
    const cwd = project(RIGHT);
    const words = ["prove", "--in", "sums", "--junit", "report.xml", "--sarif", "report.sarif", "--badge", "badge.svg"];
    const first = await command(cwd, words);
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^Proven\.\n[^]*A1 proven/)]);
    const report = readFileSync(join(cwd, "report.xml"), "utf8");
    expect(report).toContain('name="A1 (P0)"/>');
    writeFileSync(join(cwd, "sums/src/add.mjs"), adding(WRONG).content);
    const again = await command(cwd, [...words, "--json"]);
    expect([again.code, linesIn(again.stdout).at(-1)]).toMatchObject([6, { type: "proof", isDone: false, exitCode: 6 }]);
    expect(readFileSync(join(cwd, "report.xml"), "utf8")).toContain("<failure>");
    expect(readFileSync(join(cwd, "badge.svg"), "utf8")).toContain("1 of 2");
  });

  it.each([
    ["without criteria", null, [], "CRITERIA_MISSING"],
    ["with criteria of another form", { criteria: [{ id: "A1" }] }, [], "CRITERIA_INVALID"],
    ["with a report over another file", { criteria }, ["--junit", "sums/README.md"], "EXPORT_UNWRITABLE"],
    ["with a misspelt option", { criteria }, ["--jnit", "report.xml"], "COMMAND_INVALID"],
  ])("%s is refused", async (_name, acceptance, more, code) => {
    const cwd = project(RIGHT, acceptance);
    const before = readFileSync(join(cwd, "sums/README.md"), "utf8");
    const { code: exit, stderr } = await command(cwd, ["prove", "--in", "sums", ...more]);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(code)]);
    expect(readFileSync(join(cwd, "sums/README.md"), "utf8")).toBe(before);
  });
});
