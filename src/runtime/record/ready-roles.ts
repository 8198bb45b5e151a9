import { Ranks } from "../../kernel/ranks.ts";
import type { RoleState } from "./role-state.ts";

interface Line {
  readonly ranks: Ranks<RoleState>;
  readonly numbers: Map<RoleState, number>;
  next: number;
}

/** The roles with mail, in the order of its arrival. An index of the order, and one of hiring, is made when it is first used. */
export class ReadyRoles extends Set<RoleState> {
  #line: Line | undefined = undefined;
  #hired: Ranks<RoleState> | undefined = undefined;

  static of(roles: Iterable<RoleState>): ReadyRoles {
    const ready = new ReadyRoles();
    for (const role of roles) ready.add(role);
    return ready;
  }

  /** Returns the role with that many ready ones before it. */
  at(index: number): RoleState | undefined {
    this.#follow();
    return (this.#line ??= lineOf(this)).ranks.at(index);
  }

  /** Returns the ready role with the smallest index above one. */
  after(index: number): RoleState | undefined {
    this.#follow();
    return (this.#hired ??= inOrderOfHiring(this)).after(index);
  }

  /** Keeps the indexes up to date from now on. Own members replace those of `Set`, so that a set without an index pays nothing. */
  #follow(): void {
    if (Object.hasOwn(this, "add")) return;
    const add = (role: RoleState): this => {
      if (this.#line !== undefined && !this.#line.numbers.has(role)) this.#line = append(this.#line, role);
      if (this.#hired !== undefined) this.#hired = role.index < this.#hired.size ? this.#hired : undefined;
      this.#hired?.put(role.index, role);
      return super.add(role);
    };
    const remove = (role: RoleState): boolean => {
      const number = this.#line?.numbers.get(role);
      if (number !== undefined) {
        this.#line?.numbers.delete(role);
        this.#line?.ranks.remove(number);
      }
      this.#hired?.remove(role.index);
      return super.delete(role);
    };
    Object.defineProperties(this, { add: { value: add }, delete: { value: remove } });
  }
}

/** The last number is followed by a new line of the roles that are left. */
function append(line: Line, role: RoleState): Line | undefined {
  if (line.next === line.ranks.size) return undefined;
  line.numbers.set(role, line.next);
  line.ranks.put(line.next, role);
  line.next += 1;
  return line;
}

function lineOf(roles: ReadonlySet<RoleState>): Line {
  const line: Line = { ranks: new Ranks(Math.max(FEWEST, roles.size * 2)), numbers: new Map(), next: 0 };
  for (const role of roles) append(line, role);
  return line;
}

function inOrderOfHiring(roles: ReadonlySet<RoleState>): Ranks<RoleState> {
  let last = 0;
  for (const { index } of roles) last = Math.max(last, index);
  const ranks = new Ranks<RoleState>(Math.max(FEWEST, (last + 1) * 2));
  for (const role of roles) ranks.put(role.index, role);
  return ranks;
}

const FEWEST = 64;
