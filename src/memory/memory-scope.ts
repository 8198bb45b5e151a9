import { UsageError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Scope } from "../kernel/scope.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";

/** The parts of a {@link Scope}. @internal */
export const scopeParts: Known<Scope> = { tenant: kinds.text, user: kinds.text, conversation: kinds.text };

/** Identifies a long-term memory: that of a role, for all runs or for a part of them. */
export interface MemoryScope extends Scope {
  readonly role: string;
}

/** The reach of a role's memory beyond a run. A part that a run does not name narrows it: without a user, `user` is `conversation`. */
export type MemoryReach = "conversation" | "user" | "tenant" | "role";

export const MEMORY_REACHES: readonly MemoryReach[] = ["conversation", "user", "tenant", "role"];

/** Begins the key of a scope that is more than a role. */
const SCOPED = '["';

/** Returns the key of a scope in a store, different for different scopes. The key of a role's memory for all runs is the role's name. */
export function scopeKey({ role, tenant, user, conversation }: MemoryScope): string {
  const parts = [tenant, user, conversation];
  if (parts.every((part) => part === undefined) && !role.startsWith(SCOPED)) return role;
  return JSON.stringify([role, ...parts.map((part) => part ?? null)]);
}

/** Returns the scope of a key of {@link scopeKey}. Any other string is the name of a role. */
export function scopeOfKey(key: string): MemoryScope {
  const parts = key.startsWith(SCOPED) ? parsedJson(key) : undefined;
  if (!isList(parts)) return { role: key };
  const [role, tenant, user, conversation] = parts as readonly [string, ...(string | null)[]];
  return { role, ...named({ tenant, user, conversation }) };
}

/** Returns a scope as a person reads it: `Guide, user ann, tenant shop`. */
export function scopeText({ role, ...scope }: MemoryScope): string {
  return [role, ...Object.entries(scope).map(([part, name]) => `${part} ${name}`)].join(", ");
}

/** True for a scope that is the given one or a part of it. */
export function isWithin(scope: Scope | undefined, whole: Scope): boolean {
  return Object.keys(scopeParts).every((part) => {
    const wanted = whole[part as keyof Scope];
    return wanted === undefined || scope?.[part as keyof Scope] === wanted;
  });
}

/** Returns whose memory a role of a run has. @param reach default: of the user, else of the conversation, else of the role for all runs */
export function memoryScope(role: string, run: Scope | undefined, runId: string, reach?: MemoryReach): MemoryScope {
  if (reach === "role" || (reach === undefined && run === undefined)) return { role };
  const { tenant, user, conversation = runId } = run ?? {};
  if (reach === "tenant") return { role, ...named({ tenant }) };
  return user === undefined || reach === "conversation"
    ? { role, ...named({ tenant, conversation }) }
    : { role, ...named({ tenant, user }) };
}

/** Returns the scope of runs inside a run: they belong to its conversation. Undefined if the run has none. */
export function scopeInside({ runId, scope }: { readonly runId: string; readonly scope: Scope | undefined }): Scope | undefined {
  return scope === undefined ? undefined : { conversation: runId, ...scope };
}

/** @throws UsageError `OPTION_UNKNOWN`; `OPTION_INVALID` for a part that is no string, or an empty one */
export function checkScope(what: string, scope: unknown): void {
  if (scope === undefined) return;
  checkKnownOptions(what, scope, scopeParts);
  for (const [part, value] of Object.entries(isRecord(scope) ? scope : {})) {
    if (value === undefined || (typeof value === "string" && value !== "")) continue;
    throw new UsageError("OPTION_INVALID", `Expected the ${part} of ${what} to be a string that is not empty, got ${valueText(value)}.`);
  }
}

function named(parts: { readonly [Part in keyof Scope]: string | null | undefined }): Scope {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined && value !== null));
}
