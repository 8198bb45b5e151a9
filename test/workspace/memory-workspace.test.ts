import { systemCode } from "../../src/kernel/system-error.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { memoryWorkspace } from "../../src/workspace/memory-workspace.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { scratchFolder } from "./scratch.ts";
import { tries } from "../long.ts";

const request = { message: "m", author: "Engineer", date: 1_700_000_000_000 };

describe("a workspace in memory", () => {
  it("tells what was committed", async () => {
    const workspace = memoryWorkspace();
    await workspace.write("b.txt", "1");
    await workspace.write("a.txt", "1");
    const id = await workspace.commit({ ...request, trailers: { "Troupe-Message": "m1" } });
    expect(workspace.commits).toEqual([{ id, ...request, trailers: { "Troupe-Message": "m1" }, paths: ["a.txt", "b.txt"] }]);
  });

  it("begins with files that are neither committed nor counted", async () => {
    const workspace = memoryWorkspace({ files: { "mine.txt": "mine" }, limits: { files: 1 } });
    await workspace.write("new.txt", "1");
    await workspace.commit(request);
    expect(workspace.commits[0]?.paths).toEqual(["new.txt"]);
    expect(await workspace.list()).toEqual(["mine.txt", "new.txt"]);
  });

  it("answers like one on disk, whatever is asked in whatever order", { tags: "numbers" }, async () => {
    const path = fc.constantFrom("a", "a/b", "a/b/c", "d.txt", "../x", "e");
    const command = fc.oneof(
      fc.record({ do: fc.constant("write" as const), path, content: fc.constantFrom("", "1", "\ud800", "22222") }),
      fc.record({ do: fc.constantFrom("read" as const, "remove" as const, "list" as const, "commit" as const), path }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 14 }), async (commands) => {
        const limits = { files: 3, bytes: 8, fileBytes: 5 };
        const [disk, memory] = [fileWorkspace({ root: scratchFolder(), limits }), memoryWorkspace({ limits })];
        for (const one of commands) {
          const [onDisk, inMemory] = [await answer(disk, one), await answer(memory, one)];
          expect([one, inMemory]).toEqual([one, onDisk]);
        }
      }),
      { numRuns: tries(10, 120) },
    );
  });
});

/** The answer of a workspace, or the code of its refusal; of a commit only whether there was one. */
async function answer(workspace: Workspace, command: { do: string; path: string; content?: string }): Promise<unknown> {
  try {
    switch (command.do) {
      case "write":
        return await workspace.write(command.path, command.content ?? "");
      case "read":
        return await workspace.read(command.path);
      case "remove":
        return await workspace.remove(command.path);
      case "list":
        return await workspace.list(command.path);
      default:
        return (await workspace.commit(request)) !== undefined;
    }
  } catch (error) {
    return systemCode(error);
  }
}
