import {
  type ChatModel,
  formatUsd,
  type MicroUsd,
  type Role,
  TroupeError,
  UsageError,
  TeamChange,
  UserFeedback,
  UserRequirement,
  type PriceTable,
} from "../../src/index.ts";
import { kinds, checkKnownOptions, type Known } from "../../src/ports.ts";
import { describeRole, type RoleDescription } from "../../src/inspector/index.ts";
import { costOfCalls, crewCost, isQuestion, type RoleBound, roleCalls } from "./crew-bound.ts";
import { type CrewGraph, crewGraph, type Worker, workersOf } from "./crew-graph.ts";
import { declaredTraits } from "./declared-action.ts";

/** The options of its team. */
export interface CrewToCheck {
  readonly roles: Iterable<Role>;
  /** Roles that one can hire. The bounds do not count them. */
  readonly reserve?: Iterable<Role> | undefined;
  readonly model?: Pick<ChatModel, "id" | "price" | "maxOutputTokens"> | undefined;
  readonly models?: Readonly<Record<string, Pick<ChatModel, "id" | "price" | "maxOutputTokens">>> | undefined;
  readonly prices?: PriceTable | undefined;
  readonly budget?: MicroUsd | undefined;
  readonly allowUnpriced?: boolean | undefined;
  /** Default 100, as for a team. */
  readonly rounds?: number | undefined;
  /** The actions whose messages are the result. Default: those that no role watches. */
  readonly output?: readonly string[] | undefined;
  /** Tokens of one question, for the bound of the cost. Default 32,000. */
  readonly inputTokens?: number | undefined;
}

const crewToCheck: Known<CrewToCheck> = {
  ...kinds.each(kinds.iterable("roles"), "roles", "reserve"),
  model: kinds.object,
  models: kinds.record(kinds.object),
  prices: kinds.record(kinds.price),
  ...kinds.each(kinds.count, "budget", "rounds", "inputTokens"),
  allowUnpriced: kinds.boolean,
  output: kinds.texts,
};

/** The findings of a check of a crew. */
export interface CrewFinding {
  readonly code:
    | "ROLE_INVALID"
    | "NAME_UNKNOWN"
    | "ROLE_ASLEEP"
    | "MESSAGE_UNHEARD"
    | "CIRCLE_ENDLESS"
    | "CIRCLE_OPEN"
    | "MODEL_MISSING"
    | "PRICE_UNKNOWN"
    | "CALLS_UNBOUNDED";
  readonly role?: string;
  readonly message: string;
}

/** A crew with a fault cannot work; a warning may be meant. */
export interface CrewReport {
  readonly faults: readonly CrewFinding[];
  readonly warnings: readonly CrewFinding[];
  readonly roles: readonly RoleBound[];
  readonly calls: number | undefined;
  /** In micro-dollars, by its calls or by its budget; undefined where neither bounds it. */
  readonly cost: MicroUsd | undefined;
}

/** More roles are a population, which a program makes. */
const MAX_ROLES = 2_000;
const ROUNDS = 100;
const INPUT_TOKENS = 32_000;

/**
 * Checks a crew before it costs anything: unheard messages, roles that nothing starts, endless circles, unknown names, missing models and
 * prices, and the calls and money that a run can take. Nothing runs. A role of the reserve is checked as hired.
 *
 * The bounds count one call for each question, three for a question with a schema, each with `inputTokens` and the model's longest reply;
 * cut-off tries are not counted. Where code decides how often it asks, only the budget is a bound.
 *
 * @throws UsageError `OPTION_UNKNOWN`; `OPTION_INVALID` without roles; `CREW_TOO_LARGE` for more than 2,000 roles
 * @example
 * import { defineAction, defineRole } from "troupe";
 * import { checkCrew } from "troupe/roles";
 *
 * const Greet = defineAction({ name: "Greet" });
 * const host = defineRole({ name: "Hana", reactions: [{ on: "Arive", do: Greet }] });
 * const { faults } = await checkCrew({ roles: [host], model: { id: "small", price: { input: 0, output: 0 } } });
 * console.log(faults.map(({ code }) => code)); // [ 'NAME_UNKNOWN', 'ROLE_ASLEEP' ]
 */
export async function checkCrew(crew: CrewToCheck): Promise<CrewReport> {
  checkKnownOptions("checkCrew", crew, crewToCheck);
  const begins = rolesIn(crew);
  const definitions = [...begins, ...(crew.reserve ?? [])];
  if (definitions.length > MAX_ROLES) {
    throw new UsageError(
      "CREW_TOO_LARGE",
      `Expected at most ${MAX_ROLES} roles to check, got ${definitions.length}. Check one role of each kind.`,
    );
  }
  const { roles: all, faults: invalid } = describedRoles(definitions);
  const roles = all.filter(({ role }) => begins.includes(role));
  const { rounds = ROUNDS } = crew;
  const graph = await crewGraph(workersIn(roles), rounds);
  const withReserve = all.length === roles.length ? graph : await crewGraph(workersIn(all), rounds);
  const isOpen = all.some(({ description }) => !description.isPlain);
  const found = [
    ...invalid,
    ...unknownNames(withReserve.workers, isOpen),
    ...sleepers(all, withReserve, isOpen),
    ...unheard(graph, crew.output),
    ...circles(graph, rounds),
    ...models(all, crew),
  ];
  const bounds = roles.map((role) => roleBound(role, graph, crew));
  const unbounded = bounds.filter(({ calls }) => calls === undefined);
  const limits = (crew.budget === undefined ? unbounded : []).map(({ name, unbounded: why = "" }) =>
    warning("CALLS_UNBOUNDED", `${name} may ask without a bound: ${why}. Give the run a budget.`, name),
  );
  const { calls, cost } = crewCost(bounds, crew.budget);
  const of = (wanted: Found["level"]): readonly CrewFinding[] =>
    [...found, ...limits].flatMap(({ level, ...finding }) => (level === wanted ? [finding] : []));
  return { faults: of("fault"), warnings: of("warning"), roles: bounds, calls, cost };
}

interface Found extends CrewFinding {
  readonly level: "fault" | "warning";
}

function fault(code: CrewFinding["code"], message: string, role?: string): Found {
  return { level: "fault", code, ...(role === undefined ? {} : { role }), message };
}

function warning(code: CrewFinding["code"], message: string, role?: string): Found {
  return { ...fault(code, message, role), level: "warning" };
}

interface DescribedRole {
  readonly description: RoleDescription;
  readonly role: Role;
}

function workersIn(roles: readonly DescribedRole[]): readonly Worker[] {
  return roles.flatMap(({ description, role }) => workersOf(description, role));
}

function rolesIn({ roles }: Partial<CrewToCheck> = {}): readonly Role[] {
  if (typeof roles?.[Symbol.iterator] === "function") return [...roles];
  throw new UsageError("OPTION_INVALID", "Expected the roles of checkCrew as a list. Give it the roles that a team would hire.");
}

function describedRoles(definitions: readonly Role[]): { readonly roles: readonly DescribedRole[]; readonly faults: readonly Found[] } {
  const roles: DescribedRole[] = [];
  const faults: Found[] = [];
  const names = new Set<string>();
  for (const role of definitions) {
    try {
      const description = describeRole(role);
      const { name } = description;
      if (names.has(name)) faults.push(fault("ROLE_INVALID", `Expected roles of different names, got a second "${name}".`, name));
      else roles.push({ description, role });
      names.add(name);
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      faults.push(fault("ROLE_INVALID", error.message));
    }
  }
  return { roles, faults };
}

/** @param isOpen true when code of some role may name any cause */
function unknownNames(workers: readonly Worker[], isOpen: boolean): readonly Found[] {
  const known = new Set([
    UserRequirement.name,
    UserFeedback.name,
    TeamChange.name,
    ...workers.flatMap(({ role, actions, says }) => [role.name, ...actions.map(({ name }) => name), ...says.map(({ cause }) => cause)]),
  ]);
  const seen = new Set<string>();
  return workers.flatMap(({ role, starts, needs }) =>
    [...role.watch, ...starts, ...needs].flatMap((cause): Found[] => {
      const id = `${role.name}\n${cause}`;
      if (cause === "*" || known.has(cause) || seen.has(id)) return [];
      seen.add(id);
      const list = [...known].slice(0, 20).join(", ");
      const message = `${role.name} waits for "${cause}", which no role of the crew causes. They can cause: ${list}.`;
      return [(isOpen ? warning : fault)("NAME_UNKNOWN", message, role.name)];
    }),
  );
}

function sleepers(roles: readonly DescribedRole[], { workers, awake }: CrewGraph, isOpen: boolean): readonly Found[] {
  return roles.flatMap(({ description: { name, watch } }): Found[] => {
    const own = workers.filter(({ role }) => role.name === name);
    const asleep = own.filter(({ id }) => !awake.has(id));
    if (asleep.length === 0 || isOpen) return [];
    const what =
      asleep.length === own.length ? name : `${name}'s ${asleep.flatMap(({ actions }) => actions.map((action) => action.name)).join(", ")}`;
    const waits = [...new Set(asleep.flatMap(({ starts }) => starts))].join(", ") || watch.join(", ") || "nothing";
    const message = `${what} never starts to work: it waits for ${waits}, and no message of the run leads there.`;
    return [fault("ROLE_ASLEEP", message, name)];
  });
}

function unheard({ unheard: all, awake }: CrewGraph, output: readonly string[] | undefined): readonly Found[] {
  const spoken = all.filter(({ worker }) => awake.has(worker.id));
  const causes = [...new Set(spoken.map(({ cause }) => cause))];
  if (output === undefined) {
    if (causes.length < 2) return [];
    const message = `The messages of ${causes.join(", ")} are heard by no role: all of them are results of the run. Name those that are meant in output.`;
    return [warning("MESSAGE_UNHEARD", message)];
  }
  return spoken
    .filter(({ cause }) => !output.includes(cause))
    .map(({ worker, cause }) => {
      const message = `The messages of ${cause} by ${worker.role.name} are heard by no role, and are no output. Let a role watch it, or name it in output.`;
      return fault("MESSAGE_UNHEARD", message, worker.role.name);
    });
}

function circles({ circles: all, awake }: CrewGraph, rounds: number): readonly Found[] {
  return all
    .filter(({ workers, end }) => end !== "limited" && workers.some(({ id }) => awake.has(id)))
    .map(({ workers, end }): Found => {
      const round = workers.map(({ role, actions }) => `${role.name} (${actions.map(({ name }) => name).join(", ") || "its answer"})`);
      const path = [...round, round[0]].join(" -> ");
      if (end !== "endless")
        return warning("CIRCLE_OPEN", `The circle ${path} ends when a message says so, at the latest after ${rounds} rounds.`);
      const message = `Nothing ends the circle ${path}: it goes on until the ${rounds} rounds are used up. Give one of its actions endsWhen or limit.`;
      return fault("CIRCLE_ENDLESS", message);
    });
}

function models(roles: readonly DescribedRole[], crew: CrewToCheck): readonly Found[] {
  const { prices = {}, budget, allowUnpriced = false } = crew;
  const reported = new Set<string>();
  return roles.flatMap(({ description, role }): Found[] => {
    const { name } = description;
    const asks = !role.human && description.mode !== "step" && (description.actions.length > 0 || description.mode === "agent");
    if (!asks) return [];
    const model = modelOf(role, crew);
    if (model === undefined) {
      // An action of code may ask nothing.
      const isSure = description.isPlain && (description.mode === "agent" || description.actions.some(isQuestion));
      return [(isSure ? fault : warning)("MODEL_MISSING", `${name} has no model, and the team has none for it.`, name)];
    }
    if (budget === undefined || allowUnpriced || reported.has(model.id) || costOfCalls(1, model, prices, 1) !== undefined) return [];
    reported.add(model.id);
    const message = `The price of ${model.id} is not known, so that a budget of ${formatUsd(budget)} cannot bind it. Give its price, or allow it without one.`;
    return [fault("PRICE_UNKNOWN", message, name)];
  });
}

function modelOf(role: Role, { model, models: byRole = {} }: CrewToCheck): CrewToCheck["model"] {
  return (Object.hasOwn(byRole, role.name) ? byRole[role.name] : undefined) ?? role.model ?? model;
}

function roleBound({ description, role }: DescribedRole, graph: CrewGraph, crew: CrewToCheck): RoleBound {
  const { name } = description;
  const { rounds = ROUNDS, prices = {}, inputTokens = INPUT_TOKENS } = crew;
  const own = graph.workers.filter((worker) => worker.role.name === name);
  const starts = own.map((worker) => [worker, graph.activations.get(worker.id) ?? 0] as const);
  const activations = Math.min(
    rounds,
    starts.reduce((sum, [, count]) => sum + count, 0),
  );
  const calls = role.human ? 0 : roleCalls(description, starts);
  if (typeof calls === "string") return { name, activations, calls: undefined, unbounded: calls, cost: undefined };
  const model = modelOf(role, crew);
  const others = own.flatMap(({ actions }) => actions.flatMap((action) => declaredTraits(action)?.models ?? []));
  const costs = model === undefined ? [undefined] : [model, ...others].map((one) => costOfCalls(calls, one, prices, inputTokens));
  const dearest = costs.includes(undefined) ? undefined : (Math.max(...(costs as readonly MicroUsd[])) as MicroUsd);
  const cost = calls === 0 ? (0 as MicroUsd) : dearest;
  return { name, activations, calls, cost };
}
