import { describe, expect, test } from "vitest";
import { PrdSchema, TaskPlanSchema, WriteDesign, WritePrd, WriteTasks } from "../../actions/index.ts";
import { memoryWorkspace } from "../../src/workspace/index.ts";
import { runAlone } from "./alone.ts";
import { design, prd, replies, tasks } from "./greeter.ts";
import { questionIn, taskModel, tasksOf } from "./task-script.ts";

describe("WritePrd", () => {
  test("writes the idea and the requirements, commits them, and tells them", async () => {
    const workspace = memoryWorkspace();
    const model = taskModel(replies);
    const result = await runAlone({ action: new WritePrd({ workspace }), model, idea: "Greet me,\r\nplease" });
    expect(result.status).toBe("finished");
    expect(await workspace.list()).toEqual(["docs/prd/greeter.json", "docs/prd/greeter.md", "docs/requirement.txt"]);
    expect(await workspace.read("docs/requirement.txt")).toBe("Greet me,\nplease\n");
    expect(PrdSchema.parse(JSON.parse((await workspace.read("docs/prd/greeter.json")) ?? ""))).toEqual(prd);
    expect(result.output).toMatchObject({ causeBy: "WritePrd", sentFrom: "Wanda", instructContent: prd });
    expect(result.output?.content).toBe(await workspace.read("docs/prd/greeter.md"));
  });

  test("a reply that does not fit is asked for once more", async () => {
    const bad = JSON.stringify({ ...prd, requirementPool: "none" });
    const model = taskModel({ WritePrd: [bad, replies["WritePrd"]!] });
    const result = await runAlone({ action: new WritePrd({ workspace: memoryWorkspace() }), model });
    expect(result.status).toBe("finished");
    expect(tasksOf(model)).toEqual(["WritePrd", "WritePrd"]);
    expect(questionIn(model.calls[1])).toContain("requirementPool");
  });
});

describe("WriteDesign", () => {
  test("a message without the requirements is told as such", async () => {
    const result = await runAlone({
      action: new WriteDesign({ workspace: memoryWorkspace() }),
      model: taskModel(replies),
      said: [[WritePrd, { language: "x" }]],
    });
    expect(result.status).toBe("failed");
    expect(result.error).toMatchObject({ code: "INPUT_INVALID", message: expect.stringContaining("caused by WritePrd") });
  });

  test.each(["../x.js", "/etc/passwd", ".git/hooks/post-commit"])(
    "a file list with %s is refused after one more question",
    async (path) => {
      const workspace = memoryWorkspace();
      const bad = JSON.stringify({ ...design, fileList: ["src/a.js", path] });
      const model = taskModel({ WriteDesign: [bad, bad, bad] });
      const result = await runAlone({ action: new WriteDesign({ workspace }), model, said: [[WritePrd, prd]] });
      expect(result).toMatchObject({
        status: "failed",
        error: { name: "OutputError", code: "OUTPUT_INVALID", message: expect.stringContaining("fileList[1]") },
      });
      expect(questionIn(model.calls[1])).toContain("fileList[1]");
      expect(await workspace.list()).toEqual([]);
    },
  );
});

describe("WriteTasks", () => {
  const said = [
    [WritePrd, prd],
    [WriteDesign, design],
  ] as const;

  test("plans the files and writes the frame of the project", async () => {
    const workspace = memoryWorkspace();
    const model = taskModel(replies);
    const result = await runAlone({ action: new WriteTasks({ workspace }), model, said });
    expect(result.output).toMatchObject({ causeBy: "WriteTasks", instructContent: tasks });
    expect(await workspace.list()).toEqual(["README.md", "docs/task/greeter.json", "docs/task/greeter.md", "package.json"]);
    expect(TaskPlanSchema.parse(JSON.parse((await workspace.read("docs/task/greeter.json")) ?? ""))).toEqual(tasks);
    expect(questionIn(model.calls[0])).toContain(JSON.stringify(design));
    expect(workspace.commits[0]?.paths).toEqual(["README.md", "docs/task/greeter.json", "docs/task/greeter.md", "package.json"]);
  });

  test("leaves a frame alone that is there already", async () => {
    const workspace = memoryWorkspace({ files: { "package.json": '{"name":"mine"}' } });
    await runAlone({ action: new WriteTasks({ workspace }), model: taskModel(replies), said });
    expect(await workspace.read("package.json")).toBe('{"name":"mine"}');
    expect(await workspace.list()).toContain("README.md");
  });

  test("ten thousand files are refused, and the second chance can be taken", { tags: ["company", "long"] }, async () => {
    const many = JSON.stringify({ ...tasks, taskList: Array.from({ length: 10_000 }, (_, index) => `src/${index}.js`) });
    const refused = await runAlone({
      action: new WriteTasks({ workspace: memoryWorkspace() }),
      model: taskModel({ WriteTasks: [many, many, many] }),
      said,
    });
    expect(refused.error).toMatchObject({ code: "OUTPUT_INVALID", message: expect.stringContaining("names 10000 files") });
    const mended = await runAlone({
      action: new WriteTasks({ workspace: memoryWorkspace() }),
      model: taskModel({ WriteTasks: [many, replies["WriteTasks"]!] }),
      said,
    });
    expect(mended.status).toBe("finished");
  });
});
