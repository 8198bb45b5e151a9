import { describe, expect, it } from "vitest";
import { workspaceContract } from "../../src/testing/contracts/workspace.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { memoryWorkspace } from "../../src/workspace/memory-workspace.ts";
import { scratchFolder } from "./scratch.ts";

const kit = { describe, it, expect };

workspaceContract(kit, {
  name: "a workspace on disk",
  make: async (limits) => fileWorkspace({ root: scratchFolder(), ...(limits === undefined ? {} : { limits }) }),
  keepsHistory: true,
});

workspaceContract(kit, {
  name: "a workspace on disk without git",
  make: async (limits) => fileWorkspace({ root: scratchFolder(), git: false, ...(limits === undefined ? {} : { limits }) }),
  keepsHistory: false,
});

workspaceContract(kit, {
  name: "a workspace in memory",
  make: async (limits) => memoryWorkspace(limits === undefined ? {} : { limits }),
  keepsHistory: true,
});
