/** Runs that are driven by many processes. Published as `troupe/fleet`. */

export type {
  ConnectedWorker,
  Delivery,
  DeliveryHandler,
  FleetDriver,
  JobInfo,
  RunDriver,
  RunJob,
  Handled,
  Working,
  WorkOptions,
} from "../team/run-driver.ts";
export { askServedModel, effectTeam, type EffectTeamOptions, type ServedEffect } from "./effect-team.ts";
export { servedTool } from "./served-tool.ts";
export { submitAnswer, type SubmitAnswerOptions } from "./submit-answer.ts";
export { remoteEffects, type RemoteEffectsOptions } from "./effects.ts";
export { startWorker, type Worker } from "./worker.ts";
export type { WorkerOptions } from "./worker-options.ts";
export { jsonLogger, type JsonLoggerOptions, type LogLevel } from "../server/json-logger.ts";
export { type RunWorkspaceCall, type RunWorkspaces, runWorkspaces, type RunWorkspacesOptions } from "./run-workspaces.ts";
