import type { Many } from "../record/run-state.ts";

/** Who can hear. */
export interface Hearer {
  readonly name: string;
  /** Place in the order of hiring. */
  readonly index: number;
}

/** Who hears a message, in hire order, and which of its addresses nobody has. */
export interface Route {
  /** Frozen: others may have the same. */
  readonly to: readonly string[];
  readonly dead: readonly string[];
}

/** Those who hear something, each once and in hire order. It never changes. */
export interface Listing<R extends Hearer> extends Many<R> {
  /** Messages share it. Made when it is first told. */
  route: Route | undefined;
}

/**
 * Those who are hired by one definition. It owns their order, and which lists they stand in.
 *
 * KI1 they stand in hire order, whenever they came. KI2 whoever comes costs the same, in however many audiences: these hear of the first one
 * after they were looked at, and not of the next. KI3 a list of them that was given never changes.
 */
export class Kin<R extends Hearer> {
  #members: R[] = [];
  readonly #audiences: Audience<R>[] = [];
  #isListed = false;

  add(role: R): void {
    if (this.#isListed) this.#forgetList();
    const members = this.#members;
    let place = members.length;
    while (place > 0 && (members[place - 1] as R).index > role.index) place -= 1;
    if (place === members.length) members.push(role);
    else members.splice(place, 0, role);
  }

  joins(audience: Audience<R>): void {
    this.#audiences.push(audience);
  }

  /** Those who have come so far. Whom it is given to hears when one more comes. */
  listed(): readonly R[] {
    this.#isListed = true;
    return this.#members;
  }

  /** There may be a million of them: most are listed once, after all have come, and so it is not the list that is a copy. */
  #forgetList(): void {
    this.#isListed = false;
    this.#members = this.#members.slice();
    for (const audience of this.#audiences) audience.forget();
  }
}

/** So many observers more make no list that is worth keeping once for each cause. */
const FEW_BESIDES = 16;

/**
 * Those whose definitions say that they have an address, or watch a cause, with those who hear everything besides. It owns which definitions
 * say so, and the list of their roles.
 *
 * AU1 a list is made when it is asked for, and anew when one more was hired since. AU2 it is kept for the next who asks, unless many of it
 * would be kept for every other cause too.
 */
export class Audience<R extends Hearer> {
  readonly #besides: Audience<R> | undefined;
  readonly #kin: Kin<R>[] = [];
  /** The list as it was made last, unless one was hired since: written here alone. */
  known: Listing<R> | undefined;
  /** Whom the list has besides. */
  #with: Listing<R> | undefined;

  constructor(besides?: Audience<R>) {
    this.#besides = besides;
  }

  add(kin: Kin<R>): void {
    this.#kin.push(kin);
    kin.joins(this);
    this.forget();
  }

  forget(): void {
    this.known = undefined;
  }

  get listing(): Listing<R> {
    // Looked at before it is asked: this happens for each message.
    const { known } = this;
    if (known !== undefined && this.#with === this.#besides?.known) return known;
    const besides = this.#besides?.listing;
    const lists = this.#kin.map((kin) => kin.listed());
    const more = besides?.members ?? [];
    if (more.length > FEW_BESIDES) return listed(merged([...lists, more]));
    this.#with = besides;
    this.known = { members: merged(more.length === 0 ? lists : [...lists, more]), isShared: true, route: undefined };
    return this.known;
  }
}

/** A list that one message has. */
export function listed<R extends Hearer>(members: readonly R[]): Listing<R> {
  return { members, isShared: false, route: undefined };
}

/** The roles of some lists, each once and in hire order: a list of its own, unless there is but one. */
export function merged<R extends Hearer>(lists: readonly (readonly R[])[]): readonly R[] {
  const [first = [], ...others] = lists;
  if (others.length === 0) return first;
  return [...new Set(lists.flat())].sort((a, b) => a.index - b.index);
}

/** The same list without one role: itself, where that is not in it. O(log n) to see, and a copy. */
export function without<R extends Hearer>(listing: Listing<R>, role: R): Listing<R> {
  const { members } = listing;
  const place = placeIn(members, role);
  return place === undefined ? listing : listed(members.toSpliced(place, 1));
}

/** Where a role stands among others that are in hire order. */
function placeIn<R extends Hearer>(members: readonly R[], role: R): number | undefined {
  let from = 0;
  let to = members.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((members[middle] as R).index < role.index) from = middle + 1;
    else to = middle;
  }
  return members[from] === role ? from : undefined;
}
