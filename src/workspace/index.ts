/** The project a company writes: its files, its history in git, and a sandbox for its code. Published as `troupe/workspace`. */

// The port, and the workspaces there are.
export type { CommitRequest, Workspace, WorkspaceLimits, WrittenFile } from "./workspace.ts";
export { type FileWorkspace, type FileWorkspaceOptions, fileWorkspace } from "./file-workspace.ts";
export { openWorkspace, type OpenWorkspaceOptions } from "./open-workspace.ts";
export { type MemoryWorkspace, type MemoryWorkspaceOptions, memoryWorkspace } from "./memory-workspace.ts";

// What prompts show of a project, and steps that change it.
export { repoMap, type RepoMapOptions } from "./repo-map.ts";
export { namesIn } from "./outline.ts";
export { checkPath, visible } from "./path-rules.ts";
export { forkIn, mayWrite, WRITE_STEP } from "./recorded-files.ts";

// Forks of a project.
export { type ForkComparison, type ForkUpdate, workspaceForks, type WorkspaceForks, type WorkspaceForksOptions } from "./forks.ts";
export { commitFiles, compareFork, type ForkedProject, type ForkMerge, mergeFork, openFork, removeFork, updateFork } from "./fork-steps.ts";

// Where a project's own code runs.
export type { Sandbox, SandboxLimits, SandboxMode, SandboxMount, SandboxProcess, SandboxRequest } from "./sandbox.ts";
export type { SandboxResult, SandboxStart } from "./sandbox.ts";
export { refusedSandbox } from "./sandbox.ts";
export { chooseSandbox } from "./choose-sandbox.ts";
export { type ProjectTests, type ProjectTestsRequest, runProjectTests, type TestTally } from "./run-tests.ts";
export type { TestFailure } from "./test-report.ts";
