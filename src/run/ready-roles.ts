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
 * RR1 a role stands in line once at most. RR2 joining and leaving are O(1) amortised. RR3 a walk sees who joins behind it, unless the line was
 * closed up meanwhile: then it ends early, and another walk sees them.
 */
export class ReadyRoles implements Iterable<RoleState> {
  #line = new PlacedList<RoleState>();
  #left = 0;

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
    if (this.#line.isMostlyHoles) this.#closeUp();
  }

  /** Who came first stands first. */
  [Symbol.iterator](): Iterator<RoleState> {
    return new Walk(this);
  }

  /** How often somebody has left: who leaves and joins again may stand at the same place. */
  get left(): number {
    return this.#left;
  }

  /** The first who stands at a place or behind it. */
  next(place: number): RoleState | undefined {
    const held = this.#line.heldFrom(place);
    return held === undefined ? undefined : this.#line.at(held);
  }

  #closeUp(): void {
    const roles = this.#line.newest(Infinity);
    this.#line = new PlacedList();
    for (const role of roles) role.readyAt = this.#line.push(role);
  }
}

/** Goes on behind the role it told last, or, where somebody has left since, from that one's place: nobody else leaves during a walk. */
class Walk implements Iterator<RoleState> {
  readonly #ready: ReadyRoles;
  #from = 0;
  #left: number;

  constructor(ready: ReadyRoles) {
    this.#ready = ready;
    this.#left = ready.left;
  }

  next(): IteratorResult<RoleState> {
    const role = this.#ready.next(this.#left === this.#ready.left ? this.#from : this.#from - 1);
    if (role === undefined) return { done: true, value: undefined };
    this.#from = role.readyAt + 1;
    this.#left = this.#ready.left;
    return { done: false, value: role };
  }
}
