import type { BudgetPool } from "../kernel/budget.ts";
import { listed } from "../kernel/value-text.ts";
import { TeamChange, UserFeedback, UserRequirement } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import type { ModelLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import { roleSpec } from "../role/role-spec.ts";
import { hiredRole, reactsByDefault } from "../runtime/hired-roles.ts";
import type { HiredRole } from "../runtime/record/event.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { JournalError } from "../kernel/errors.ts";
import { canonicalJson, type Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { RoleState } from "../runtime/record/role-state.ts";

export interface Crew {
  readonly roles: readonly (readonly [name: string, role: Role])[];
  /** The recorded budget of this run. Before its bounds are known: the budget of each run of the team. */
  readonly budget: MicroUsd | undefined;
  readonly pools: readonly BudgetPool[];
  readonly limits: ModelLimits | undefined;
  readonly reserve?: (hired: Pick<HiredRole, "name" | "traits">) => Role | undefined;
}

export function hiredBy(crew: Crew): readonly HiredRole[] {
  return crew.roles.map(([name, role]) => hiredRole(role, name));
}

export function crewWith(hired: Iterable<Pick<HiredRole, "name" | "traits">>, crew: Crew): Crew {
  const roles = new Map(crew.roles);
  for (const one of hired) {
    const role = roles.has(one.name) ? undefined : crew.reserve?.(one);
    if (role !== undefined) roles.set(one.name, role);
  }
  return roles.size === crew.roles.length ? crew : { ...crew, roles: [...roles] };
}

/** Returns recorded roles with their present definitions; a role that the crew lacks stays as recorded. */
export function definedNow(recorded: readonly HiredRole[], crew: Crew): readonly HiredRole[] {
  const roles = new Map(crewWith(recorded, crew).roles);
  return recorded.map((role) => {
    const now = roles.get(role.name);
    return now === undefined ? role : hiredRole(now, role.name);
  });
}

/** The roles of the parent come first, in their order. @param later names of the roles hired during the shared past */
export function hiredInOrder(before: readonly HiredRole[], crew: Crew, later: ReadonlySet<string>): readonly HiredRole[] {
  const known = new Set([...before.map(({ name }) => name), ...later]);
  return [...definedNow(before, crew), ...hiredBy(crew).filter(({ name }) => !known.has(name))];
}

export function inOrderOf(state: RunState, crew: Crew): Crew["roles"] {
  const index = (name: string): number => state.roles.get(name)?.index ?? Number.MAX_SAFE_INTEGER;
  return crew.roles.toSorted(([a], [b]) => index(a) - index(b));
}

const MAX_CAUSES = 10;

/** Warnings alone, because a message from outside may come later. A crew with a handmade role gets none: such a role may name any cause. */
export function unwatchedCauses(roles: Crew["roles"], said: readonly (Message | string)[]) {
  const specs = roles.map(([name, role]) => ({ name, spec: roleSpec(role) }));
  if (!specs.every(({ spec }) => reactsByDefault(spec))) return [];
  const causes = new Set<string>([UserRequirement.name, UserFeedback.name, TeamChange.name]);
  for (const message of said) if (typeof message !== "string") causes.add(message.causeBy);
  for (const { name, spec } of specs) {
    for (const cause of [name, spec.card.name, ...spec.actions.map((action) => action.name)]) causes.add(cause);
  }
  return specs.flatMap(({ name, spec }) =>
    spec.watch
      .filter((cause) => !causes.has(cause))
      .map((cause) => ({
        role: name,
        cause,
        warning: `${name} watches "${cause}", which no role of this team can cause. They can cause: ${listed([...causes], MAX_CAUSES)}.`,
      })),
  );
}

/** The handling of a run whose team differs from its record: it is refused with `TEAM_CHANGED`, or continues with the present team. */
export type OnTeamChange = "refuse" | "continue";

/** One difference between the recorded team and the present team. */
export interface TeamDifference {
  /** The name of the role in the run. */
  readonly role: string;
  readonly kind: "missing" | "new" | "changed";
  /** The changed trait: `goal`, `watch`, `actions` and others. Left out unless the kind is `changed`. */
  readonly trait?: string;
  /** The recorded value as JSON, shortened to 120 characters; `null` for none. Left out unless the kind is `changed`. */
  readonly from?: string;
  /** The present value, in the same form. */
  readonly to?: string;
}

type Hired = Pick<HiredRole, "name" | "fingerprint" | "traits">;

const MAX_TRAIT = 120;

export function teamDifferences(team: Iterable<Hired>, crew: Crew): readonly TeamDifference[] {
  const hired = hiredBy(crew);
  const names = new Set(hired.map(({ name }) => name));
  const then = new Map([...team].map((role) => [role.name, role]));
  const missing = [...then.keys()].filter((name) => !names.has(name)).map((role) => ({ role, kind: "missing" }) as const);
  return [...missing, ...hired.flatMap((role) => differencesOf(then.get(role.name), role))];
}

function teamDifferenceText({ role, kind, trait, from, to }: TeamDifference): string {
  if (kind === "changed") return `${role}: ${trait} was ${from}, is ${to}`;
  return kind === "missing" ? `${role} is missing` : `${role} is new`;
}

export function admittedChange({ runId, roles }: RunState, crew: Crew, onTeamChange: OnTeamChange = "refuse"): readonly TeamDifference[] {
  const needed = [...roles.values()].filter(isNeeded);
  const differences = teamDifferences(needed, { ...crew, roles: crew.roles.filter(([name]) => isNeeded(roles.get(name))) });
  if (differences.length > 0 && onTeamChange === "refuse")
    throw teamChanged(runId, differences, 'Go on with the team it was started with, or with this one: { onTeamChange: "continue" }.');
  return differences;
}

export function isNeeded(role: RoleState | undefined): boolean {
  return role === undefined || role.isHired || role.waiting > 0;
}

export function teamChanged(runId: string, differences: readonly TeamDifference[], advice: string): JournalError {
  const text = `Expected the team of run ${runId}, got another: ${differences.map(teamDifferenceText).join("; ")}. ${advice}`;
  return new JournalError("TEAM_CHANGED", text, { data: { differences } });
}

export function changeText(runId: string, differences: readonly TeamDifference[]): string {
  return `Run ${runId} continues with another team: ${differences.map(teamDifferenceText).join("; ")}.`;
}

export function assertHired(runId: string, roles: Iterable<Pick<Hired, "name">>, crew: Crew): void {
  const names = new Set(crew.roles.map(([name]) => name));
  const missing = [...roles].map(({ name }) => name).filter((name) => !names.has(name));
  if (missing.length === 0) return;
  throw new JournalError(
    "TEAM_CHANGED",
    `Expected everyone that run ${runId} had hired, but ${missing.join(", ")} is missing. Hire them; they may be others than they were.`,
    { data: { differences: missing.map((role): TeamDifference => ({ role, kind: "missing" })) } },
  );
}

function differencesOf(then: Hired | undefined, now: HiredRole): readonly TeamDifference[] {
  const { name: role } = now;
  if (then === undefined) return [{ role, kind: "new" }];
  if (then.fingerprint === now.fingerprint) return [];
  const [before, after] = [flat(then.traits), flat(now.traits)];
  const traits = [...new Set([...before.keys(), ...after.keys()])];
  const changed = traits.filter((trait) => canonicalJson(before.get(trait) ?? null) !== canonicalJson(after.get(trait) ?? null));
  if (changed.length === 0) return [{ role, kind: "changed", trait: "fingerprint", from: then.fingerprint, to: now.fingerprint }];
  return changed.map((trait) => ({ role, kind: "changed", trait, from: shortened(before.get(trait)), to: shortened(after.get(trait)) }));
}

/** Returns the traits by name: the lines of the card one by one, because they are long. */
function flat({ card, ...traits }: HiredRole["traits"]): ReadonlyMap<string, Json> {
  return new Map(
    Object.entries(isRecord(card) ? { ...(card as { readonly [line: string]: Json }), ...traits } : { card: card ?? null, ...traits }),
  );
}

function shortened(value: Json = null): string {
  const text = canonicalJson(value);
  return text.length <= MAX_TRAIT ? text : `${text.slice(0, MAX_TRAIT)}...`;
}
