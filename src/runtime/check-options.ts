import { UsageError } from "../kernel/errors.ts";
import { checkModel } from "../kernel/foreign-models.ts";
import { valueText } from "../kernel/value-text.ts";
import { checkMailbox } from "../message/mailbox.ts";
import { checkRoleMemory } from "../memory/role-memory.ts";
import { checkTuning } from "../model/call.ts";
import { sharedLimits } from "../model/limits.ts";
import { checkEdges } from "./edges/edge-policy.ts";
import type { EnvironmentOptions } from "./environment-options.ts";
import { schedulerOf } from "./schedulers/scheduler.ts";

/** Checks the options whose tables do not know all their rules. */
export function checkOptions({ scheduler, models = {}, limits, calls, memory, mailbox, edges }: EnvironmentOptions): void {
  if (scheduler !== undefined) schedulerOf(scheduler);
  for (const [role, model] of Object.entries(models)) checkModel("OPTION_INVALID", `models.${role}`, model);
  sharedLimits(limits);
  checkTuning(calls);
  checkRoleMemory(memory);
  checkMailbox(mailbox);
  checkEdges(edges);
}

export function checkWhole(value: number, name: string, least: number, todo = "Leave it out for the default."): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new UsageError("OPTION_INVALID", `Expected ${name} to be a whole number of ${least} or more, got ${valueText(value)}. ${todo}`);
}
