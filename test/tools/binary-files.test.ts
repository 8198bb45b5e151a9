import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineRole, memoryJournal, type RunEvent, Team } from "../../src/index.ts";
import { filesAt, bytesIn, pictureUrl } from "../../src/inspector/view/file-history.ts";
import { RunTimeline } from "../../src/inspector/view/run-timeline.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import type { CommandToolOptions } from "../../src/tools/command.ts";
import { codeTool, pythonTool, shellTool } from "../../src/tools/index.ts";
import { chooseSandbox, fileWorkspace, refusedSandbox, workspaceForks } from "../../src/workspace/index.ts";
import { changesSince, RecordedFiles } from "../../src/workspace/recorded-files.ts";
import { restoreFiles } from "../../src/workspace/restore-files.ts";
import { call as asked, calls } from "../agent/setup.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { call } from "./tool-kit.ts";

const sandbox = await chooseSandbox("none");
/** The beginning of a PNG, a NUL, bytes that are no UTF-8. */
const PNG = Buffer.from("89504e470d0a1a0a0000000dff00fe80", "hex");
const inPython = `open("chart.png", "wb").write(bytes.fromhex("${PNG.toString("hex")}"))`;
const inNode = `require("fs").writeFileSync("chart.png", Buffer.from("${PNG.toString("hex")}", "hex"))`;

/** Every tool that runs code, and how it makes a picture. */
const makers: Readonly<
  Record<string, readonly [(o: CommandToolOptions) => ReturnType<typeof codeTool>, Readonly<Record<string, string>>]>
> = {
  python: [pythonTool, { code: inPython }],
  "code in Python": [codeTool, { language: "python", code: inPython }],
  "code in JavaScript": [codeTool, { language: "javascript", code: inNode }],
  shell: [shellTool, { command: `node -e '${inNode.replaceAll("'", "")}'` }],
};

describe.each(Object.entries(makers))(
  "[a chart as PNG was dropped: it is no text] what %s makes that is no text",
  (_name, [toolOf, args]) => {
    it("is in the project byte for byte, named to the model, and in a replay, a restored folder and the inspector too", async () => {
      const root = scratchFolder();
      const workspace = fileWorkspace({ root, git: false });
      const tool = toolOf({ workspace, sandbox });
      const agent = { permissions: { rules: [{ tool: "*", decide: "allow" as const }] } };
      const roleOf = (own: typeof tool) => defineRole({ name: "Ann", reactMode: "agent", tools: [own], agent });
      const journal = memoryJournal();
      const model = scriptedModel([calls(asked(tool.name, args)), "done"]);
      const team = new Team({ journal, model, roles: [roleOf(tool)] });
      expect((await team.run("go", { id: "r" }).result).status).toBe("finished");
      expect(readFileSync(join(root, "chart.png")).equals(PNG)).toBe(true);
      expect(JSON.stringify(model.calls[1]?.messages)).toContain("Files written: chart.png.");

      const events: RunEvent[] = await eventsOf(journal, "r");
      const recorded = new RecordedFiles();
      for (const event of events) recorded.add(event);
      expect(await changesSince(recorded, workspace)).toEqual([]);
      const restored = fileWorkspace({ root: scratchFolder(), git: false });
      expect(await restoreFiles(restored, events)).toMatchObject({ files: 1 });
      expect(readFileSync(join(restored.root, "chart.png")).equals(PNG)).toBe(true);

      const replayed = fileWorkspace({ root: scratchFolder(), git: false });
      const nothing = refusedSandbox("a replay runs nothing", "Look at its record");
      const again = new Team({ journal, model, roles: [roleOf(toolOf({ workspace: replayed, sandbox: nothing }))] });
      expect((await again.replay("r").result).status).toBe("finished");
      expect([readFileSync(join(replayed.root, "chart.png")).equals(PNG), model.calls.length]).toEqual([true, 2]);

      const timeline = new RunTimeline();
      timeline.add(events);
      const [file] = filesAt(timeline, events.length);
      const { base64 = "" } = file?.versions[0] ?? {};
      expect([file?.path, pictureUrl(base64), bytesIn(base64)]).toEqual([
        "chart.png",
        `data:image/png;base64,${PNG.toString("base64")}`,
        PNG.length,
      ]);
    });
  },
);

describe("a file that is no text", () => {
  it("is not kept in a fork, whose files are merged as texts, and the model is told why", async () => {
    const project = fileWorkspace({ root: scratchFolder() });
    await project.write("a.txt", "a");
    await project.commit({ message: "Begin", author: "A", date: 1 });
    const forks = workspaceForks({ workspace: project });
    await forks.open("one");
    const { result } = await call(pythonTool({ workspace: forks.workspace("one"), sandbox }), { code: inPython });
    expect(result.system).toContain("Not kept: chart.png: it is no text, and files of a fork are merged as texts");
  });

  it.each([
    ["PNG", "89504e470d0a1a0a00000000", "image/png"],
    ["JPEG", "ffd8ffe000104a4649460001", "image/jpeg"],
    ["GIF", "474946383961010001000000", "image/gif"],
    ["WebP", "524946460000000057454250", "image/webp"],
    ["a sound in the same wrapping", "524946460000000057415645", undefined],
    ["a program", "7f454c460201010000000000", undefined],
    ["SVG", Buffer.from("<svg onload='alert(1)'/>").toString("hex"), undefined],
    ["a page", Buffer.from("<html><script>alert(1)").toString("hex"), undefined],
  ])("is a picture by its first bytes alone: %s", (_what, bytes, type) => {
    const url = pictureUrl(Buffer.from(bytes, "hex").toString("base64"));
    expect(url?.startsWith(`data:${String(type)};base64,`) ?? false).toBe(type !== undefined);
  });

  it.each(["", "iVBORw0KGgo", 'iVBORw0KGgoAAAAA" onerror="x', "iVBORw0KGgoAAAAA=====", "é"])(
    "is no picture where a record has %j for its bytes",
    (base64) => {
      expect(pictureUrl(base64)).toBeUndefined();
    },
  );
});
