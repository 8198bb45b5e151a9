import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { CheckSchema } from "../../src/checks/acceptance.ts";
import { root } from "../architecture/read-house.ts";
import { isolates } from "../checks/project.ts";
import { someOf } from "../long.ts";
import { program } from "./program.ts";

const EVALUATION = join(root, "evaluation");
const ids = readdirSync(join(EVALUATION, "ideas"));

const texts = z.array(z.string());
const rule = { equals: z.string().optional(), contains: texts.optional(), lacks: texts.optional(), matches: z.string().optional() };
const Rule = z.strictObject(rule).optional();
const Step = z.strictObject({
  run: texts.min(1),
  stdin: z.string().optional(),
  exit: z.union([z.int(), z.enum(["failure", "any"])]).optional(),
  within: z.number().optional(),
  stdout: Rule,
  stderr: Rule,
  files: z.array(z.strictObject({ path: z.string(), base64: z.string().optional(), ...rule })).optional(),
  gone: texts.optional(),
});
const Given = z.strictObject({
  path: z.string(),
  content: z.string().optional(),
  base64: z.string().optional(),
  gzip: z.string().optional(),
});
const List = z.strictObject({
  size: z.enum(["S", "M", "L"]),
  stack: z.enum(["node", "page", "python"]),
  start: z.union([
    z.strictObject({ bin: z.string() }),
    z.strictObject({ script: z.string() }),
    z.strictObject({ module: z.string() }),
    z.strictObject({ page: z.literal(true) }),
  ]),
  repository: z.string().optional(),
  keeps: texts.optional(),
  quality: z.array(z.enum(["no packages", "no network"])),
  checks: z
    .array(
      z.union([
        z.strictObject({ says: z.string().min(4), given: z.array(Given).optional(), steps: z.array(Step).min(1) }),
        z.strictObject({ says: z.string().min(4), page: z.array(z.unknown()).min(1) }),
      ]),
    )
    .min(8)
    .max(25),
});

async function listOf(id: string): Promise<z.infer<typeof List>> {
  const { list } = (await import(join(EVALUATION, "ideas", id, "checks.mjs"))) as { readonly list: unknown };
  return List.parse(list);
}

describe("the ideas", () => {
  it.each(ids)("%s has a check list that can be run", async (id) => {
    const { checks } = await listOf(id);
    const says = checks.map((check) => check.says);
    expect(new Set(says).size).toBe(says.length);
    for (const check of checks) {
      if ("page" in check) CheckSchema.parse({ kind: "page", steps: check.page });
      else
        for (const { stdout, stderr } of check.steps)
          for (const one of [stdout, stderr]) expect(() => new RegExp(one?.matches ?? "")).not.toThrow();
    }
  });
});

describe.runIf(isolates)("the scores", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "troupe-score-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function failures(idea: string, project: string): Promise<readonly string[]> {
    const { stdout } = await program("score", ["--idea", idea, "--project", project]);
    expect(stdout).toMatch(/^\d+ of \d+\s*$/m);
    return stdout.split("\n").flatMap((line) => /^FAIL (C\d+|.+?)(?: |$)/.exec(line)?.[1] ?? []);
  }

  it.each(someOf(["csv-columns", "word-top"], 0))("%s: a product written by hand passes all checks", { tags: "company" }, async (id) => {
    expect(await failures(id, join(EVALUATION, "references", id))).toEqual([]);
  });

  it("a defect fails the checks that see it, and no others", { tags: ["company", "long"] }, async () => {
    const project = join(folder, "broken");
    cpSync(join(EVALUATION, "references/csv-columns"), project, { recursive: true });
    const file = join(project, "src/csv.js");
    writeFileSync(file, readFileSync(file, "utf8").replace("field.replaceAll('\"', '\"\"')", "field"));
    writeFileSync(join(project, "debug.log"), "x");
    expect(await failures("csv-columns", project)).toEqual(["C9", "tests", "tests", "readme", "no"]);
  });

  it("an empty folder passes nothing that a product is for", async () => {
    const empty = mkdtempSync(join(folder, "empty-"));
    const { stdout } = await program("score", ["--idea", "csv-columns", "--project", empty]);
    expect(stdout).toMatch(/^0 of 22$/m);
  });
});
