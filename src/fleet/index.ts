/** Runs that are driven by many processes. Published as `troupe/fleet`. */

export type { Delivery, FleetDriver, RunDriver, Handled } from "../team/run-driver.ts";
export { askServedModel, effectTeam } from "./effect-team.ts";
export { servedTool } from "./served-tool.ts";
export { submitAnswer } from "./submit-answer.ts";
export { remoteEffects } from "./effects.ts";
export { startWorker, type Worker } from "./worker.ts";
export { jsonLogger } from "../server/json-logger.ts";
export { type RunWorkspaces, runWorkspaces } from "./run-workspaces.ts";
