import { hiredRole } from "../runtime/hired-roles.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { JournalError } from "../kernel/errors.ts";
import { canonicalJson, type Json } from "../kernel/json.ts";
import type { ModelLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import type { HiredRole } from "../runtime/record/event.ts";
import type { RunState } from "../runtime/record/run-state.ts";

/** Who is hired and what is allowed when a run starts or goes on. */
export interface Crew {
  readonly roles: readonly (readonly [name: string, role: Role])[];
  /** What bounds the run alone, and is recorded. Before its bounds are known: what the team allows each run. */
  readonly budget: MicroUsd | undefined;
  /** What else binds it, in this process. */
  readonly pools: readonly BudgetPool[];
  readonly limits: ModelLimits | undefined;
}

/** Longest text of a trait that is shown. */
const SHOWN = 120;

/** The crew as a run records it. */
export function hiredBy(crew: Crew): readonly HiredRole[] {
  return crew.roles.map(([name, role]) => hiredRole(role, name));
}

/** What is compared of a role. */
type Hired = Pick<HiredRole, "name" | "fingerprint" | "traits">;

/** In what a crew differs from a team of a record, a line each. */
export function teamDifferences(team: Iterable<Hired>, crew: Crew): readonly string[] {
  const hired = hiredBy(crew);
  const names = new Set(hired.map(({ name }) => name));
  const then = new Map([...team].map((role) => [role.name, role]));
  const missing = [...then.keys()].filter((name) => !names.has(name)).map((name) => `${name} is missing`);
  return [...missing, ...hired.flatMap((role) => differencesOf(then.get(role.name), role))];
}

/** @throws JournalError `TEAM_CHANGED` when the crew is not the one of the run. */
export function assertSameTeam({ runId, roles }: RunState, crew: Crew): void {
  const differences = teamDifferences(roles.values(), crew);
  if (differences.length > 0) throw teamChanged(runId, differences, "Go on with the team it was started with, or force it.");
}

/** The refusal of a crew that is not the one of a run, with what to do. */
export function teamChanged(runId: string, differences: readonly string[], advice: string): JournalError {
  const text = `Expected the team of run ${runId}, got another: ${differences.join("; ")}. ${advice}`;
  return new JournalError("TEAM_CHANGED", text, { data: { differences } });
}

/** Whoever a run had hired must be there: there may be mail for them. @throws JournalError `TEAM_CHANGED` */
export function assertSameNames({ runId, parent, roles }: RunState, crew: Crew): void {
  assertHired(parent?.runId ?? runId, roles.values(), crew);
}

/** The same for those who were hired on the way. @throws JournalError `TEAM_CHANGED` */
export function assertHired(runId: string, roles: Iterable<Pick<Hired, "name">>, crew: Crew): void {
  const names = new Set(crew.roles.map(([name]) => name));
  const missing = [...roles].map(({ name }) => name).filter((name) => !names.has(name));
  if (missing.length === 0) return;
  throw new JournalError(
    "TEAM_CHANGED",
    `Expected everyone that run ${runId} had hired, but ${missing.join(", ")} is missing. Hire them; they may be others than they were.`,
    { data: { differences: missing.map((name) => `${name} is missing`) } },
  );
}

/** The crew as a fork records it: those of the parent in their order, with whoever is missing as they were, then those who are new. */
export function hiredInOrder(before: readonly HiredRole[], crew: Crew): readonly HiredRole[] {
  const now = new Map(hiredBy(crew).map((role) => [role.name, role]));
  const known = new Set(before.map(({ name }) => name));
  return [...before.map((role) => now.get(role.name) ?? role), ...[...now.values()].filter(({ name }) => !known.has(name))];
}

/** The roles as the run hired them: who hears what is told in that order, whatever order they are hired in now. Who is new comes last. */
export function inOrderOf(state: RunState, crew: Crew): Crew["roles"] {
  const place = (name: string): number => state.roles.get(name)?.index ?? Infinity;
  return crew.roles.toSorted(([a], [b]) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

function differencesOf(then: Hired | undefined, now: HiredRole): readonly string[] {
  if (then === undefined) return [`${now.name} is new`];
  if (then.fingerprint === now.fingerprint) return [];
  const traits = [...new Set([...Object.keys(then.traits), ...Object.keys(now.traits)])];
  const changed = traits.filter((trait) => canonicalJson(then.traits[trait] ?? null) !== canonicalJson(now.traits[trait] ?? null));
  if (changed.length === 0) return [`${now.name} is another role`];
  return changed.map((trait) => `${now.name}: ${trait} was ${shortened(then.traits[trait])}, is ${shortened(now.traits[trait])}`);
}

function shortened(value: Json = null): string {
  const text = canonicalJson(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}...`;
}
