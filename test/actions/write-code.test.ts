import { describe, expect, test } from "vitest";
import { WriteCode, WriteDesign, WritePrd, WriteTasks, WriteTest } from "../../actions/index.ts";
import { memoryWorkspace } from "../../src/workspace/index.ts";
import { runAlone } from "./alone.ts";
import { design, fence, greetJs, greetTest, indexHtml, prd, replies, tasks } from "./greeter.ts";
import { questionIn, type TaskReplies, taskModel, tasksOf } from "./task-script.ts";

const said = [
  [WritePrd, prd],
  [WriteDesign, design],
  [WriteTasks, tasks],
] as const;

function writeCode(given: TaskReplies, workspace = memoryWorkspace()) {
  const model = taskModel({ ...replies, ...given });
  const result = runAlone({ action: new WriteCode({ workspace }), model, said });
  return { model, workspace, result };
}

describe("WriteCode", () => {
  test("writes each file of the plan in order, and commits them together", async () => {
    const { model, workspace, result } = writeCode({});
    expect(await result).toMatchObject({ status: "finished", output: { causeBy: "WriteCode" } });
    expect(tasksOf(model)).toEqual(["WriteCode: src/greet.js", "WriteCode: index.html"]);
    expect(await workspace.read("src/greet.js")).toBe(greetJs);
    expect(await workspace.read("index.html")).toBe(indexHtml);
    expect(workspace.commits.map(({ message, paths }) => [message, paths])).toEqual([
      ["Write the code of greeter", ["index.html", "src/greet.js"]],
    ]);
    const { output } = await result;
    expect(output?.instructContent).toMatchObject({ files: [{ path: "src/greet.js", bytes: greetJs.length }, { path: "index.html" }] });
    expect(output?.content).toContain("- `src/greet.js`");
  });

  test("each file sees the plan, what it shall do, and the files before it, not those after", async () => {
    const { model, result } = writeCode({});
    await result;
    const [first, second] = model.calls.map((call) => questionIn(call));
    for (const part of [JSON.stringify(prd), JSON.stringify(design), JSON.stringify(tasks)]) expect(first).toContain(part);
    expect(first).toContain("greet(name), on globalThis.Greeter. Needs nothing.");
    expect(first).not.toContain("Files written already");
    expect(second).toContain(`## Files written already\nsrc/greet.js\n\`\`\`\n${greetJs}\`\`\``);
  });

  test("equal work asks equal questions: no time, id or place of the machine is in them", async () => {
    const [one, two] = [writeCode({}), writeCode({}, Object.assign(memoryWorkspace(), { root: "/home/somebody/project" }))];
    await Promise.all([one.result, two.result]);
    expect(two.model.calls).toEqual(one.model.calls);
    const all = one.model.calls.map((call) => questionIn(call)).join("\n");
    expect(all).not.toMatch(/\/memory|\/home|Wanda#|\b20\d\d-\d\d-\d\d/);
  });

  test("a reply without a file is asked for once more, with what was wrong", async () => {
    const { model, workspace, result } = writeCode({ "WriteCode: src/greet.js": ["I would rather not.", fence(greetJs)] });
    expect((await result).status).toBe("finished");
    expect(tasksOf(model).slice(0, 2)).toEqual(["WriteCode: src/greet.js", "WriteCode: src/greet.js"]);
    expect(questionIn(model.calls[1])).toContain(
      "Your last reply holds no fenced block, so it could not be used. It was:\n```\nI would rather not.\n```",
    );
    expect(await workspace.read("src/greet.js")).toBe(greetJs);
  });

  test.each([
    ["prose", "I cannot.", "holds no fenced block"],
    ["an empty block", "```html\n```", "holds an empty fenced block"],
    ["a block cut off", "```html\n<p>a", "ends before its fenced block is closed"],
  ])("three replies of %s end the action with a typed error; what was written before stays", async (_what, reply, fault) => {
    const { workspace, result } = writeCode({ "WriteCode: index.html": [reply, reply, reply] });
    expect(await result).toMatchObject({
      status: "failed",
      error: { name: "OutputError", code: "CODE_MISSING", data: { path: "index.html", fault, text: reply } },
    });
    expect(await workspace.list()).toEqual(["src/greet.js"]);
  });
});

describe("WriteTest", () => {
  test("writes each test of the plan and sees the sources as they are", async () => {
    const workspace = memoryWorkspace({ files: { "src/greet.js": greetJs, "index.html": indexHtml } });
    const model = taskModel(replies);
    const result = await runAlone({ action: new WriteTest({ workspace }), model, said });
    expect(result.output).toMatchObject({ causeBy: "WriteTest", instructContent: { files: [{ path: "tests/greet.test.mjs" }] } });
    expect(await workspace.read("tests/greet.test.mjs")).toBe(greetTest);
    expect(questionIn(model.calls[0])).toContain(`src/greet.js\n\`\`\`\n${greetJs}\`\`\``);
    expect(workspace.commits.map(({ message, paths }) => [message, paths])).toEqual([
      ["Write the tests of greeter", ["tests/greet.test.mjs"]],
    ]);
  });

  test("without tests in the plan nothing is asked, written or committed", async () => {
    const workspace = memoryWorkspace();
    const model = taskModel({});
    const plan = { ...tasks, testList: [] };
    const result = await runAlone({
      action: new WriteTest({ workspace }),
      model,
      said: [
        [WritePrd, prd],
        [WriteDesign, design],
        [WriteTasks, plan],
      ],
    });
    expect(result).toMatchObject({
      status: "finished",
      output: { instructContent: { files: [] }, content: expect.stringContaining("None.") },
    });
    expect([model.calls, workspace.commits]).toEqual([[], []]);
  });
});
