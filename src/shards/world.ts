import type { MessagePort } from "node:worker_threads";
import type { ShardStart } from "./protocol.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isObject } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { createMessage, isCauseLeftOpen, isMessage, type Message } from "../message/message.ts";
import type { Role } from "../role/role.ts";
import { Environment } from "../runtime/environment.ts";
import type { EnvironmentOptions, RunBacking } from "../runtime/environment-options.ts";
import { assertPopulationFits } from "./need.ts";

/** A role of a world. */
export interface WorldRole {
  readonly role: Role;
  /** Default: the definition's own. */
  readonly name?: string;
}

/** The parts of an environment. Each shard makes them, so they must depend on the parameters alone. */
export interface World {
  /** The roles in the order of hiring, the same in every shard. A definition may be hired many times. */
  readonly roles: Iterable<WorldRole>;
  /** Messages from outside at the start. They get the ids `user#1`, `user#2` and so on. Default: none. */
  readonly messages?: Iterable<Message | string>;
  /** Options of the environment, besides its seed and a record. Default: none; `memory` is `false` unless it is given. */
  readonly options?: Omit<EnvironmentOptions, "seed" | "journal" | "id">;
}

const worldParts: Known<World> = { roles: kinds.iterable("roles"), messages: kinds.iterable("messages"), options: kinds.object };

/** A world that can be run in one environment or in shards: see {@link shardedWorld}. */
export interface ShardedWorld<P extends Json = Json> {
  /** Makes the parts of the world. */
  readonly make: (params: P) => World;
  /** Runs one shard in a worker thread. @internal */
  readonly runShard: (port: MessagePort, start: ShardStart) => Promise<void>;
}

export interface ListedWorld {
  readonly roles: readonly Required<WorldRole>[];
  readonly messages: readonly (Message | string)[];
  readonly options: Omit<EnvironmentOptions, "seed" | "journal" | "id">;
}

/** @throws UsageError `WORLD_INVALID`, `SHARDS_SCHEDULER`, `OPTION_UNKNOWN` */
export function listedWorld<P extends Json>(world: ShardedWorld<P>, params: P): ListedWorld {
  const made: unknown = world.make(params);
  if (!isWorld(made)) {
    throw new UsageError(
      "WORLD_INVALID",
      `Expected a world with roles, got ${valueText(made)}. Return { roles: [{ role, name }], messages: ["go"] }.`,
    );
  }
  checkKnownOptions("a world", made, worldParts);
  checkWorldOptions(made.options ?? {});
  const roles = Array.from(made.roles, (one) => ({ role: one.role, name: one.name ?? one.role.name }));
  return { roles, messages: [...(made.messages ?? [])], options: made.options ?? {} };
}

function checkWorldOptions(options: EnvironmentOptions): void {
  const kept = (["seed", "journal", "id"] as const).find((name) => options[name] !== undefined);
  if (kept !== undefined) {
    throw new UsageError(
      "WORLD_INVALID",
      `Expected options of a world without ${kept}, got ${valueText(options[kept])}. A run has its own seed, and keeps its events with record: true.`,
    );
  }
  const { scheduler = "rounds" } = options;
  if (scheduler === "rounds") return;
  const came = typeof scheduler === "string" ? scheduler : scheduler.name;
  throw new UsageError(
    "SHARDS_SCHEDULER",
    `Expected a world of simultaneous rounds, got the scheduler ${valueText(came)}. Leave the scheduler out, or run it in one Environment.`,
  );
}

/** @param prepare called before the first event @throws UsageError `POPULATION_TOO_LARGE` */
export function environmentIn(
  { roles, messages, options }: ListedWorld,
  seed: string,
  backing?: RunBacking,
  prepare?: (environment: Environment) => void,
  shards = 1,
): Environment {
  assertPopulationFits({ roles: roles.length, shards });
  const environment = new Environment({ memory: false, ...options, seed }, backing);
  prepare?.(environment);
  for (const { role, name } of roles) environment.addRole(role, { name });
  for (const [index, message] of messages.entries()) environment.publishMessage(named(message, index));
  return environment;
}

/** The id is the same in every shard. */
function named(message: Message | string, index: number): Message | string {
  if (!isMessage(message)) return message;
  const { causeBy, ...fields } = message;
  return createMessage(message.content, { ...fields, id: `user#${index + 1}`, ...(isCauseLeftOpen(message) ? {} : { causeBy }) });
}

function isWorld(made: unknown): made is World {
  return isObject(made) && "roles" in made && isObject(made.roles) && Symbol.iterator in made.roles;
}
