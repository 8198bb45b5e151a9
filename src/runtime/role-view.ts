import type { Json } from "../kernel/json.ts";
import type { ReadableMemory } from "../memory/message-memory.ts";
import { Plan } from "../role/plan.ts";
import type { Message } from "../message/message.ts";
import type { Role } from "../role/role.ts";
import type { RoleState } from "./record/role-state.ts";

/** A read-only view of a role's state. */
export interface RoleView {
  readonly role: Role;
  readonly name: string;
  readonly inbox: readonly Message[];
  readonly memory: ReadableMemory;
  readonly workingMemory: ReadableMemory;
  readonly state: { readonly [key: string]: Json };
  /** A copy: changes to it have no effect. */
  readonly plan: Plan;
  readonly isIdle: boolean;
}

export function roleView(role: Role, held: RoleState): RoleView {
  const { name, custom, plan, open, waiting } = held;
  return {
    role,
    name,
    inbox: held.news(waiting),
    state: custom,
    isIdle: waiting === 0 && open === undefined,
    get memory() {
      return held.memory;
    },
    get workingMemory() {
      return held.workingMemory;
    },
    get plan() {
      return Plan.fromJSON(plan.toJSON());
    },
  };
}
