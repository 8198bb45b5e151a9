import { PlacedList } from "../kernel/placed-list.ts";
import type { RoleState } from "./role-state.ts";

/** Where a role stands that is not ready. */
export const NOT_READY = -1;

/**
 * Roles with mail, in the order in which they came to have it.
 *
 * Owns the order. Each role carries its own place in the line (`readyAt`), because one that acts leaves the line and perhaps joins it again,
 * and a set would pay for that with a table each time.
 *
 * RR1 a role stands in line once at most. RR2 joining and leaving are O(1) amortised. RR3 a walk during which nobody leaves but the role that it
 * told last meets all others in the order of the line, and who joins meanwhile after those.
 */
export class ReadyRoles implements Iterable<RoleState> {
  #line = new PlacedList<RoleState>();
  #left = 0;
  /** From where a walk goes on, if it was further: the line may have become shorter than it was, or been closed up. */
  #resumeAt = 0;

  get size(): number {
    return this.#line.size;
  }

  add(role: RoleState): void {
    if (role.readyAt === NOT_READY) role.readyAt = this.#line.push(role);
  }

  delete(role: RoleState): void {
    if (role.readyAt === NOT_READY) return;
    this.#line.drop(role.readyAt);
    role.readyAt = NOT_READY;
    this.#left += 1;
    this.#resumeAt = this.#line.end;
    if (this.#line.isMostlyHoles) this.#closeUp();
  }

  /** Who came first stands first. */
  [Symbol.iterator](): Iterator<RoleState> {
    return new Walk(this);
  }

  /** Those of all that are meant, in a list of their own. Asking changes nobody's place. */
  those(isMeant: (role: RoleState) => boolean): RoleState[] {
    const roles: RoleState[] = [];
    this.#line.forEach((role) => {
      if (isMeant(role)) roles.push(role);
    });
    return roles;
  }

  /** How often somebody has left: who leaves and joins again may stand at the same place. */
  get left(): number {
    return this.#left;
  }

  /** Nobody whom a walk has not met stands before this place, where somebody has left since its last step. */
  get resumeAt(): number {
    return this.#resumeAt;
  }

  /** The first who stands at a place or behind it. */
  next(place: number): RoleState | undefined {
    const held = this.#line.heldFrom(place);
    return held === undefined ? undefined : this.#line.at(held);
  }

  #closeUp(): void {
    const roles = this.#line.newest(Infinity);
    this.#line = new PlacedList();
    this.#resumeAt = 0;
    for (const role of roles) role.readyAt = this.#line.push(role);
  }
}

/**
 * Goes on behind the role it told last, or, where that one has left since, from its place, or the end that the line had then: who joined after
 * that may stand before. Closed up, the line is walked from its beginning: its owner knows who had a turn.
 */
class Walk implements Iterator<RoleState> {
  readonly #ready: ReadyRoles;
  #from = 0;
  #left: number;

  constructor(ready: ReadyRoles) {
    this.#ready = ready;
    this.#left = ready.left;
  }

  next(): IteratorResult<RoleState> {
    const hasLeft = this.#left !== this.#ready.left;
    const role = this.#ready.next(hasLeft ? Math.min(this.#from - 1, this.#ready.resumeAt) : this.#from);
    if (role === undefined) return { done: true, value: undefined };
    this.#from = role.readyAt + 1;
    this.#left = this.#ready.left;
    return { done: false, value: role };
  }
}
