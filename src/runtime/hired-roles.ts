import { type Action, assertSameAction } from "../role/action.ts";
import { UsageError } from "../kernel/errors.ts";
import { agentMode } from "../role/late-agent.ts";
import { neverActs } from "../role/never-acts.ts";
import { OnlyAction } from "../role/only-action.ts";
import type { Role } from "../role/role.ts";
import { roleSpec, type RoleSpec } from "../role/role-spec.ts";
import type { HiredAs, RoleState } from "./record/role-state.ts";
import { addRoleState, type RunState } from "./record/run-state.ts";
import { hiredAs } from "./hired-role.ts";
import type { Remembers, RoleMemories, RoleMemory } from "./role-memories.ts";
import { Directory, type Listening } from "./routing/router.ts";

/** A definition, as all who are hired by it share it. */
export interface Definition {
  readonly spec: RoleSpec;
  /** What it does, where that is all there is to its life. */
  readonly only: OnlyAction;
  readonly remembers: Remembers;
  readonly as: HiredAs;
  readonly listening: Listening;
}

/**
 * Who of a run's roles is hired, and by which definition. It owns the directory by which messages find them, and that two different actions
 * never share a name.
 *
 * H1 a role that is refused leaves no trace. H2 what a definition says is looked at once, however many are hired by it; for each of them there
 * is one place in a list, at its place in the run.
 */
export class HiredRoles {
  readonly #state: RunState;
  readonly #memories: RoleMemories;
  /** By which messages find them. */
  readonly directory: Directory<RoleState>;
  readonly #definitions = new Map<RoleSpec, Definition>();
  /** By the place of the role in the run, which may have had others who are not hired now. */
  readonly #hired: (Definition | undefined)[] = [];
  /** By which definition each of the run's roles is hired, at its place in the run. */
  readonly definitions: readonly (Definition | undefined)[] = this.#hired;
  readonly #actions = new Map<string, Action>();
  #size = 0;
  #hasAgent = false;

  constructor(state: RunState, memories: RoleMemories) {
    this.#state = state;
    this.#memories = memories;
    this.directory = new Directory({ run: state, hired: this.#hired });
  }

  get size(): number {
    return this.#size;
  }

  /** In hire order. */
  get names(): readonly string[] {
    return [...this.#state.roles.values()].filter(({ index }) => this.#hired[index] !== undefined).map(({ name }) => name);
  }

  /** Loads what some of them work by and others do without; undefined where all do without. */
  load(): Promise<unknown> | undefined {
    return this.#hasAgent ? agentMode() : undefined;
  }

  /**
   * Makes a role known under a name that nobody has yet, and to the run if that does not know it.
   *
   * @throws UsageError `ROLE_DUPLICATE`, `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`, `OPTION_INVALID`
   */
  add(role: Role, name: string): void {
    const known = this.#state.roles.get(name);
    if (known !== undefined && this.#hired[known.index] !== undefined) throw duplicate(name);
    const definition = this.#definitionBy(role);
    const state = known ?? addRoleState(this.#state, name, definition.as);
    this.#hired[state.index] = definition;
    this.#size += 1;
    this.#hasAgent ||= definition.spec.mode === "agent";
    this.directory.add(state, definition.listening);
  }

  /** Definitions whose roles can only listen. */
  get idle(): readonly RoleSpec[] {
    return [...this.#definitions.keys()].filter(neverActs);
  }

  has(name: string): boolean {
    const state = this.#state.roles.get(name);
    return state !== undefined && this.#hired[state.index] !== undefined;
  }

  specOf(name: string): RoleSpec | undefined {
    const state = this.#state.roles.get(name);
    return state === undefined ? undefined : this.#hired[state.index]?.spec;
  }

  memoryOf(name: string): RoleMemory | undefined {
    return this.#memories.of(name);
  }

  #definitionBy(role: Role): Definition {
    const spec = roleSpec(role);
    return this.#definitions.get(spec) ?? this.#newDefinition(spec);
  }

  #newDefinition(spec: RoleSpec): Definition {
    const { role, card, addresses, watch, observeAll, actions } = spec;
    for (const action of actions) assertSameAction(this.#actions.get(action.name), action);
    const definition = {
      spec,
      only: new OnlyAction(spec),
      as: hiredAs(role),
      listening: { addresses: [card.profile, ...addresses], watch, observeAll },
      remembers: this.#memories.enlist(role),
    };
    for (const action of actions) this.#actions.set(action.name, action);
    this.#definitions.set(spec, definition);
    return definition;
  }
}

function duplicate(name: string): UsageError {
  return new UsageError(
    "ROLE_DUPLICATE",
    `Expected roles of different names, got a second "${name}". Hire it under another: addRole(role, { name }).`,
  );
}
