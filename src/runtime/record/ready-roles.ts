import type { RoleState } from "./role-state.ts";

/** Roles, told one by one. */
export interface Line {
  /** How many there are now. */
  readonly size: number;
  /** Begins at the first. */
  begin(): void;
  /** The first, and then who comes behind the one that was told last; undefined when there is nobody left. */
  next(): RoleState | undefined;
}

/**
 * Roles with mail, in the order in which they came to have it.
 *
 * Owns the order, and how far the walk through it has come. Each role carries who stands before and behind it (`readyBefore`, `readyBehind`),
 * because one that acts leaves the line and perhaps joins it again, and any list of its own would pay for that each time.
 *
 * RR1 a role stands in line once at most. RR2 joining and leaving are O(1) and make nothing. RR3 the walk, which is the one that was begun last,
 * meets all roles in the order of the line, and who joins meanwhile behind those, whoever leaves. RR4 a line in hire order is known to be so
 * without a look at each; one that is not said to be may be so too.
 */
export class ReadyRoles implements Line {
  #first: RoleState | undefined;
  #last: RoleState | undefined;
  #size = 0;
  #isInHireOrder = true;
  /** Who was told last, as long as it stands in line. */
  #told: RoleState | undefined;
  /** Where nobody is: who stood behind the one that was told last, or the next to join, if none did. */
  #coming: RoleState | undefined;

  get size(): number {
    return this.#size;
  }

  /** Whether everybody stands behind those who were hired before. Most come so, for those who hear one message do. */
  get isInHireOrder(): boolean {
    return this.#isInHireOrder;
  }

  has(role: RoleState): boolean {
    return role.readyBehind !== undefined || role === this.#last;
  }

  add(role: RoleState): void {
    const last = this.#last;
    if (role.readyBehind !== undefined || role === last) return;
    if (last === undefined) {
      this.#first = role;
      this.#isInHireOrder = true;
    } else {
      last.readyBehind = role;
      if (last.index > role.index) this.#isInHireOrder = false;
    }
    role.readyBefore = last;
    this.#last = role;
    this.#size += 1;
    if (this.#told === undefined) this.#coming ??= role;
  }

  delete(role: RoleState): void {
    const { readyBefore: before, readyBehind: behind } = role;
    if (behind === undefined && role !== this.#last) return;
    if (role === this.#told || role === this.#coming) {
      this.#told = undefined;
      this.#coming = behind;
    }
    if (before === undefined) this.#first = behind;
    else before.readyBehind = behind;
    if (behind === undefined) this.#last = before;
    else behind.readyBefore = before;
    role.readyBefore = undefined;
    role.readyBehind = undefined;
    this.#size -= 1;
  }

  begin(): void {
    this.#told = undefined;
    this.#coming = this.#first;
  }

  /** Goes on behind the role that it told last or, where that one has left since, at the one that stood behind it. */
  next(): RoleState | undefined {
    const role = this.#told === undefined ? this.#coming : this.#told.readyBehind;
    if (role === undefined) return undefined;
    this.#told = role;
    this.#coming = undefined;
    return role;
  }

  /** Those of all that are meant, in a list of their own. Asking changes nobody's place. */
  those(isMeant: (role: RoleState) => boolean): RoleState[] {
    const roles: RoleState[] = [];
    for (let role = this.#first; role !== undefined; role = role.readyBehind) if (isMeant(role)) roles.push(role);
    return roles;
  }
}

/** Some of those in line, as they stood there. */
export class ListedRoles implements Line {
  readonly #roles: readonly RoleState[];
  #place = 0;

  constructor(roles: readonly RoleState[]) {
    this.#roles = roles;
  }

  begin(): void {
    this.#place = 0;
  }

  next(): RoleState | undefined {
    return this.#roles[this.#place++];
  }

  get size(): number {
    return this.#roles.length;
  }
}
