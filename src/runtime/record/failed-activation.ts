import type { ActEnded, ActFailed } from "./event.ts";

/** An activation that failed and changed nothing. The run may have continued: see the failure policies. */
export interface FailedActivation {
  readonly role: string;
  /** `role#n~attempt`: the name of its last attempt. */
  readonly act: string;
  /** The number of its last attempt, from 1. */
  readonly attempt: number;
  /** The code of the error of the last attempt. */
  readonly code: string;
  readonly message: string;
}

/** The failed activations by their names without the attempt. */
export type FailedActivations = Map<string, FailedActivation>;

/** Adds the end of an activation. A failure that is retried at once does not count yet; a later success removes the failure. */
export function noteEnd(failures: FailedActivations, event: ActEnded | ActFailed): void {
  if (event.type === "act.ended") {
    if (failures.size > 0) failures.delete(nameIn(event.act));
    return;
  }
  const { act, role, error, then } = event;
  if (then !== "dead" && then !== "stop") return;
  failures.set(nameIn(act), { role, act, attempt: attemptIn(act), code: error.code, message: error.message });
}

export function failuresIn(list: readonly FailedActivation[]): FailedActivations {
  return new Map(list.map((failed) => [nameIn(failed.act), failed]));
}

function nameIn(act: string): string {
  return act.slice(0, act.lastIndexOf("~"));
}

function attemptIn(act: string): number {
  return Number(act.slice(act.lastIndexOf("~") + 1));
}
