import type { Design, Prd } from "../../actions/index.ts";
import type { TaskPlan } from "../../actions/waterfall/write-tasks.ts";

/** A project small enough to be read at a glance: one function, one page, one test. */

export const prd: Prd = {
  projectName: "greeter",
  language: "English",
  programmingLanguage: "JavaScript",
  originalRequirements: "Greet me",
  productGoals: ["Greet by name"],
  userStories: ["As a guest, I want to be greeted, so that I feel welcome"],
  competitiveAnalysis: ["Silence: cheap, but cold"],
  requirementAnalysis: "Easy.",
  requirementPool: [{ priority: "P0", requirement: "greet(name) says Hello, name!" }],
  uiDesignDraft: "One line of text.",
  anythingUnclear: "",
};

export const design: Design = {
  implementationApproach: "One pure function.",
  fileList: ["src/greet.js", "index.html", "tests/greet.test.mjs"],
  dataStructuresAndInterfaces: "classDiagram\n  class Greet { +greet(name) string }",
  programCallFlow: "sequenceDiagram\n  Page->>Greet: greet(name)",
  anythingUnclear: "",
};

export const tasks: TaskPlan = {
  requiredPackages: [],
  logicAnalysis: [
    { file: "src/greet.js", description: "greet(name), on globalThis.Greeter. Needs nothing." },
    { file: "index.html", description: "The page. Needs src/greet.js." },
  ],
  taskList: ["src/greet.js", "index.html"],
  testList: ["tests/greet.test.mjs"],
  fullApiSpec: "",
  sharedKnowledge: "A greeting is Hello, name!",
  anythingUnclear: "",
};

export const greetJs = '(() => {\n  "use strict";\n  globalThis.Greeter = { greet: (name) => `Hello, ${name}!` };\n})();\n';
/** Greets without the exclamation mark. */
export const brokenGreetJs = greetJs.replace("!`", "`");
export const indexHtml = '<!doctype html>\n<title>Greeter</title>\n<script src="src/greet.js"></script>\n';
export const greetTest = [
  'import assert from "node:assert/strict";',
  'import { test } from "node:test";',
  'import "../src/greet.js";',
  "",
  'test("greets by name", () => {',
  '  assert.equal(globalThis.Greeter.greet("Ada"), "Hello, Ada!");',
  "});",
  "",
].join("\n");

/** A file as models send it. */
export function fence(code: string): string {
  return `Here it is:\n\n\`\`\`js\n${code}\`\`\`\n`;
}

/** The replies of a company that makes no mistake, by task. */
export const replies: Readonly<Record<string, string>> = {
  WritePrd: JSON.stringify(prd),
  WriteDesign: JSON.stringify(design),
  WriteTasks: JSON.stringify(tasks),
  "WriteCode: src/greet.js": fence(greetJs),
  "WriteCode: index.html": fence(indexHtml),
  "WriteCodeReview: src/greet.js (round 1)": JSON.stringify({ verdict: "LGTM", comments: [] }),
  "WriteCodeReview: index.html (round 1)": JSON.stringify({ verdict: "LGTM", comments: ["Short."] }),
  "WriteTest: tests/greet.test.mjs": fence(greetTest),
};
