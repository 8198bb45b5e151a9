import { describe, expect, test } from "vitest";
import { DesignSchema, PrdSchema, ReviewSchema, TaskPlanSchema } from "../../actions/index.ts";
import { diagnosisSchema } from "../../actions/waterfall/run-tests.ts";
import { renderDesign } from "../../actions/waterfall/write-design.ts";
import { manifestFile, readmeFile } from "../../actions/waterfall/write-tasks.ts";
import { outputSchema } from "../../src/model/json-schema.ts";
import { design, prd, tasks } from "./greeter.ts";

function faults(plan: object): string[] {
  const parsed = TaskPlanSchema.safeParse({ ...tasks, ...plan });
  return parsed.success ? [] : parsed.error.issues.map((issue) => issue.message);
}

describe("schemas", () => {
  test.each([
    ["requirements", PrdSchema],
    ["design", DesignSchema],
    ["tasks", TaskPlanSchema],
    ["review", ReviewSchema],
    ["diagnosis", diagnosisSchema(["src/a.js"])],
  ])("of the %s can be enforced by a provider, and say what each field is for", (_name, schema) => {
    const { strict, json, wrapped } = outputSchema(schema);
    expect(wrapped).toBe(false);
    expect(strict).toBeDefined();
    for (const property of Object.values(json["properties"] as object)) expect(property).toHaveProperty("description");
  });
});

describe("the plan of files", () => {
  test("needs a source file; tests may be none", () => {
    expect(faults({ taskList: [] })).toEqual(["names no source file"]);
    expect(faults({ taskList: ["tests/a.test.mjs"] })).toEqual(["names no source file"]);
    expect(faults({ testList: [] })).toEqual([]);
  });

  test("tests are tests, and tests among the sources too", () => {
    expect(faults({ testList: ["tests/a.spec.js"] })).toEqual(["has a file that is neither tests/NAME.test.mjs nor tests/test_NAME.py"]);
    const plan = TaskPlanSchema.parse({
      ...tasks,
      taskList: ["a.js", "tests/b.test.mjs", "a.js"],
      testList: ["tests/a.test.mjs", "tests/b.test.mjs"],
    });
    expect(plan.taskList).toEqual(["a.js"]);
    expect(plan.testList).toEqual(["tests/a.test.mjs", "tests/b.test.mjs"]);
  });

  test("sources and tests together are at most sixty", () => {
    const names = (count: number, name: (n: number) => string): string[] => Array.from({ length: count }, (_, index) => name(index));
    const sources = names(40, (n) => `src/${n}.js`);
    expect(faults({ taskList: sources, testList: names(20, (n) => `tests/${n}.test.mjs`) })).toEqual([]);
    expect(faults({ taskList: sources, testList: names(21, (n) => `tests/${n}.test.mjs`) })).toEqual([
      "names 61 files, and a project may have 60",
    ]);
  });

  test("bad paths are named in both lists", () => {
    expect(faults({ taskList: ["../a.js"], testList: ["/tests/a.test.mjs"] }).length).toBeGreaterThanOrEqual(2);
  });
});

describe("a review", () => {
  test("that refuses says why", () => {
    expect(ReviewSchema.safeParse({ verdict: "LBTM", comments: [] }).success).toBe(false);
    expect(ReviewSchema.safeParse({ verdict: "LBTM", comments: [" "] }).success).toBe(false);
    expect(ReviewSchema.safeParse({ verdict: "LBTM", comments: ["Wrong."] }).success).toBe(true);
    expect(ReviewSchema.safeParse({ verdict: "LGTM", comments: [] }).success).toBe(true);
  });
});

describe("documents for people", () => {
  test("the design shows diagrams as diagrams, and prose as prose", () => {
    const text = renderDesign({ ...design, programCallFlow: "First this, then that." });
    expect(text).toContain("```mermaid\nclassDiagram\n  class Greet { +greet(name) string }\n```");
    expect(text).toContain("## Program call flow\n\nFirst this, then that.");
  });
});

describe("the frame of a project", () => {
  test("package.json runs the tests and leaves the kind of module open", () => {
    const { path, content } = manifestFile(prd);
    expect(path).toBe("package.json");
    expect(JSON.parse(content)).toEqual({ name: "greeter", version: "0.1.0", private: true, scripts: { test: "node --test" } });
  });

  test("README.md says how to open and how to test, where there is something to open and to test", () => {
    expect(readmeFile(prd, tasks).content).toContain("Open `index.html` in a browser.");
    expect(readmeFile(prd, tasks).content).toContain("    node --test");
    const bare = readmeFile(prd, { ...tasks, taskList: ["src/greet.js"], testList: [] }).content;
    expect(bare).not.toContain("browser");
    expect(bare).not.toContain("node --test");
  });
});
