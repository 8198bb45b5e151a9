import { untilAborted } from "../kernel/abort.ts";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";
import { rolesIn } from "../role/role-parts.ts";
import type { Role } from "../role/role.ts";

/** A run that needs its roles. */
export interface RolesRequest {
  readonly runId: string;
  /** Aborts when the roles are not needed any more. */
  readonly signal: AbortSignal;
}

/**
 * Roles: a list that all runs share, or a function that returns those of one run, where each has a folder or connections of its own. The
 * function is called by the process that owns the run, each time the run begins, goes on or is changed there, after the `prepare` of
 * `ResumeOptions`. For one run it always returns the same names with the same traits; a fork is a run of its own. A replay asks for the roles of
 * the run that it repeats.
 */
export type TeamRoles = Iterable<Role> | RolesFunction;

/** Returns the roles of one run. */
export type RolesFunction = (run: RolesRequest) => Iterable<Role> | Promise<Iterable<Role>>;

/** Returns what the function makes for a run. @throws UsageError `ROLE_INVALID`, `ROLES_FAILED`; ControlError when the signal aborts */
export async function rolesMade(make: RolesFunction, run: RolesRequest): Promise<Iterable<Role>> {
  const made = (async () => make(run))();
  const roles = await untilAborted(made, run.signal).catch((cause: unknown) => {
    if (TroupeError.isInstance(cause)) throw cause;
    const expected = `Expected the roles of run ${valueText(run.runId)}, but their function failed: ${thrownText(cause)}`;
    throw new UsageError("ROLES_FAILED", `${expected}. Mend it, and go on with the run: nothing of it is lost.`, { cause });
  });
  // Each role is checked when it is hired.
  return rolesIn(roles) as Iterable<Role>;
}
