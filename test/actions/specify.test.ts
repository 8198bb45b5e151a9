import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ProjectGate } from "../../actions/company/project-gate.ts";
import { Specify } from "../../actions/company/specify.ts";
import type { WorkOrder } from "../../roles/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { fileWorkspace } from "../../src/workspace/index.ts";
import { sandbox } from "../checks/project.ts";
import { brief } from "../roles/adder.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { runAlone } from "./alone.ts";

/** The order of a product manager who chooses a stack, and what it was asked. */
async function orderFor(stack: string, lack: string | undefined): Promise<{ readonly order: WorkOrder; readonly prompt: string }> {
  const model = scriptedModel([brief("S", { stack }), '{"outputs":[]}']);
  const workspace = fileWorkspace({ root: scratchFolder(), git: false });
  const gate = new ProjectGate({ workspace, sandbox, missingForPages: () => lack });
  const result = await runAlone({ action: new Specify({ gate, receivers: { S: [], M: [], L: [] } }), model });
  return { order: result.output?.instructContent as WorkOrder, prompt: String(model.calls[0]?.messages.at(-1)?.content) };
}

describe("a product manager where no page can be opened", () => {
  it("is told so before it chooses, and tells it with the order of a page", async () => {
    const { order, prompt } = await orderFor("page", "there is no browser");
    expect(prompt).toContain("No page can be opened on this machine");
    expect(order.assumptions).toContain("No page can be opened on this machine, so checks of a page stay unchecked. there is no browser");
  });

  it("says nothing of it with other orders, and where one can be opened", async () => {
    const other = await orderFor("node", "there is no browser");
    expect(other.order.assumptions).toEqual(["Numbers are decimal."]);
    const able = await orderFor("page", undefined);
    expect(able.prompt).not.toContain("No page can be opened");
    expect(able.order.assumptions).toEqual(["Numbers are decimal."]);
  });
});

describe("an open question of a product manager", () => {
  it.each([
    ["a plain text", "Which colour?", undefined],
    ["one with likely answers", { question: "Which colour?", choices: ["red", " red ", "", "x".repeat(5_000)] }, ["red", "x".repeat(200)]],
    ["one with a single answer", { question: "Which colour?", choices: ["red"] }, undefined],
  ])("is asked with the choices it offers: %s", async (_what, question, choices) => {
    const workspace = fileWorkspace({ root: scratchFolder(), git: false });
    const gate = new ProjectGate({ workspace, sandbox, missingForPages: () => undefined });
    const action = new Specify({ gate, receivers: { S: [], M: [], L: [] }, asks: true });
    const { status, questions } = await runAlone({ action, model: scriptedModel([brief("S", { questions: [question] })]) });
    expect([status, questions[0]?.text]).toEqual(["waiting", "Which colour?"]);
    const form = choices && { kind: "choices", choices: choices.map((value) => ({ value })), words: "answer in other words" };
    expect([questions[0]?.form, questions[0]?.default]).toEqual([form, choices?.[0]]);
  });
});

describe("a project whose tests cannot be run here", () => {
  it("is told with the order, and why", async () => {
    const root = scratchFolder();
    await writeFile(join(root, "justfile"), "test:\n  ./a\n");
    const gate = new ProjectGate({ workspace: fileWorkspace({ root, git: false }), sandbox, missingForPages: () => undefined });
    const action = new Specify({ gate, receivers: { S: [], M: [], L: [] }, existing: true });
    const { output } = await runAlone({ action, model: scriptedModel([brief("S"), '{"outputs":[]}']) });
    const order = output?.instructContent as WorkOrder | undefined;
    expect(order?.assumptions.at(-1)).toMatch(
      /^The tests in just test are not checked, so the product cannot be done: just is missing in the sandbox\. Install it/,
    );
  });
});
