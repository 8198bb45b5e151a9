import { UsageError } from "../kernel/errors.ts";
import { listed, valueText } from "../kernel/value-text.ts";
import { contentHash, deepFreeze, jsonRoundTrip } from "../kernel/json.ts";
import { type Action, assertSameAction } from "../role/action.ts";
import { agentMode } from "../role/react.ts";
import { assertHandoffs, handoffOf } from "../role/handoff.ts";
import { Role } from "../role/role.ts";
import { roleSpec, type RoleSpec } from "../role/role-spec.ts";
import type { HiredRole, RoleHired, RunStarted } from "./record/event.ts";
import type { HiredAs, RoleState } from "./record/role-state.ts";
import { addRoleState, playerOf, type RunState } from "./record/run-state.ts";
import type { Remembers, RoleMemories, RoleMemory } from "./role-memories.ts";
import { Directory, type Listening } from "./routing/directory.ts";
import { type EdgePolicy, matcherOf, namesInEdges } from "./edges/edge-policy.ts";
import { isList, isRecord, isText } from "../kernel/value-kind.ts";
import { recordedScheduler, schedulerOf } from "./schedulers/scheduler.ts";
import type { EnvironmentOptions } from "./environment-options.ts";
import type { RunLog } from "./record/run-log.ts";

const HOOKS = ["observe", "think", "act", "react", "planTasks"] as const;

export interface Definition {
  readonly spec: RoleSpec;
  readonly remembers: Remembers;
  readonly hasHooks: boolean;
  readonly as: HiredAs;
  readonly listening: Listening;
}

/**
 * The hired roles of a run with their definitions. It owns the directory that routes messages to them.
 *
 * HiredRoles.H1 (`add`, `admit`) a refused role leaves no trace: the names of its actions stay free.
 * HiredRoles.H2 (`#definitionBy`) a definition is checked once for all its roles: each role adds one item to a list.
 * HiredRoles.H3 (`#newDefinition`) two different actions never share a name.
 */
export class HiredRoles {
  readonly #state: RunState;
  readonly #memories: RoleMemories;
  readonly directory: Directory;
  readonly #definitions = new Map<RoleSpec, Definition>();
  /** By the index of each role in the run. A resumed run may have roles that are not hired now. */
  readonly definitions: (Definition | undefined)[] = [];
  readonly #actions = new Map<string, Action>();
  #hasAgent = false;
  /** True if a role may hand its conversation to another. */
  handsOff = false;

  constructor(state: RunState, memories: RoleMemories) {
    this.#state = state;
    this.#memories = memories;
    this.directory = new Directory(state, this.definitions);
  }

  get names(): readonly string[] {
    return this.namesAt(this.#state.teamChanges);
  }

  get team(): readonly (readonly [name: string, role: Role])[] {
    return this.names.flatMap((name): readonly (readonly [string, Role])[] => {
      const role = this.specOf(name)?.role;
      return role === undefined ? [] : [[name, role]];
    });
  }

  /** @throws UsageError `ROLE_UNKNOWN`, `ROLE_INVALID` for a hand-off to nobody, or to the role itself */
  assertHandoffs(): void {
    if (this.handsOff) assertHandoffs([...this.#definitions.keys()], this.names);
  }

  namesAt(changes: number): readonly string[] {
    const there = [...this.#state.roles.values()].filter((role) => this.definitions[role.index] !== undefined && role.wasHired(changes));
    return there.map(({ name }) => name);
  }

  isPlayedByModel(name: string, changes: number): boolean {
    const isOurs = this.#state.roles.get(name)?.wasHired(changes) === true && playerOf(this.#state, name, changes) === undefined;
    return isOurs && this.specOf(name)?.role.human === false;
  }

  /** Loads the code of mode `agent`; undefined if no role uses it. */
  load(): Promise<unknown> | undefined {
    return this.#hasAgent ? agentMode() : undefined;
  }

  /** Adds a role under a free name, also to the run if the run does not have it. */
  add(role: Role, name: string): void {
    const known = this.#state.roles.get(name);
    if (known !== undefined && this.definitions[known.index] !== undefined)
      throw new UsageError("ROLE_DUPLICATE", `Expected roles of different names, got a second "${name}". Hire it under another name.`);
    const definition = this.#definitionBy(role);
    this.#bind(known ?? addRoleState(this.#state, name, definition.as), definition);
  }

  /** Returns the recorded form of a role to hire during the run. */
  admit(role: Role, name: string): HiredRole {
    const known = this.#state.roles.get(name);
    if (known !== undefined && (known.isHired || known.fingerprint !== hiredAs(roleSpec(role)).fingerprint)) throw taken(known);
    return { name, ...this.#definitionBy(role).as };
  }

  /** Sets the definition of a role hired during the run. */
  join(role: Role, name: string): void {
    const state = this.#state.roles.get(name);
    if (state !== undefined) this.#bind(state, this.#definitionBy(role));
  }

  #bind(state: RoleState, definition: Definition): void {
    const isKnown = this.definitions[state.index] !== undefined;
    this.definitions[state.index] = definition;
    this.#hasAgent ||= definition.spec.mode === "agent";
    this.handsOff ||= definition.spec.role.tools?.some((tool) => handoffOf(tool) !== undefined) === true;
    if (!isKnown) this.directory.add(state, definition.listening);
  }

  get idle(): readonly RoleSpec[] {
    return [...this.#definitions.keys()].filter(onlyListens);
  }

  has(name: string): boolean {
    const state = this.#state.roles.get(name);
    return state !== undefined && this.definitions[state.index] !== undefined;
  }

  specOf(name: string): RoleSpec | undefined {
    const state = this.#state.roles.get(name);
    return state === undefined ? undefined : this.definitions[state.index]?.spec;
  }

  memoryOf(name: string): RoleMemory | undefined {
    return this.#memories.of(name);
  }

  #definitionBy(role: Role): Definition {
    const spec = roleSpec(role);
    return this.#definitions.get(spec) ?? this.#newDefinition(spec);
  }

  #newDefinition(spec: RoleSpec): Definition {
    const { role, card, addresses, watch, observeAll, actions, mode } = spec;
    for (const action of actions) assertSameAction(this.#actions.get(action.name), action);
    const definition = {
      spec,
      as: hiredAs(spec),
      listening: { addresses: [card.profile, ...addresses], watch, observeAll },
      remembers: this.#memories.enlist(role),
      hasHooks: mode === "agent" || HOOKS.some((hook) => role[hook] !== Role.prototype[hook]),
    };
    for (const action of actions) this.#actions.set(action.name, action);
    this.#definitions.set(spec, definition);
    return definition;
  }
}

function taken({ name, isHired }: RoleState): UsageError {
  const whose = isHired ? "which a role of the run has" : "which another role of the run had until it was retired";
  return new UsageError(
    "ROLE_DUPLICATE",
    `Expected the name of a new role to be free, got "${name}", ${whose}. Hire it under another name.`,
  );
}

function memberOf({ runId, roles }: RunState, name: string): RoleState {
  const role = roles.get(name);
  if (role?.isHired === true) return role;
  const team = [...roles.values()].flatMap((member) => (member.isHired ? [member.name] : []));
  const came = role === undefined ? valueText(name) : `${valueText(name)}, which was retired before`;
  throw new UsageError("ROLE_UNKNOWN", `Expected the name of a role of run ${runId}, got ${came}. There are: ${listed(team, MAX_NAMES)}.`);
}

/** @throws UsageError `ROLE_UNKNOWN`, `ROLE_TAKEN`; `ROLE_NOT_TAKEN` for a role to give back that nobody has taken */
export function assertTakes(hired: HiredRoles, state: RunState, name: string, back: boolean): void {
  memberOf(state, name);
  const player = playerOf(state, name);
  const isHuman = hired.specOf(name)?.role.human === true;
  if (back ? player !== undefined : player === undefined && !isHuman) return;
  const wanted = `Expected a role that ${back ? "a person has taken" : "a model plays"}, got ${name}, which`;
  if (back) throw new UsageError("ROLE_NOT_TAKEN", `${wanted} nobody has taken. Take it first.`);
  const way = player === undefined ? "a person plays in every run (human: true)" : `${player.by ?? "a person"} has taken`;
  throw new UsageError("ROLE_TAKEN", `${wanted} ${way}. Answer its questions${player === undefined ? "" : ", or give it back first"}.`);
}

export function retirable(state: RunState, name: string): RoleState {
  const role = memberOf(state, name);
  if ([...state.roles.values()].some((other) => other.isHired && other !== role)) return role;
  throw new UsageError(
    "ROLES_NONE",
    `Expected run ${state.runId} to keep a role, but ${name} is its last. Hire another before, or stop the run.`,
  );
}

const MAX_NAMES = 20;

const descriptions = new WeakMap<RoleSpec, HiredAs>();

export function hiredRole(role: Role, name: string): HiredRole {
  return { name, ...hiredAs(roleSpec(role)) };
}

/** Returns the recorded form without the name. It is made once for each definition. */
function hiredAs(spec: RoleSpec): HiredAs {
  const known = descriptions.get(spec);
  if (known !== undefined) return known;
  const description = deepFreeze(describe(spec));
  descriptions.set(spec, description);
  return description;
}

function describe(spec: RoleSpec): HiredAs {
  const { card, watch, addresses, observeAll, mode, initialState, role } = spec;
  const reactions = spec.reactions.map((reaction) => ({ on: [...reaction.on], needs: reaction.needs, do: reaction.action.name }));
  const actions = spec.actions.map((action) => action.name);
  const bound = role.mailbox === undefined ? {} : { mailbox: role.mailbox };
  // The description is the default prompt of an action. Code is no trait: a build may write the same function differently.
  const described = spec.actions.filter(({ description }) => description !== "");
  const texts = Object.fromEntries(described.map(({ name, description }) => [`action ${name}`, description]));
  const acts = role.acts === undefined ? {} : { acts: role.acts };
  const all = { card, watch, addresses, observeAll, mode, actions, reactions, ...bound, ...acts, ...texts };
  const traits = jsonRoundTrip(all) as unknown as HiredAs["traits"];
  const fingerprint = contentHash(traits).slice(0, 32);
  const state = initialState as HiredAs["state"];
  return { fingerprint, traits, state, ...(role.memoryLimit === undefined ? {} : { memoryLimit: role.memoryLimit }), ...bound };
}

const { observe, think, act, react } = Role.prototype;

export function reactsByDefault({ mode, role }: RoleSpec): boolean {
  return mode !== "step" && role.observe === observe && role.think === think && role.act === act && role.react === react;
}

/** True for a role that only listens: it has no reaction and overrides no method. */
function onlyListens(spec: RoleSpec): boolean {
  return spec.actions.length === 0 && spec.mode !== "agent" && reactsByDefault(spec);
}

export type FirstWarning = readonly [role: string | undefined, text: string];

export function firstWarnings(
  hired: Pick<HiredRoles, "idle">,
  state: RunState,
  edges: readonly EdgePolicy[] | undefined,
): readonly FirstWarning[] {
  return [
    ...hired.idle.map(({ card: { name } }): FirstWarning => [
      name,
      `${name} has no actions and no react or step of its own: it will only listen. Give it actions: [...].`,
    ]),
    ...unknownNames(state, edges).map((text): FirstWarning => [undefined, text]),
  ];
}

function unknownNames({ roles, scheduler, parameters }: RunState, edges: readonly EdgePolicy[] | undefined): readonly string[] {
  const lists = scheduler === "staged" && isRecord(parameters) && parameters["stages"];
  const staged = isList(lists) ? lists.flat().filter(isText) : [];
  const profiles = new Set(staged.length === 0 ? [] : [...roles.values()].map(({ profile }) => profile));
  return [
    ...namesInEdges(edges)
      .filter((name) => ![...roles.keys()].some(matcherOf([name])))
      .map((name) => `A policy of the edges names ${name}, and no role has ${name.includes("*") ? "a name of that form" : "that name"}.`),
    ...staged
      .filter((name) => !roles.has(name) && !profiles.has(name))
      .map((name) => `A stage names ${name}, and no role has that name or profile.`),
  ];
}

/**
 * Records the start of a run without a journal, and the roles hired since. It owns the names that are not recorded yet.
 *
 * Opening.O1 (`record`) the start is the first event, and is recorded once, with all roles hired by then.
 * Opening.O2 (`record`) a role hired later is recorded before the next event that follows from it.
 * Opening.O3 (`RunLog.recordKnown`) without an observer, no event is created.
 */
export function openingOf(log: RunLog, hired: HiredRoles, scheduler: EnvironmentOptions["scheduler"]) {
  const isRecorded = (): boolean => log.state.seq > 0;
  let unrecorded: string[] = [];
  const roles = (names: readonly string[]): readonly HiredRole[] =>
    names.flatMap((name) => {
      const spec = hired.specOf(name);
      return spec === undefined ? [] : [hiredRole(spec.role, name)];
    });
  const start = (): RunStarted => {
    const { seed, bounds, edges, arrival, scope } = log.state;
    return {
      type: "run.started",
      team: "environment",
      roles: roles(hired.names),
      seed,
      ...recordedScheduler(schedulerOf(scheduler ?? "rounds")),
      ...(arrival === "hire" ? {} : { arrival }),
      ...(bounds.mailbox === undefined ? {} : { bounds: { mailbox: bounds.mailbox } }),
      ...(edges.length === 0 ? {} : { edges }),
      ...(scope === undefined ? {} : { scope }),
    };
  };
  return {
    hired(name: string): void {
      if (isRecorded()) unrecorded.push(name);
    },
    start,
    record(): void {
      const names = unrecorded;
      if (isRecorded() && names.length === 0) return;
      unrecorded = [];
      if (isRecorded()) log.recordKnown("role.hired", (): RoleHired => ({ type: "role.hired", roles: roles(names) }));
      else log.recordKnown("run.started", start);
    },
  };
}

export type Opening = ReturnType<typeof openingOf>;
