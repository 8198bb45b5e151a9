/** The project a company writes: its files, its history in git, and a sandbox for its code. Published as `troupe/workspace`. */

// The port, and the workspaces there are.
export type { CommitRequest, Workspace, WorkspaceLimits, WrittenFile } from "./workspace.ts";
export { defaultWorkspaceLimits } from "./workspace.ts";
export { type FileWorkspace, type FileWorkspaceOptions, fileWorkspace } from "./file-workspace.ts";
export { openWorkspace, type OpenWorkspaceOptions } from "./open-workspace.ts";
export { type ExistingProject, type ExistingProjectOptions, openExisting, type ProjectPlace } from "./existing-project.ts";
export type { FileDifference, ProjectChanges } from "./project-changes.ts";
export { type FileSurvey, surveyFiles, type SurveyOptions } from "./survey.ts";
export { repoMap, type RepoMapOptions } from "./repo-map.ts";
export { namesIn } from "./outline.ts";
export { type ForkComparison, type ForkUpdate, workspaceForks, type WorkspaceForks, type WorkspaceForksOptions } from "./forks.ts";
export { commitFiles, compareFork, type ForkedProject, type ForkMerge, mergeFork, openFork, removeFork, updateFork } from "./fork-steps.ts";
export { type MemoryCommit, type MemoryWorkspace, type MemoryWorkspaceOptions, memoryWorkspace } from "./memory-workspace.ts";
export type { IsOwn, KeptFile } from "./kept-files.ts";
export type { GitState } from "./git.ts";

// The record of a run's files, and checks against the folder.
export { type FileState, RecordedFiles, WRITE_STEP } from "./recorded-files.ts";
export { assertUnchanged, type ChangedFile, changedFiles, changesSince } from "./recorded-files.ts";
export { type FileChange, forkIn, mayWrite } from "./recorded-files.ts";
export { type Restored, restoreFiles, type RestoreOptions } from "./restore-files.ts";

// A project as one file, for another machine.
export {
  type BundleOptions,
  bundleWorkspace,
  hasOpenForks,
  restoreBundle,
  type RestoreBundleOptions,
  type WorkspaceBundle,
} from "./bundle.ts";

// Rules for paths.
export { checkPath, visible } from "./path-rules.ts";

// Programs, and where a project's own code runs.
export { type ProcessOutput, type ProcessRequest, type ProcessResult, runProcess } from "./process.ts";
export type { Bounded, Refusal, Sandbox, SandboxKeep, SandboxMode, SandboxMount, SandboxRequest, SandboxResult } from "./sandbox.ts";
export { anyAddressSpace, defaultSandboxLimits, type LimitHit, type SandboxLimits } from "./sandbox.ts";
export { refusedSandbox } from "./sandbox.ts";
export { chooseSandbox, probeBubblewrap } from "./choose-sandbox.ts";

// The project's tests.
export { type ProjectTests, type ProjectTestsRequest, runProjectTests, type TestTally } from "./run-tests.ts";
export type { TestFailure } from "./test-report.ts";
