import { anEffectPort } from "../kernel/effect.ts";
import { isObject, isRecord } from "../kernel/value-kind.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkModel } from "../kernel/foreign-models.ts";
import { valueText } from "../kernel/value-text.ts";
import { checkMailbox } from "../message/mailbox.ts";
import { checkRoleMemory } from "../memory/role-memory.ts";
import { checkTuning } from "../model/call.ts";
import { sharedLimits } from "../model/limits.ts";
import { isFailurePolicy } from "../role/failure-policy.ts";
import { checkEdges } from "./edges/edge-policy.ts";
import type { EnvironmentOptions } from "./environment-options.ts";
import { schedulerOf } from "./schedulers/scheduler.ts";

export function checkOptions(options: EnvironmentOptions): void {
  if (typeof options !== "object" || options === null) throw refused("options", "an object", options, "Leave them out for the defaults.");
  const { scheduler, delivery, concurrency, messageLimit, onFailure, onDeadAddress, seed, model, models, human } = options;
  if (scheduler !== undefined) schedulerOf(scheduler);
  if (delivery !== undefined && delivery !== "hire" && delivery !== "shuffled" && delivery !== "sender")
    throw refused("delivery", '"hire", "shuffled" or "sender"', delivery, "Leave it out for the order of hiring.");
  if (concurrency !== undefined) checkWhole(concurrency, "concurrency", 1);
  if (messageLimit !== undefined) checkWhole(messageLimit, "messageLimit", 1);
  if (options.uncertainAfter !== undefined) checkWhole(options.uncertainAfter, "uncertainAfter", 0, "Leave it out to wait for ever.");
  if (onFailure !== undefined && !isFailurePolicy(onFailure))
    throw refused("onFailure", '"stop", "skip" or retry(n)', onFailure, 'Leave it out for "stop".');
  if (onDeadAddress !== undefined && onDeadAddress !== "warn" && onDeadAddress !== "fail")
    throw refused("onDeadAddress", '"warn" or "fail"', onDeadAddress, 'Leave it out for "warn".');
  checkSeed(seed);
  if (model !== undefined) checkModel("OPTION_INVALID", "model", model);
  if (models !== undefined && !isRecord(models))
    throw refused("models", "models by the names of roles", models, 'Write models: { Alex: openai({ model: "..." }) }.');
  for (const [role, own] of Object.entries(models ?? {})) checkModel("OPTION_INVALID", `models.${role}`, own);
  if (human !== undefined && typeof human !== "function")
    throw refused("human", "a function", human, "Write human: (question) => answer, or leave it out: then questions wait.");
  if (options.effects !== undefined && !anEffectPort.fits(options.effects))
    throw refused("effects", anEffectPort.says, options.effects, "Make one by remoteEffects(...) of troupe/fleet.");
  sharedLimits(options.limits);
  checkTuning(options.calls);
  checkRoleMemory(options.memory);
  checkMailbox(options.mailbox);
  checkEdges(options.edges);
  checkSecrets(options.secrets);
}

export function checkWhole(value: number, name: string, least: number, todo = "Leave it out for the default."): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw refused(name, `a whole number of ${least} or more`, value, todo);
}

export function checkStopCondition(stopWhen: unknown): void {
  if (stopWhen === undefined || typeof stopWhen === "function") return;
  throw refused("stopWhen", "a function", stopWhen, "Write stopWhen: afterRounds(3), or a function of the run's progress.");
}

export function checkSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal || isSignal(signal)) return;
  throw refused("signal", "an AbortSignal", signal, "Write signal: AbortSignal.timeout(1_000), or the signal of an AbortController.");
}

/** True for a signal, also of another realm or another library. */
function isSignal(signal: unknown): boolean {
  return isObject(signal) && "aborted" in signal && "addEventListener" in signal;
}

function checkSeed(seed: unknown): void {
  if (seed === undefined || typeof seed === "string" || (typeof seed === "number" && !Number.isNaN(seed))) return;
  throw refused("seed", "a string or a number", seed, "Leave it out for the default.");
}

/** The error does not show the value, because it may be the secret itself. */
function checkSecrets(secrets: unknown): void {
  if (secrets === undefined || (Array.isArray(secrets) && secrets.every((secret) => typeof secret === "string"))) return;
  throw new UsageError("OPTION_INVALID", "Expected secrets to be a list of strings, got something else. Write secrets: [secret].");
}

function refused(name: string, expected: string, came: unknown, todo: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${name} to be ${expected}, got ${valueText(came)}. ${todo}`);
}
