import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startInShell } from "./child.ts";
import { scratchFolder } from "./fake-host.ts";

const cwd = scratchFolder();
const UNREACHED = { TROUPE_JOURNAL: "postgres://x@127.0.0.1:1/x" };

async function said(line: string): Promise<{ readonly code: number | string; readonly text: string }> {
  const child = startInShell(line, { cwd, env: UNREACHED });
  const code = await child.ended;
  return { code, text: child.said.stderr + child.said.stdout };
}

// Only POSIX shells limit the files of a process.
describe.skipIf(process.platform === "win32")("a process that may open few files", () => {
  it.each([
    [28, "ps"],
    [44, "demo life"],
    [60, "runs ls --json"],
  ])("says why it ends, and not with 0: %i files for %s", async (files, words) => {
    const { code, text } = await said(`ulimit -n ${files}; troupe ${words}`);
    expect(text).toContain("FILES_EXHAUSTED");
    expect(code).toBe(1);
  });
});

describe("a module that ends the process of its command", () => {
  it("makes no success of a command that has not finished", async () => {
    writeFileSync(join(cwd, "crew.mjs"), "process.exit(0);");
    const { code, text } = await said("troupe check crew.mjs");
    expect(text).toContain("COMMAND_UNFINISHED");
    expect(code).toBe(1);
  });

  it("keeps a code of its own that is no success", async () => {
    writeFileSync(join(cwd, "crew.mjs"), "process.exit(9);");
    expect(await said("troupe check crew.mjs")).toMatchObject({ code: 9 });
  });

  it("makes no success of one that waits for ever either", async () => {
    writeFileSync(join(cwd, "crew.mjs"), "await new Promise(() => {});");
    const { code, text } = await said("troupe check crew.mjs");
    expect([code, text]).toEqual([1, expect.stringContaining("COMMAND_UNFINISHED")]);
  });
});
