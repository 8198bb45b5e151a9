import { type Action, assertSameAction } from "../action/action.ts";
import type { Message } from "../message/message.ts";
import type { Role } from "../role/role.ts";
import { roleSpec, type RoleSpec } from "../role/role-spec.ts";
import type { RoleMemories, RoleMemory } from "./role-memories.ts";
import { Directory, type Route } from "./router.ts";

/**
 * Who is hired, by name. It owns the directory by which messages find them, and that two different actions never share a name.
 *
 * H1 a role that is refused leaves no trace.
 */
export class HiredRoles {
  readonly #directory = new Directory();
  readonly #specs = new Map<string, RoleSpec>();
  readonly #actions = new Map<string, Action>();
  readonly #memories: RoleMemories;

  constructor(memories: RoleMemories) {
    this.#memories = memories;
  }

  get size(): number {
    return this.#specs.size;
  }

  /**
   * Makes a role known under a name.
   *
   * @throws UsageError `ROLE_INVALID`, `ACTION_DUPLICATE`, `ACTION_NAME`, `STATE_INVALID`
   */
  add(role: Role, name: string): void {
    const spec = roleSpec(role);
    for (const action of spec.actions) assertSameAction(this.#actions.get(action.name), action);
    this.#memories.enlist(role, name);
    for (const action of spec.actions) this.#actions.set(action.name, action);
    this.#specs.set(name, spec);
    this.#directory.add({ name, addresses: [name, spec.card.profile, ...spec.addresses], watch: spec.watch, observeAll: spec.observeAll });
  }

  has(name: string): boolean {
    return this.#specs.has(name);
  }

  specOf(name: string): RoleSpec | undefined {
    return this.#specs.get(name);
  }

  memoryOf(name: string): RoleMemory | undefined {
    return this.#memories.of(name);
  }

  /** @param publisher the role that says it */
  route(message: Message, publisher?: string): Route {
    return this.#directory.route(message, publisher);
  }
}
