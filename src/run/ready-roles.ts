import type { RoleState } from "./role-state.ts";

/**
 * Roles with mail, in the order in which they came to have it.
 *
 * Owns the order. Each role carries who stands before and behind it (`readyBefore`, `readyBehind`), because one that acts leaves the line and
 * perhaps joins it again, and any list of its own would pay for that each time.
 *
 * RR1 a role stands in line once at most. RR2 joining and leaving are O(1) and make nothing. RR3 the walk that was begun last meets all roles
 * in the order of the line, and who joins meanwhile behind those, whoever leaves.
 */
export class ReadyRoles implements Iterable<RoleState> {
  #first: RoleState | undefined;
  #last: RoleState | undefined;
  #size = 0;
  #walk: Walk | undefined;

  get size(): number {
    return this.#size;
  }

  has(role: RoleState): boolean {
    return role.readyBehind !== undefined || role === this.#last;
  }

  add(role: RoleState): void {
    if (this.has(role)) return;
    const last = this.#last;
    if (last === undefined) this.#first = role;
    else last.readyBehind = role;
    role.readyBefore = last;
    this.#last = role;
    this.#size += 1;
    this.#walk?.joined(role);
  }

  delete(role: RoleState): void {
    if (!this.has(role)) return;
    this.#walk?.left(role);
    const { readyBefore: before, readyBehind: behind } = role;
    if (before === undefined) this.#first = behind;
    else before.readyBehind = behind;
    if (behind === undefined) this.#last = before;
    else behind.readyBefore = before;
    role.readyBefore = undefined;
    role.readyBehind = undefined;
    this.#size -= 1;
  }

  /** Who came first stands first. */
  [Symbol.iterator](): Iterator<RoleState> {
    this.#walk = new Walk(this.#first);
    return this.#walk;
  }

  /** Those of all that are meant, in a list of their own. Asking changes nobody's place. */
  those(isMeant: (role: RoleState) => boolean): RoleState[] {
    const roles: RoleState[] = [];
    for (let role = this.#first; role !== undefined; role = role.readyBehind) if (isMeant(role)) roles.push(role);
    return roles;
  }
}

/** Goes on behind the role that it told last or, where that one has left since, at the one that stood behind it: the next to join, if none did. */
class Walk implements Iterator<RoleState> {
  /** As long as it stands in line. */
  #told: RoleState | undefined;
  #next: RoleState | undefined;

  constructor(first: RoleState | undefined) {
    this.#next = first;
  }

  next(): IteratorResult<RoleState> {
    const role = this.#told === undefined ? this.#next : this.#told.readyBehind;
    if (role === undefined) return { done: true, value: undefined };
    this.#told = role;
    this.#next = undefined;
    return { done: false, value: role };
  }

  /** Told of before the role stands alone. */
  left(role: RoleState): void {
    if (role !== this.#told && role !== this.#next) return;
    this.#told = undefined;
    this.#next = role.readyBehind;
  }

  joined(role: RoleState): void {
    if (this.#told === undefined) this.#next ??= role;
  }
}
