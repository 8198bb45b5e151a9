import type { RoleState } from "./role-state.ts";

/** So many empty places are kept before the line is written anew. */
const MOST_EMPTY = 64;

/**
 * The roles with mail of one run, in the order in which they got it. It owns the line, and the place that each role has in it. A role of a
 * run stands in no other line. A set would look up a hash for each change, and a population of a million changes it for every message.
 *
 * ReadyRoles.RR1 (`add`, `delete`) a role stands in the line at most once, and one that comes back stands last.
 * ReadyRoles.RR2 (`#tidy`) `add` and `delete` are O(1) amortised, and the line is at most twice as long as it has roles, apart from a constant.
 */
export class ReadyRoles implements Iterable<RoleState> {
  #line: (RoleState | undefined)[] = [];
  #size = 0;

  constructor(roles: Iterable<RoleState> = []) {
    for (const role of roles) this.add(role);
  }

  /** The number of roles. */
  get size(): number {
    return this.#size;
  }

  has(role: RoleState): boolean {
    return role.readyAt !== NOWHERE;
  }

  /** Lets a role stand last, unless it is in the line. */
  add(role: RoleState): void {
    if (this.has(role)) return;
    role.readyAt = this.#line.push(role) - 1;
    this.#size += 1;
  }

  delete(role: RoleState): void {
    if (!this.has(role)) return;
    this.#line[role.readyAt] = undefined;
    role.readyAt = NOWHERE;
    this.#size -= 1;
    this.#tidy();
  }

  *[Symbol.iterator](): Generator<RoleState, void> {
    for (const role of this.#line) if (role !== undefined) yield role;
  }

  /** Returns the roles as a list. */
  toArray(): RoleState[] {
    return this.#line.filter((role) => role !== undefined);
  }

  #tidy(): void {
    if (this.#line.length <= 2 * this.#size + MOST_EMPTY) return;
    this.#line = this.toArray();
    for (const [place, role] of this.#line.entries()) if (role !== undefined) role.readyAt = place;
  }
}

/** The place of a role without mail. */
export const NOWHERE = -1;
