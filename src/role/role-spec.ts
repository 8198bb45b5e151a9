import { type Action, assertActionModel, assertRoutableName, assertSameAction } from "./action.ts";
import type { CustomState, RoleCard } from "./context.ts";
import { DEFAULT_MAX_STEPS } from "../agent/lifecycle.ts";
import { UsageError } from "../kernel/errors.ts";
import { jsonRoundTrip } from "../kernel/json.ts";
import { valueText } from "../kernel/value-text.ts";
import { checkRoleMemory } from "../memory/role-memory.ts";
import { type Address, addressOf, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement } from "../message/address.ts";
import { isSameJson } from "./act.ts";
import { checkMailbox } from "../message/mailbox.ts";
import { type ReactionSpec, reactionSpec } from "./reaction.ts";
import { ToolCollection } from "../tool/tool-collection.ts";
import type { ReactMode, Role } from "./role.ts";
import { assertIsRole, assertRoleParts } from "./role-parts.ts";
import { assertStepAlone } from "./step-role.ts";

/** A role, resolved once for routing and running. Shared by all environments that hire it. */
export interface RoleSpec {
  readonly role: Role;
  readonly card: RoleCard;
  readonly actions: readonly Action[];
  readonly reactions: readonly ReactionSpec[];
  readonly watch: readonly string[];
  readonly addresses: readonly string[];
  readonly observeAll: boolean;
  /** `step`: the role is one function over its state: `step` or `steps`. */
  readonly mode: ReactMode | "step";
  readonly maxReactLoop: number;
  readonly initialState: CustomState;
  /** The only action of a role that watches all its needs, and so waits for them. */
  readonly join: ReactionSpec | undefined;
}

const specs = new WeakMap<Role, RoleSpec>();
const reserved: ReadonlySet<string> = new Set([ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF]);

export function roleSpec(role: Role): RoleSpec {
  const known = specs.get(role);
  if (known !== undefined) return known;
  const spec = buildSpec(role);
  specs.set(role, spec);
  return spec;
}

export function assertRoleName(name: unknown): void {
  if (typeof name === "string" && name.trim() !== "" && !reserved.has(name)) return;
  throw new UsageError(
    "ROLE_INVALID",
    `Expected a role to have a name that is no routing word, got ${valueText(name)}. Messages reach it by its name.`,
  );
}

function buildSpec(role: Role): RoleSpec {
  assertIsRole(role);
  assertRoleName(role.name);
  assertRoleParts(role);
  checkRoleMemory(role.memory);
  checkMailbox(role.mailbox);
  const reactions = role.reactions.map(reactionSpec);
  const actions = actionsOf(role, reactions);
  const isStepRole = role.step !== undefined || role.steps !== undefined;
  if (isStepRole) assertStepAlone(role);
  else if (role.acts !== undefined) throw notEachRound(role);
  const mode = isStepRole ? "step" : (role.reactMode ?? defaultMode(role));
  if (mode === "by_cause" && reactions.length === 0 && actions.length > 1) {
    throw new UsageError(
      "ROLE_INVALID",
      `Expected role ${role.name} in mode by_cause to have reactions, got none. Say which cause leads to which action.`,
    );
  }
  assertToolsAreUsed(role, mode);
  const watch = watchOf(role, reactions);
  const initialState = initialStateOf(role);
  for (const action of actions) assertStateOf(role, initialState, action);
  return Object.freeze({
    role,
    card: Object.freeze({
      name: role.name,
      profile: role.profile,
      goal: role.goal,
      constraints: role.constraints,
      description: role.description,
    }),
    actions,
    reactions,
    watch,
    addresses: role.addresses,
    observeAll: role.observeAll,
    mode,
    maxReactLoop: role.maxReactLoop ?? defaultLoop(mode, actions.length),
    initialState,
    join: mode === "react" || mode === "by_order" ? joinOf(role, actions, watch) : undefined,
  });
}

function defaultMode({ reactions, tools = [], agent }: Role): ReactMode {
  if (reactions.length > 0) return "by_cause";
  return tools.length > 0 || agent !== undefined ? "agent" : "react";
}

function notEachRound({ name }: Role): UsageError {
  return new UsageError(
    "ROLE_INVALID",
    `Expected role ${name}, which acts in each round, to be a plain function over its state, got none. Write steps(state, messages, out) { ... }, or leave acts out.`,
  );
}

function joinOf({ observeAll }: Role, [only, ...more]: readonly Action[], watch: readonly string[]): ReactionSpec | undefined {
  if (only === undefined || more.length > 0 || only.needs.length === 0) return undefined;
  const needs = only.needs.map(addressOf);
  return observeAll || needs.every((need) => watch.includes(need)) ? { on: new Set(needs), needs, action: only } : undefined;
}

function defaultLoop(mode: RoleSpec["mode"], actions: number): number {
  if (mode === "agent") return DEFAULT_MAX_STEPS;
  return mode === "by_order" ? actions : 10;
}

function assertToolsAreUsed({ name, tools = [], agent }: Role, mode: RoleSpec["mode"]): void {
  if (mode === "agent") return void new ToolCollection(tools);
  if (tools.length === 0 && agent === undefined) return;
  throw new UsageError(
    "ROLE_INVALID",
    `Expected role ${name} with ${agent === undefined ? "tools" : "settings of an agent"} to be an agent, got mode ${mode}. Write reactMode: "agent".`,
  );
}

function actionsOf(role: Role, reactions: readonly ReactionSpec[]): readonly Action[] {
  const byName = new Map<string, Action>();
  for (const action of [...role.actions, ...reactions.map((reaction) => reaction.action)]) {
    assertRoutableName(action);
    assertActionModel(action);
    assertSameAction(byName.get(action.name), action);
    byName.set(action.name, action);
  }
  return [...byName.values()];
}

/** Returns true for a cause that starts a reaction. */
export function isForReaction({ reactions }: RoleSpec, cause: string): boolean {
  return reactions.some(({ on }) => on.has(cause));
}

function watchOf(role: Role, reactions: readonly ReactionSpec[]): readonly string[] {
  const named: readonly Address[] | undefined = role.watch;
  if (named !== undefined) return [...new Set(named.map(addressOf))];
  // An agent works on what the user says, besides its reactions.
  const first = reactions.length === 0 || role.reactMode === "agent" ? [UserRequirement.name] : [];
  return [...new Set([...first, ...reactions.flatMap((reaction) => [...reaction.on, ...reaction.needs])])];
}

/** @throws UsageError `STATE_INVALID` when a role's initial state lacks a value that one of its actions needs */
function assertStateOf(role: Role, initialState: CustomState, { name, state }: Action): void {
  if (state === undefined) return;
  const parsed = state.safeParse(initialState);
  const held = parsed.success ? (parsed.data as CustomState | undefined) : undefined;
  // A role lacks values for which only the action's schema has a default.
  const missing = Object.keys(held ?? {}).filter((key) => !isSameJson(held?.[key], initialState[key]));
  if (parsed.success && missing.length === 0) return;
  const why = parsed.success ? `${missing.join(", ")} is not in it` : parsed.error.message;
  throw new UsageError(
    "STATE_INVALID",
    `Expected the state of role ${role.name} to start with what its action ${name} needs, but ${why}. Give the role a state schema with those fields and their defaults.`,
    parsed.success ? {} : { cause: parsed.error },
  );
}

function initialStateOf(role: Role): CustomState {
  if (role.state === undefined) return {};
  const parsed = role.state.safeParse({});
  if (!parsed.success) {
    throw new UsageError(
      "STATE_INVALID",
      `Expected the state of role ${role.name} to have defaults for every field: ${parsed.error.message}`,
      {
        cause: parsed.error,
      },
    );
  }
  return jsonRoundTrip(parsed.data);
}
