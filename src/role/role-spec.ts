import { type Action, assertRoutableName, assertSameAction } from "../action/action.ts";
import type { CustomState, RoleCard } from "../action/context.ts";
import { UsageError } from "../kernel/errors.ts";
import { jsonRoundTrip } from "../kernel/json.ts";
import { type Address, addressOf, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement } from "../message/address.ts";
import { isFailurePolicy } from "./failure-policy.ts";
import { type ReactionSpec, reactionSpec } from "./reaction.ts";
import type { ReactMode, Role } from "./role.ts";

/** A role with everything looked up once: what an environment needs to route to it and to run it. Shared by all who hire it. */
export interface RoleSpec {
  readonly role: Role;
  readonly card: RoleCard;
  readonly actions: readonly Action[];
  readonly reactions: readonly ReactionSpec[];
  readonly watch: readonly string[];
  readonly addresses: readonly string[];
  readonly observeAll: boolean;
  readonly mode: ReactMode;
  readonly maxReactLoop: number;
  readonly initialState: CustomState;
}

const specs = new WeakMap<Role, RoleSpec>();
const reserved: ReadonlySet<string> = new Set([ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF]);

/**
 * Looks a role up.
 *
 * @throws UsageError `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`
 */
export function roleSpec(role: Role): RoleSpec {
  const known = specs.get(role);
  if (known !== undefined) return known;
  const spec = buildSpec(role);
  specs.set(role, spec);
  return spec;
}

/**
 * Refuses what cannot be the name of a role: it must be an address.
 *
 * @throws UsageError `ROLE_INVALID`
 */
export function assertRoleName(name: unknown): void {
  if (typeof name === "string" && name.trim() !== "" && !reserved.has(name)) return;
  throw new UsageError(
    "ROLE_INVALID",
    `Expected a role to have a name that is no routing word, got ${JSON.stringify(name)}. Messages reach it by its name.`,
  );
}

function buildSpec(role: Role): RoleSpec {
  assertRoleName(role.name);
  assertIsRole(role);
  assertOptions(role);
  const reactions = role.reactions.map(reactionSpec);
  const actions = actionsOf(role, reactions);
  const mode = role.reactMode ?? (reactions.length > 0 ? "by_cause" : "react");
  if (mode === "by_cause" && reactions.length === 0 && actions.length > 1) {
    throw new UsageError(
      "ROLE_INVALID",
      `Expected role ${role.name} in mode by_cause to have reactions, got none. Say which cause leads to which action.`,
    );
  }
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
    watch: watchOf(role, reactions),
    addresses: role.addresses,
    observeAll: role.observeAll,
    mode,
    maxReactLoop: role.maxReactLoop ?? (mode === "by_order" ? actions.length : 10),
    initialState: initialStateOf(role),
  });
}

function assertIsRole(role: Partial<Role>): void {
  if (typeof role.react === "function" && Array.isArray(role.actions) && Array.isArray(role.reactions)) return;
  throw new UsageError(
    "ROLE_INVALID",
    `Expected a role, got something else that is called ${String(role.name)}. Make it by defineRole, or by a subclass of Role.`,
  );
}

const modes: ReadonlySet<ReactMode | undefined> = new Set([undefined, "by_cause", "by_order", "react", "plan_and_act"]);

function assertOptions({ name, reactMode, maxReactLoop, memoryLimit, timeout, onFailure }: Role): void {
  const refuse = (option: string, expected: string, came: unknown): never => {
    throw new UsageError(
      "ROLE_INVALID",
      `Expected ${option} of role ${name} to be ${expected}, got ${JSON.stringify(came) ?? String(came)}.`,
    );
  };
  if (!modes.has(reactMode)) refuse("reactMode", "by_cause, by_order, react or plan_and_act", reactMode);
  if (!isCount(maxReactLoop)) refuse("maxReactLoop", "a whole number of 1 or more", maxReactLoop);
  if (!isCount(memoryLimit)) refuse("memoryLimit", "a whole number of 1 or more", memoryLimit);
  if (!(timeout > 0)) refuse("timeout", "a number of milliseconds above 0", timeout);
  if (onFailure !== undefined && !isFailurePolicy(onFailure)) refuse("onFailure", '"stop", "skip" or retry(n)', onFailure);
}

function isCount(value: number | undefined): boolean {
  return value === undefined || (Number.isInteger(value) && value >= 1);
}

function actionsOf(role: Role, reactions: readonly ReactionSpec[]): readonly Action[] {
  const byName = new Map<string, Action>();
  for (const action of [...role.actions, ...reactions.map((reaction) => reaction.action)]) {
    assertRoutableName(action);
    assertSameAction(byName.get(action.name), action);
    byName.set(action.name, action);
  }
  return [...byName.values()];
}

function watchOf(role: Role, reactions: readonly ReactionSpec[]): readonly string[] {
  const named: readonly Address[] | undefined = role.watch;
  if (named !== undefined) return [...new Set(named.map(addressOf))];
  if (reactions.length === 0) return [UserRequirement.name];
  return [...new Set(reactions.flatMap((reaction) => [...reaction.on, ...reaction.needs]))];
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
