import type { RoleContext } from "../../src/role/context.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../src/runtime/environment-options.ts";
import type { Message } from "../../src/message/message.ts";
import { defineRole, type Role, type RoleOptions, type Said } from "../../src/role/role.ts";

/** A role that says nothing and remembers what it heard. */
export function listener(name: string, options: Partial<RoleOptions> = {}): Role {
  return defineRole({ react: () => undefined, ...options, name });
}

/** A role that answers every activation by a function. */
export function answering(name: string, react: (rc: RoleContext) => Said | Promise<Said>, options: Partial<RoleOptions> = {}): Role {
  return defineRole({ ...options, name, react });
}

/** An environment with these roles. */
export function town(roles: Iterable<Role>, options: EnvironmentOptions = {}): Environment {
  return new Environment({ seed: "town", ...options }).addRoles(roles);
}

/** The messages that a role has heard or said, by content, in its order. */
export function remembered(environment: Environment, name: string): string[] {
  return contents(environment.getRole(name)?.memory ?? []);
}

/** The contents of messages. */
export function contents(messages: Iterable<Message>): string[] {
  return [...messages].map((message) => message.content);
}
