import { type AnySchema, zodOf } from "../model/standard-schema.ts";
import { roleSpec } from "./role-spec.ts";
import { readable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { z } from "zod";
import type { Action, Awaitable } from "./action.ts";
import type { CustomState, RoleContext } from "./context.ts";
import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import type { RoleMemoryOptions } from "../memory/role-memory.ts";
import type { TaskFields } from "../agent/task.ts";
import type { Address } from "../message/address.ts";
import type { Mailbox } from "../message/mailbox.ts";
import type { Message } from "../message/message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { Guard } from "../tool/guard.ts";
import type { Tool } from "../tool/tool.ts";
import { act, observe } from "./act.ts";
import type { RoleAgentOptions } from "./agent-mode.ts";
import type { FailurePolicy } from "./failure-policy.ts";
import { react, think } from "./react.ts";
import type { Reaction } from "./reaction.ts";
import type { Immutable, StepOut, StepRoleOptions, StepsRoleOptions } from "./step-role.ts";

/** The way in which a role chooses among its actions; see {@link RoleOptions.reactMode}. */
export type ReactMode = "by_cause" | "by_order" | "react" | "plan_and_act" | "agent";

/** The result of `react`: messages to publish. */
export type Said = Message | readonly Message[] | void | undefined;

/** Options of a role. */
export interface RoleOptions<S = CustomState> {
  /** Identity in an environment, and an address. */
  readonly name: string;
  /** The profession, for example "Architect": an address too, shared by all roles that have it. */
  readonly profile?: string;
  readonly goal?: string;
  readonly constraints?: string;
  /** Replaces the generated introduction in prompts. */
  readonly description?: string;
  /** Causes whose broadcasts are observed. Default: the needs of the reactions, else `[UserRequirement]`. */
  readonly watch?: readonly Address[];
  /** Default: the actions of the reactions. */
  readonly actions?: readonly Action[];
  /** The action index of mode `by_cause`. */
  readonly reactions?: readonly Reaction[];
  /** Further addresses, besides `name` and `profile`. */
  readonly addresses?: readonly string[];
  /** Observe every broadcast. Default false. */
  readonly observeAll?: boolean;
  /**
   * `by_cause` runs the reactions that are ready, `by_order` all actions in their order, each on the messages of the one before, `react`
   * asks the model for the next one, `plan_and_act` plans tasks and runs them, `agent` lets an agent with the role's tools work on the
   * news. Default: `by_cause` with reactions, `agent` with tools, else `react`; a single action runs once.
   */
  readonly reactMode?: ReactMode;
  /**
   * Limit on the actions of one activation, or on the steps of its agent. Default: 10 for `react`, all actions for `by_order`, 3 x tasks
   * for `plan_and_act`, 30 for `agent`.
   */
  readonly maxReactLoop?: number;
  readonly model?: ChatModel;
  /** Checks the custom state; its defaults are the initial state. */
  readonly state?: AnySchema<S>;
  /** Tools in mode `agent`; made by `defineTool`. */
  readonly tools?: readonly Tool[];
  /** Options of the agent in mode `agent`. */
  readonly agent?: RoleAgentOptions;
  /** Checks of its input, its output and the calls of its tools: see `guard`. They come after those of the team. */
  readonly guards?: readonly Guard[];
  /** A person plays this role: every question to a model goes to them. */
  readonly human?: boolean;
  /** Limit on the milliseconds of one activation, without the time of waiting for a person or a model. Default 3,600,000. */
  readonly timeout?: number;
  /**
   * Maximum share of the run's budget that may be spent when this role asks a model, above 0 and at most 1. A call that may go beyond is refused
   * with the StepError `BUDGET_SHARE`, which the role can handle. Default: none; a call that does not fit ends the run with status `budget`.
   */
  readonly budgetShare?: number;
  /** Handling of a failed activation. Default: the environment's policy. */
  readonly onFailure?: FailurePolicy;
  /** Limit on the messages in memory; the oldest go first. Default: none. */
  readonly memoryLimit?: number;
  /** Bounds its mailbox. Default: the bounds of its team or environment. */
  readonly mailbox?: Mailbox;
  /** Memory beyond the messages of its run, and recall before questions; overrides the team's, field by field. `false`: none. */
  readonly memory?: RoleMemoryOptions | false;
  observe?(rc: RoleContext<S>): Awaitable<readonly Message[]>;
  think?(rc: RoleContext<S>): Awaitable<Action | undefined>;
  act?(rc: RoleContext<S>, action: Action): Awaitable<Said>;
  react?(rc: RoleContext<S>): Awaitable<Said>;
  /** Returns the tasks of mode `plan_and_act`, instead of asking the model for them. */
  planTasks?(rc: RoleContext<S>): Awaitable<readonly TaskFields[]>;
  /** A step role has no other parts: see {@link StepRoleOptions}. */
  readonly step?: never;
  readonly steps?: never;
  readonly acts?: never;
}

const roleOptions: Known<RoleOptions> = {
  ...kinds.each(kinds.checked, "name", "profile", "goal", "constraints", "description", "watch", "actions", "reactions", "addresses"),
  ...kinds.each(
    kinds.checked,
    "reactMode",
    "maxReactLoop",
    "model",
    "state",
    "tools",
    "agent",
    "timeout",
    "budgetShare",
    "onFailure",
    "guards",
  ),
  ...kinds.each(
    kinds.checked,
    "memoryLimit",
    "mailbox",
    "memory",
    "observe",
    "think",
    "act",
    "react",
    "planTasks",
    "step",
    "steps",
    "acts",
  ),
  ...kinds.each(kinds.boolean, "observeAll", "human"),
};

/**
 * A worker of a team: a definition that holds no data of a run, so one role can be hired under several names. Use {@link defineRole}, or
 * subclass it and override `observe`, `think`, `act` or `react`. Its fields are those of {@link RoleOptions}, with the same defaults. They
 * are checked when the role is hired.
 *
 * @example
 * import { type Message, Role, type RoleContext, Team } from "troupe";
 *
 * class Echo extends Role {
 *   override react(rc: RoleContext): Message[] {
 *     return rc.news.map((message) => rc.message(message.content.toUpperCase()));
 *   }
 * }
 * const { output } = await new Team({ roles: [new Echo()] }).run("hello").result;
 * console.log(output?.content); // HELLO
 */
export class Role<S = CustomState> {
  readonly name: string = this.constructor.name;
  readonly profile: string = "";
  readonly goal: string = "";
  readonly constraints: string = "";
  readonly description: string = "";
  readonly watch: readonly Address[] | undefined = undefined;
  readonly actions: readonly Action[] = [];
  readonly reactions: readonly Reaction[] = [];
  readonly addresses: readonly string[] = [];
  readonly observeAll: boolean = false;
  readonly reactMode: ReactMode | undefined = undefined;
  readonly maxReactLoop: number | undefined = undefined;
  readonly model: ChatModel | undefined = undefined;
  readonly state: z.ZodType<S> | undefined = undefined;
  readonly tools: readonly Tool[] | undefined = undefined;
  readonly agent: RoleAgentOptions | undefined = undefined;
  readonly guards: readonly Guard[] | undefined = undefined;
  readonly human: boolean = false;
  readonly timeout: number = 3_600_000;
  readonly budgetShare: number | undefined = undefined;
  readonly onFailure: FailurePolicy | undefined = undefined;
  readonly memoryLimit: number | undefined = undefined;
  readonly mailbox: Mailbox | undefined = undefined;
  readonly memory: RoleMemoryOptions | false | undefined = undefined;
  /** See {@link StepsRoleOptions}. */
  readonly acts: "each round" | undefined = undefined;

  /** Default: the messages in the inbox that are not in memory yet. */
  observe(rc: RoleContext<S>): Awaitable<readonly Message[]> {
    return observe(rc);
  }

  /** Returns the next action, or undefined to end. Default: by `reactMode`. */
  think(rc: RoleContext<S>): Awaitable<Action | undefined> {
    return think(this, rc);
  }

  /** Runs one action. Its messages are remembered and returned. */
  act(rc: RoleContext<S>, action: Action): Awaitable<Said> {
    return act(rc, action);
  }

  /** Runs the whole reaction to the news. The returned messages are published. */
  react(rc: RoleContext<S>): Awaitable<Said> {
    return react(this, rc, { think: this.think !== Role.prototype.think, act: this.act !== Role.prototype.act });
  }

  planTasks?(rc: RoleContext<S>): Awaitable<readonly TaskFields[]>;

  /** Replaces observing, thinking and acting; see {@link StepRoleOptions}. */
  step?(state: Immutable<S>, message: Message, out: StepOut): Immutable<S> | void | undefined;

  steps?(state: Immutable<S>, messages: readonly Message[], out: StepOut): Immutable<S> | void | undefined;
}

/**
 * Makes a role from its parts. A role with a `step` or `steps` is a plain function over typed state, for simulations: it keeps no memory, asks
 * nothing and costs little; teams and environments treat it like any other role. Defaults: it watches `UserRequirement`, remembers all
 * messages of its run, and may take an hour for one activation, without the time that persons and models take.
 *
 * @throws UsageError `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`; `OPTION_UNKNOWN` for an unknown part
 *
 * @example
 * import { defineAction, defineRole, UserRequirement } from "troupe";
 *
 * const Greet = defineAction({ name: "Greet", prompt: (ctx) => `Greet ${ctx.text}.` });
 * export const host = defineRole({
 *   name: "Hana",
 *   profile: "Host",
 *   goal: "make people feel welcome",
 *   reactions: [{ on: UserRequirement, do: Greet }],
 * });
 */
export function defineRole<S = CustomState>(options: RoleOptions<S> | StepRoleOptions<S> | StepsRoleOptions<S>): Role<S> {
  if (typeof options !== "object" || options === null) {
    throw new UsageError("ROLE_INVALID", `Expected the parts of a role, got ${valueText(options)}. Write defineRole({ name, ... }).`);
  }
  takes("defineRole", "options", options, readable);
  if (typeof options.name !== "string" || options.name.trim() === "") {
    throw new UsageError("ROLE_INVALID", "Expected a role to have a name, got an empty one. Messages reach it by its name.");
  }
  checkKnownOptions(`defineRole ${JSON.stringify(options.name)}`, options, roleOptions);
  const role: Role<S> = new DefinedRole<S>();
  Object.freeze(Object.assign(role, definedMembers(options)));
  roleSpec(role as Role);
  return role;
}

class DefinedRole<S> extends Role<S> {}

function definedMembers(options: object): object {
  return Object.fromEntries(
    Object.entries(options)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [
        key,
        key === "state" ? zodOf(value) : typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(options) : value,
      ]),
  );
}
