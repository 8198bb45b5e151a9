import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF } from "../../message/address.ts";
import type { Message } from "../../message/message.ts";
import type { RoleState } from "../record/role-state.ts";
import { editDistance } from "../../kernel/known-options.ts";

export type Routed = Pick<Message, "sendTo" | "causeBy" | "sentFrom">;

export type Recipient = Pick<RoleState, "name" | "profile" | "alone" | "index" | "wasHired">;

/** The addresses and causes of the roles of one definition, besides their names. */
export interface Listening {
  readonly addresses: readonly string[];
  readonly watch: readonly string[];
  readonly observeAll: boolean;
}

export interface Recipients {
  /** Frozen, because messages share it. */
  readonly to: readonly string[];
  readonly dead: readonly string[];
}

export interface Membership {
  /** The roles, including those that left. */
  readonly roles: ReadonlyMap<string, Recipient>;
  readonly teamChanges: number;
}

type ListenerGroup = Recipient[];

const MAX_KEPT_NAMES = 1_000_000;

/**
 * Finds the recipients of messages. It owns the indexes from addresses and causes to roles; routing is a pure function of the indexes
 * and the message.
 *
 * Directory.D1 (`#listOf`) the cost of routing depends on the number of recipients, not of roles: the list for a cause or an address is
 * cached until the team changes.
 * Directory.D2 (`add`) hiring a role adds one item to the group of its definition, whatever its addresses and causes.
 * Directory.D3 (`route`) an activation that began before a team change finds the recipients of that time, also when it runs again.
 * Directory.D4 (`meant`) an unknown address is compared only in its normal form; an ambiguous one matches no role.
 */
export class Directory {
  readonly #state: Membership;
  /** The definitions of the present roles, by their indexes. A team may continue without one of its roles. */
  readonly #definitions: readonly unknown[];
  readonly #groups = new Map<Listening, ListenerGroup>();
  readonly #byAddress = new Map<string, ListenerGroup[]>();
  readonly #byCause = new Map<string, ListenerGroup[]>();
  readonly #observers: ListenerGroup[] = [];
  /** Causes that a role watches, also a role that observes everything. */
  readonly #watched = new Set<string>();
  readonly #lists = new Map<string, readonly string[]>();
  #keptNames = 0;
  #keptAt = 0;
  #added = 0;

  constructor(state: Membership, definitions: readonly unknown[]) {
    this.#state = state;
    this.#definitions = definitions;
  }

  /** @param listening one object for all roles of one definition */
  add(role: Recipient, listening: Listening): void {
    const group = this.#groups.get(listening) ?? this.#newGroup(listening);
    group.push(role);
    this.#added += 1;
    if (this.#lists.size > 0) this.#forgetLists();
  }

  /** Returns the role that an address reaches by its name alone; undefined for any other address. */
  named(address: string): Recipient | undefined {
    const role = this.#byAddress.size > 0 && this.#byAddress.has(address) ? undefined : this.#state.roles.get(address);
    return role !== undefined && this.#isMember(role, this.#state.teamChanges) ? role : undefined;
  }

  /** True if every role of the run has a definition. */
  get isComplete(): boolean {
    return this.#added === this.#state.roles.size;
  }

  route(message: Routed, publisher: string = message.sentFrom, at: number = this.#state.teamChanges): Recipients {
    const { sendTo } = message;
    if (sendTo.length === 1) return this.#routeTo(sendTo[0] as string, message, publisher, at);
    const routes = sendTo.map((address) => this.#routeTo(address, message, publisher, at));
    const names = new Set(routes.flatMap(({ to }) => to));
    return { to: Object.freeze(this.#inHireOrder([...names])), dead: routes.flatMap(({ dead }) => dead) };
  }

  /** Returns the one address that a model means by another spelling, or by `Name (Profile)`. @param at as in {@link Directory.route} */
  meant(address: string, at: number = this.#state.teamChanges): string | undefined {
    const wanted = normalForm(address);
    const fitting = new Set<string>();
    for (const [{ addresses }, group] of this.#groups)
      for (const role of group) {
        if (!this.#isMember(role, at)) continue;
        for (const own of [role.name, ...addresses]) if (normalForm(own) === wanted) fitting.add(own);
        if (role.profile !== "" && normalForm(`${role.name} (${role.profile})`) === wanted) fitting.add(role.name);
      }
    return fitting.size === 1 ? [...fitting][0] : undefined;
  }

  nearest(address: string): readonly string[] {
    const known = new Set<string>();
    for (const [{ addresses }, group] of this.#groups)
      for (const role of group)
        if (this.#isMember(role, this.#state.teamChanges)) for (const own of [role.name, ...addresses]) known.add(own);
    known.delete("");
    return nearestTo(address, known);
  }

  isWatched(cause: string): boolean {
    return this.#watched.has(cause);
  }

  #routeTo(address: string, message: Routed, publisher: string, at: number): Recipients {
    if (address === ROUTE_TO_NONE) return { to: nowhere, dead: nowhere };
    if (address === ROUTE_TO_ALL) return { to: this.#watchers(message, publisher, at), dead: nowhere };
    const name = address === ROUTE_TO_SELF ? message.sentFrom : address;
    const groups = address === ROUTE_TO_SELF ? undefined : this.#byAddress.get(address);
    const role = this.#state.roles.get(name);
    const named = role !== undefined && this.#isMember(role, at) ? role.alone : nowhere;
    const to = groups === undefined ? named : this.#listOf(`address ${address}`, groups, at, role);
    return to.length > 0 ? { to, dead: nowhere } : { to: nowhere, dead: Object.freeze([address]) };
  }

  #watchers({ causeBy, sentFrom }: Routed, publisher: string, at: number): readonly string[] {
    const groups = this.#byCause.get(causeBy);
    const to = this.#listOf(groups === undefined ? "everything" : `cause ${causeBy}`, [...(groups ?? []), ...this.#observers], at);
    if (!to.includes(sentFrom) && !to.includes(publisher)) return to;
    return Object.freeze(to.filter((name) => name !== sentFrom && name !== publisher));
  }

  #listOf(key: string, groups: readonly ListenerGroup[], at: number, own?: Recipient): readonly string[] {
    const isNow = at === this.#state.teamChanges;
    if (isNow && this.#keptAt !== at) this.#forgetLists();
    const known = isNow ? this.#lists.get(key) : undefined;
    if (known !== undefined) return known;
    const roles = new Set([...groups.flat(), ...(own === undefined ? [] : [own])]);
    const members = [...roles].filter((role) => this.#isMember(role, at));
    const list = Object.freeze(members.sort((a, b) => a.index - b.index).map((role) => role.name));
    if (!isNow) return list;
    this.#keptNames += list.length;
    if (this.#keptNames > MAX_KEPT_NAMES) this.#forgetLists();
    this.#lists.set(key, list);
    return list;
  }

  #forgetLists(): void {
    this.#lists.clear();
    this.#keptNames = 0;
    this.#keptAt = this.#state.teamChanges;
  }

  #inHireOrder(names: string[]): string[] {
    const indexOf = (name: string): number => this.#state.roles.get(name)?.index ?? 0;
    return names.sort((a, b) => indexOf(a) - indexOf(b));
  }

  #isMember(role: Recipient, at: number): boolean {
    // In a large run the look at a list takes a wait for memory.
    return (this.isComplete || this.#definitions[role.index] !== undefined) && role.wasHired(at);
  }

  #newGroup(listening: Listening): ListenerGroup {
    const { addresses, watch, observeAll } = listening;
    const group: ListenerGroup = [];
    this.#groups.set(listening, group);
    for (const address of new Set(addresses)) if (address !== "") groupsAt(this.#byAddress, address).push(group);
    for (const cause of watch) this.#watched.add(cause);
    if (observeAll) this.#observers.push(group);
    else for (const cause of new Set(watch)) groupsAt(this.#byCause, cause).push(group);
    return group;
  }
}

const nowhere: readonly string[] = Object.freeze([]);

function groupsAt(index: Map<string, ListenerGroup[]>, key: string): ListenerGroup[] {
  const groups = index.get(key) ?? [];
  index.set(key, groups);
  return groups;
}

/** Quotes, the marks of Markdown and of mentions, spaces, and characters without a shape. */
const IGNORED = /[\p{Quotation_Mark}`´*_~#@\s\p{Cf}]/gu;
const PUNCTUATION = ".,:;!";

/** Returns an address in a normal form: models vary its Unicode form, letter case, spaces, quotes and Markdown marks. */
export function normalForm(address: string): string {
  const text = address.normalize("NFKC").toLowerCase().normalize("NFKC").trimEnd();
  let end = text.length;
  while (end > 0 && PUNCTUATION.includes(text[end - 1] as string)) end -= 1;
  return text.slice(0, end).replaceAll(IGNORED, "");
}

/** Limits on names in a warning, on compared names, and on the letters of one: some milliseconds of work. */
const MAX_NEAR = 3;
const MAX_COMPARED = 300;
const MAX_LENGTH = 40;

export function nearestText(nearest: readonly string[]): string {
  return nearest.length === 0 ? "" : ` Nearest: ${nearest.map((name) => JSON.stringify(name)).join(", ")}.`;
}

function nearestTo(address: string, known: ReadonlySet<string>): readonly string[] {
  const wanted = normalForm(address);
  if (known.size > MAX_COMPARED || wanted.length > MAX_LENGTH || wanted === "") return [];
  const near = [...known].flatMap((name) => {
    const form = normalForm(name);
    const slips = form.length > MAX_LENGTH ? Infinity : editDistance(wanted, form);
    const isPart = form.length > 2 && wanted.includes(form);
    return isPart || slips <= Math.max(1, Math.floor(wanted.length / 3)) ? [{ name, slips }] : [];
  });
  return near
    .sort((a, b) => a.slips - b.slips)
    .slice(0, MAX_NEAR)
    .map(({ name }) => name);
}
