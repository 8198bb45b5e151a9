import { describe, expect, test } from "vitest";
import { DesignSchema, PrdSchema, ReviewSchema, TaskPlanSchema } from "../../actions/index.ts";
import { renderReviewReport } from "../../actions/waterfall/write-code-review.ts";
import { diagnosisSchema, renderDebugReport } from "../../actions/waterfall/run-tests.ts";
import { renderDesign } from "../../actions/waterfall/write-design.ts";
import { bullets, sections, shortened } from "../../actions/markdown.ts";
import { manifestFile, readmeFile, descriptionOf, renderTaskPlan, type TaskPlan } from "../../actions/waterfall/write-tasks.ts";
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

  test("give the same when they read what they gave", () => {
    expect(DesignSchema.parse(DesignSchema.parse(design))).toEqual(DesignSchema.parse(design));
    expect(TaskPlanSchema.parse(TaskPlanSchema.parse(tasks))).toEqual(TaskPlanSchema.parse(tasks));
  });
});

describe("the plan of files", () => {
  test("needs a source file; tests may be none", () => {
    expect(faults({ taskList: [] })).toEqual(["names no source file"]);
    expect(faults({ taskList: ["tests/a.test.mjs"] })).toEqual(["names no source file"]);
    expect(faults({ testList: [] })).toEqual([]);
  });

  test("tests are tests, and tests among the sources too", () => {
    expect(faults({ testList: ["tests/a.spec.js"] })).toEqual(["has a file that is not tests/NAME.test.mjs"]);
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

  test("tells what a file does, by either form of its path", () => {
    const plan: TaskPlan = {
      ...tasks,
      logicAnalysis: [
        { file: "./src/greet.js", description: "one" },
        { file: "src/greet.js", description: "two" },
      ],
    };
    expect(descriptionOf(plan, "src/greet.js")).toBe("one\ntwo");
    expect(descriptionOf(plan, "src/other.js")).toBe("");
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

describe("a diagnosis", () => {
  const schema = diagnosisSchema(["src/a.js", "tests/a.test.mjs"]);

  test("names files of the project, each once, and at least one", () => {
    expect(schema.parse({ analysis: "x", files: ["src/a.js", "src/a.js"] })).toEqual({ analysis: "x", files: ["src/a.js"] });
    for (const files of [[], ["src/b.js"], ["../src/a.js"], ["/etc/passwd"], ["src/a.js", ".git/config"]]) {
      expect(schema.safeParse({ analysis: "x", files }).success).toBe(false);
    }
  });
});

describe("documents for people", () => {
  test("the design shows diagrams as diagrams, and prose as prose", () => {
    const text = renderDesign({ ...design, programCallFlow: "First this, then that." });
    expect(text).toContain("```mermaid\nclassDiagram\n  class Greet { +greet(name) string }\n```");
    expect(text).toContain("## Program call flow\n\nFirst this, then that.");
  });

  test("the plan lists sources in order, tests, and what each file does", () => {
    const text = renderTaskPlan(tasks);
    expect(text.indexOf("- src/greet.js")).toBeLessThan(text.indexOf("- index.html"));
    expect(text).toContain("- tests/greet.test.mjs");
    expect(text).toContain("`index.html`: The page.");
    expect(text).not.toContain("## Required packages");
  });

  test("a review report says how each file fared", () => {
    const text = renderReviewReport({
      files: [
        { path: "a.js", verdict: "LGTM", comments: [], rounds: 1, rewrites: 0 },
        { path: "b.js", verdict: "LGTM", comments: ["Better."], rounds: 2, rewrites: 1 },
        { path: "c.js", verdict: "LBTM", comments: ["Still wrong."], rounds: 2, rewrites: 2 },
      ],
    });
    expect(text).toContain("## a.js\n\nLGTM in round 1\n");
    expect(text).toContain("LGTM in round 2, written again once\n\n- Better.");
    expect(text).toContain("LBTM in round 2, written again 2 times and not reviewed after that\n\n- Still wrong.");
  });

  test("a debug report names the round, the reason and the files", () => {
    expect(renderDebugReport({ round: 2, analysis: "Off by one.", files: ["a.js"] })).toBe(
      "# Debugging, round 2\n\n## Analysis\n\nOff by one.\n\n## Files written again\n\n- a.js\n",
    );
  });

  test("sections without text are left out, and points stay together", () => {
    expect(
      sections("T", [
        ["A", ""],
        ["B", "b\n"],
        ["C", " \n"],
      ]),
    ).toBe("# T\n\n## B\n\nb\n");
    expect(bullets(["one\ntwo", " three "])).toBe("- one\n  two\n- three");
  });

  test("a text is cut at a character, and says how much is gone", () => {
    expect(shortened("abc", 3)).toBe("abc");
    expect(shortened("abcdef", 3)).toBe("abc\n[3 more characters are left out]");
    expect(shortened("ab\u{1f600}cd", 3)).toBe("ab\n[4 more characters are left out]");
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
