import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileSearchTool } from "../../src/tools/file-search.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { memoryWorkspace } from "../../src/workspace/memory-workspace.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";
import { call, makePipe, read } from "./tool-kit.ts";
import { titled } from "../titled.ts";

const files = {
  "src/app.ts": "const answer = 42;\nexport const Answer = answer;\n",
  "src/deep/app.test.ts": "test(answer);\r\n",
  "dist/app.js": "const answer = 42;",
  "notes.md": "The answer (a+)+$ is .* here",
  "bin.dat": "answer\0answer",
};
const tool = fileSearchTool({ workspace: memoryWorkspace({ files }) });

describe("a search by name", () => {
  it("gives paths, not those of built folders", async () => {
    expect(await read(tool, { name: "app*" })).toBe("src/app.ts\nsrc/deep/app.test.ts");
    expect(await read(tool, { name: "*.js" })).toBe("No files found.");
    expect(await read(tool, { name: "*.js", under: "dist/" })).toBe("dist/app.js");
    expect(await read(tool, { name: "src/**" })).toBe("src/app.ts\nsrc/deep/app.test.ts");
  });
});

describe("a search by text", () => {
  it("gives the lines it is in, and tells of what was passed over", async () => {
    expect(await read(tool, { text: "answer" })).toBe(
      "notes.md:1: The answer (a+)+$ is .* here\nsrc/app.ts:1: const answer = 42;\nsrc/app.ts:2: export const Answer = answer;\nsrc/deep/app.test.ts:1: test(answer);\nNote: 1 binary or large files were passed over.",
    );
    expect(await read(tool, { text: "ANSWER =", ignoreCase: true, name: "*.ts" })).toContain("src/app.ts:2: export");
    expect(await read(tool, { text: "ANSWER =", name: "*.ts" })).toBe("No lines found.");
  });

  it.each(
    titled([
      {},
      { text: "" },
      { text: "two\nlines" },
      { text: "x".repeat(501) },
      { name: "../*" },
      { text: "x", under: "../.." },
      { text: "x", under: "/etc" },
      { text: "x", under: ".git" },
    ]),
  )("is refused with words: %s", async (_case, args) =>
    expect(await call(tool, args)).toMatchObject({ outcome: "failed", result: { error: expect.stringMatching(/^Expected/) } }),
  );

  it("stops when it is told to", async () => {
    const stop = new AbortController();
    stop.abort();
    expect((await errorOf(() => call(tool, { text: "x" }, { signal: stop.signal }))).code).toBe("ABORTED");
  });
});

it("stays inside a project on disk: links, pipes and hidden folders are not there", async () => {
  const root = scratchFolder();
  const outside = scratchFolder();
  writeFileSync(join(outside, "secret.txt"), "needle");
  for (const folder of [".git", "node_modules", "src"]) mkdirSync(join(root, folder));
  for (const path of [".git/config", "node_modules/x.js", "src/found.js"]) writeFileSync(join(root, path), "needle");
  symlinkSync(outside, join(root, "out"));
  symlinkSync(join(outside, "secret.txt"), join(root, "src", "link.txt"));
  makePipe(join(root, "src", "pipe"));
  const onDisk = fileSearchTool({ workspace: fileWorkspace({ root, git: false }) });
  expect(await read(onDisk, { text: "needle" })).toBe("src/found.js:1: needle");
  expect(await read(onDisk, { name: "*" })).toBe("src/found.js");
  expect(await read(onDisk, { name: "*", under: "out" })).toBe("No files found.");
});
