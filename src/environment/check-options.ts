import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { checkRoleMemory } from "../memory/role-memory.ts";
import { isFailurePolicy } from "../role/failure-policy.ts";
import { isModel } from "../role/role-parts.ts";
import type { EnvironmentOptions } from "./environment-options.ts";

/**
 * Refuses options that can never work, before anything is begun.
 *
 * @throws UsageError `OPTION_INVALID`, `SCHEDULER_UNKNOWN`
 */
export function checkOptions(options: EnvironmentOptions): void {
  if (typeof options !== "object" || options === null) throw refused("options", "an object", options, "Leave them out for the defaults.");
  const { scheduler, concurrency, messageLimit, onFailure, seed, model, human } = options;
  if (scheduler !== undefined && scheduler !== "rounds" && scheduler !== "eager") {
    throw new UsageError(
      "SCHEDULER_UNKNOWN",
      `Expected a scheduler "rounds" or "eager", got ${valueText(scheduler)}. Leave it out for rounds.`,
    );
  }
  if (concurrency !== undefined) checkWhole(concurrency, "concurrency", 1);
  if (messageLimit !== undefined) checkWhole(messageLimit, "messageLimit", 1);
  if (onFailure !== undefined && !isFailurePolicy(onFailure))
    throw refused("onFailure", '"stop", "skip" or retry(n)', onFailure, 'Leave it out for "stop".');
  if (typeof seed === "number" && Number.isNaN(seed)) throw refused("seed", "a string or a number", seed, "Leave it out for a random one.");
  if (model !== undefined && !isModel(model)) throw refused("model", "a model", model, 'Make one by an adapter: openai({ model: "..." }).');
  if (human !== undefined && typeof human !== "function")
    throw refused("human", "a function", human, "Write human: (question) => answer, or leave it out: then questions wait.");
  checkRoleMemory(options.memory);
  checkSecrets(options.secrets);
}

/** @throws UsageError `OPTION_INVALID` for a team that would forget: what its run is gone on with, forked and replayed from is what was said. */
export function checkTeamMemory(memory: unknown): void {
  if (memory === false)
    throw refused(
      "memory of a team",
      "options",
      memory,
      "Only a bare environment forgets; one role recalls nothing with its own memory: false.",
    );
}

/** @throws UsageError `OPTION_INVALID` unless the value is a whole number that is large enough. */
export function checkWhole(value: number, name: string, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw refused(name, `a whole number of ${least} or more`, value, "Leave it out for the default.");
}

/** @throws UsageError `OPTION_INVALID` unless the value is a condition or left out. */
export function checkStopCondition(stopWhen: unknown): void {
  if (stopWhen === undefined || typeof stopWhen === "function") return;
  throw refused("stopWhen", "a function", stopWhen, "Write stopWhen: afterRounds(3), or a function of the run's progress.");
}

/** What came may be the secret itself, so it is not told. */
function checkSecrets(secrets: unknown): void {
  if (secrets === undefined || (Array.isArray(secrets) && secrets.every((secret) => typeof secret === "string"))) return;
  throw new UsageError("OPTION_INVALID", "Expected secrets to be a list of texts, got something else. Write secrets: [secret].");
}

function refused(name: string, expected: string, came: unknown, todo: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${name} to be ${expected}, got ${valueText(came)}. ${todo}`);
}
