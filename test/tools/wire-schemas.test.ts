import { expect, it } from "vitest";
import { codeTool, editorTool, fileSearchTool, lookTool, readFilesTool, writeFilesTool } from "../../src/tools/index.ts";
import { memoryWorkspace } from "../../src/workspace/index.ts";

/** Words of JSON Schema that one of the documented servers refuses. */
const REFUSED = ["prefixItems", "$ref", "not", "patternProperties"];

function wordsIn(node: unknown, isNames = false): string[] {
  if (Array.isArray(node)) return node.flatMap((item) => wordsIn(item));
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, member]) => {
    const isRefused = !isNames && (REFUSED.includes(name) || (name === "items" && typeof member !== "object"));
    return [...(isRefused ? [name] : []), ...wordsIn(member, !isNames && name === "properties")];
  });
}

it.each([codeTool, editorTool, fileSearchTool, lookTool, readFilesTool, writeFilesTool])(
  "%o has a schema that all servers take",
  (make) => {
    const tool = make({ workspace: memoryWorkspace() } as never);
    expect(wordsIn(tool.spec.parameters)).toEqual([]);
  },
);
