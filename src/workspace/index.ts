/** The project a company writes: its files, its history in git, and a sandbox for its code. Published as `troupe/workspace`. */

// The port, and the workspaces there are.
export type { Workspace } from "./workspace.ts";
export { type FileWorkspace, fileWorkspace } from "./file-workspace.ts";
export { openWorkspace } from "./open-workspace.ts";
export { type MemoryWorkspace, memoryWorkspace } from "./memory-workspace.ts";

// The parts of a project that prompts show, and steps that change it.
export { repoMap } from "./repo-map.ts";
export { visible } from "./path-rules.ts";
export { WRITE_STEP } from "./recorded-files.ts";

// Forks of a project.
export { workspaceForks, type WorkspaceForks } from "./forks.ts";
export { commitFiles, compareFork, type ForkedProject, mergeFork, openFork, removeFork, updateFork } from "./fork-steps.ts";

// The places where a project's own code runs.
export type { Sandbox, SandboxMode, SandboxRequest, SandboxResult } from "./sandbox.ts";
export { refusedSandbox } from "./sandbox.ts";
export { type CodingAgent, codingAgent } from "./coding-agent.ts";
export { chooseSandbox } from "./choose-sandbox.ts";
export { type ProjectTests, runProjectTests } from "./run-tests.ts";
