import {
  checkKnownOptions,
  type ChatModel,
  formatUsd,
  kinds,
  type Known,
  type MicroUsd,
  type PriceTable,
  type Role,
  TroupeError,
  UsageError,
  UserFeedback,
  UserRequirement,
} from "../../src/index.ts";
import { describeRole, type RoleDescription } from "../../src/inspector/index.ts";
import { type CallBound, type CostOptions, costOfCalls, crewCost, isQuestion, type RoleBound, roleCalls } from "./crew-bound.ts";
import { type CrewGraph, crewGraph, type Worker, workersOf } from "./crew-graph.ts";

/** A crew to check: what its team would be given. */
export interface CrewToCheck {
  readonly roles: Iterable<Role>;
  /** Roles that no run begins with, and that one can hire. The bounds of calls and money do not count them. */
  readonly reserve?: Iterable<Role> | undefined;
  /** The model of roles without one of their own. */
  readonly model?: Pick<ChatModel, "id" | "price" | "maxOutputTokens"> | undefined;
  /** Models by the names of roles. */
  readonly models?: Readonly<Record<string, Pick<ChatModel, "id" | "price" | "maxOutputTokens">>> | undefined;
  /** Prices that override the table. */
  readonly prices?: PriceTable | undefined;
  /** The most a run may cost; undefined: no bound. */
  readonly budget?: MicroUsd | undefined;
  /** True when models without a known price may work under a budget. Default false. */
  readonly allowUnpriced?: boolean | undefined;
  /** The most rounds of a run. Default 100, as for a team. */
  readonly rounds?: number | undefined;
  /** The actions whose messages are the result. Default: those that no role hears. */
  readonly output?: readonly string[] | undefined;
  /** The most tokens of one question, for the bound of the cost. Default 32,000. */
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
  /** The role it concerns; undefined: the crew. */
  readonly role?: string;
  readonly message: string;
}

/** The result of a check. A crew with a fault cannot do what it is meant to; a warning may be meant. */
export interface CrewReport {
  readonly faults: readonly CrewFinding[];
  readonly warnings: readonly CrewFinding[];
  readonly roles: readonly RoleBound[];
  /** Calls of all roles; undefined where they are not bounded. */
  readonly calls: number | undefined;
  /** The most a run can cost in micro-dollars: by its calls or by its budget, whichever is less; undefined where neither bounds it. */
  readonly cost: MicroUsd | undefined;
}

/** More roles are a population, which is made by a program. */
const MOST_ROLES = 2_000;
const ROUNDS = 100;
const INPUT_TOKENS = 32_000;

/**
 * Checks a crew before it costs anything: messages that nobody hears, roles that nothing starts, circles without an end, names that lead nowhere, missing
 * models and prices, and the most calls and money that a run can take. Nothing runs and nothing is asked.
 *
 * A role of the reserve is checked as one that was hired: its names, what starts it, its model and its price.
 *
 * The bounds count one call for each question, three for a question with a schema, and each call with `inputTokens` and the model's longest reply. Tries that
 * a server cut off are not counted. Where code of an action decides how often it asks, only the budget is a bound, and the report says so.
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
  if (definitions.length > MOST_ROLES) {
    throw new UsageError(
      "CREW_TOO_LARGE",
      `Expected at most ${MOST_ROLES} roles to check, got ${definitions.length}. Check one role of each kind.`,
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
  const costs = { prices: crew.prices ?? {}, inputTokens: crew.inputTokens ?? INPUT_TOKENS };
  const bounds = roles.map((role) => roleBound(role, graph, crew, costs));
  const unbounded = bounds.filter(({ calls }) => calls === undefined);
  const limits = unbounded.flatMap(({ name, unbounded: why = "" }): Found[] =>
    crew.budget === undefined
      ? [
          {
            level: "warning",
            code: "CALLS_UNBOUNDED",
            role: name,
            message: `${name} may ask without a bound: ${why}. Give the run a budget.`,
          },
        ]
      : [],
  );
  const { calls, cost } = crewCost(bounds, crew.budget);
  return { ...byLevel([...found, ...limits]), roles: bounds, calls, cost };
}

interface Found extends CrewFinding {
  readonly level: "fault" | "warning";
}

interface DescribedRole {
  readonly description: RoleDescription;
  readonly role: Role;
}

function workersIn(roles: readonly DescribedRole[]): readonly Worker[] {
  return roles.flatMap(({ description, role }) => workersOf(description, role));
}

function byLevel(found: readonly Found[]): Pick<CrewReport, "faults" | "warnings"> {
  const of = (level: Found["level"]): CrewFinding[] => found.flatMap(({ level: own, ...finding }) => (own === level ? [finding] : []));
  return { faults: of("fault"), warnings: of("warning") };
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
      if (names.has(description.name)) {
        faults.push({
          level: "fault",
          code: "ROLE_INVALID",
          role: description.name,
          message: `Expected roles of different names, got a second "${description.name}".`,
        });
      } else roles.push({ description, role });
      names.add(description.name);
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error;
      faults.push({ level: "fault", code: "ROLE_INVALID", message: error.message });
    }
  }
  return { roles, faults };
}

/** Causes that are waited for and that nobody has. @param isOpen true when code of some role may name any cause */
function unknownNames(workers: readonly Worker[], isOpen: boolean): readonly Found[] {
  const known = new Set([
    UserRequirement.name,
    UserFeedback.name,
    ...workers.flatMap(({ role, actions, says }) => [role.name, ...actions.map(({ name }) => name), ...says.map(({ cause }) => cause)]),
  ]);
  const seen = new Set<string>();
  return workers.flatMap(({ role, starts, needs }) =>
    [...role.watch, ...starts, ...needs].flatMap((cause): Found[] => {
      const id = `${role.name}\n${cause}`;
      if (cause === "*" || known.has(cause) || seen.has(id)) return [];
      seen.add(id);
      const list = [...known].slice(0, 20).join(", ");
      const message = `${role.name} waits for "${cause}", which nobody of the crew causes. They can cause: ${list}.`;
      return [{ level: isOpen ? "warning" : "fault", code: "NAME_UNKNOWN", role: role.name, message }];
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
    return [{ level: "fault", code: "ROLE_ASLEEP", role: name, message }];
  });
}

function unheard({ unheard: all, awake }: CrewGraph, output: readonly string[] | undefined): readonly Found[] {
  const spoken = all.filter(({ worker }) => awake.has(worker.id));
  const causes = [...new Set(spoken.map(({ cause }) => cause))];
  if (output === undefined) {
    if (causes.length < 2) return [];
    const message = `The messages of ${causes.join(", ")} are heard by no role: all of them are results of the run. Name those that are meant in output.`;
    return [{ level: "warning", code: "MESSAGE_UNHEARD", message }];
  }
  return spoken
    .filter(({ cause }) => !output.includes(cause))
    .map(({ worker, cause }) => {
      const message = `The messages of ${cause} by ${worker.role.name} are heard by no role, and are no output. Let a role watch it, or name it in output.`;
      return { level: "fault", code: "MESSAGE_UNHEARD", role: worker.role.name, message };
    });
}

function circles({ circles: all, awake }: CrewGraph, rounds: number): readonly Found[] {
  return all
    .filter(({ workers, end }) => end !== "limited" && workers.some(({ id }) => awake.has(id)))
    .map(({ workers, end }): Found => {
      const round = workers.map(({ role, actions }) => `${role.name} (${actions.map(({ name }) => name).join(", ") || "its answer"})`);
      const path = [...round, round[0]].join(" -> ");
      return end === "endless"
        ? {
            level: "fault",
            code: "CIRCLE_ENDLESS",
            message: `Nothing ends the circle ${path}: it goes on until the ${rounds} rounds are used up. Give one of its actions endsWhen or limit.`,
          }
        : {
            level: "warning",
            code: "CIRCLE_OPEN",
            message: `The circle ${path} ends when a message says so, at the latest after ${rounds} rounds.`,
          };
    });
}

function models(roles: readonly DescribedRole[], crew: CrewToCheck): readonly Found[] {
  const { prices = {}, budget, allowUnpriced = false } = crew;
  const told = new Set<string>();
  return roles.flatMap(({ description, role }): Found[] => {
    const { name } = description;
    const asks = !role.human && description.mode !== "step" && (description.actions.length > 0 || description.mode === "agent");
    if (!asks) return [];
    const model = modelOf(role, crew);
    if (model === undefined) {
      // An action of code may ask nothing.
      const isSure = description.isPlain && (description.mode === "agent" || description.actions.some(isQuestion));
      return [
        {
          level: isSure ? "fault" : "warning",
          code: "MODEL_MISSING",
          role: name,
          message: `${name} has no model, and the team has none for it.`,
        },
      ];
    }
    if (budget === undefined || allowUnpriced || told.has(model.id) || costOfCalls(1, model, { prices, inputTokens: 1 }) !== undefined)
      return [];
    told.add(model.id);
    const message = `The price of ${model.id} is not known, so that a budget of ${formatUsd(budget)} cannot bind it. Give its price, or allow it without one.`;
    return [{ level: "fault", code: "PRICE_UNKNOWN", role: name, message }];
  });
}

function modelOf(role: Role, { model, models: byRole = {} }: CrewToCheck): CrewToCheck["model"] {
  return (Object.hasOwn(byRole, role.name) ? byRole[role.name] : undefined) ?? role.model ?? model;
}

function roleBound({ description, role }: DescribedRole, graph: CrewGraph, crew: CrewToCheck, costs: CostOptions): RoleBound {
  const own = graph.workers.filter((worker) => worker.role.name === description.name);
  const starts = own.map((worker) => ({ worker, activations: graph.activations.get(worker.id) ?? 0 }));
  const activations = Math.min(
    crew.rounds ?? ROUNDS,
    starts.reduce((sum, one) => sum + one.activations, 0),
  );
  const bound: CallBound = role.human ? { kind: "calls", calls: 0 } : roleCalls(description, starts);
  const { name } = description;
  if (bound.kind === "unbounded") return { name, activations, calls: undefined, unbounded: bound.why, cost: undefined };
  const model = modelOf(role, crew);
  const cost = bound.calls === 0 ? (0 as MicroUsd) : model === undefined ? undefined : costOfCalls(bound.calls, model, costs);
  return { name, activations, calls: bound.calls, cost };
}
