import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF } from "../../message/address.ts";
import type { Message } from "../../message/message.ts";
import { FEW_HEARERS, type Many } from "../record/run-state.ts";
import { Audience, type Hearer, Kin, listed, type Listing, merged, type Route, without } from "./audience.ts";

/** How those who are hired by one definition can be reached, besides by their names. */
export interface Listening {
  readonly addresses: readonly string[];
  readonly watch: readonly string[];
  readonly observeAll: boolean;
}

/** What a directory is made of. */
export interface DirectoryParts<R extends Hearer> {
  readonly run: RunOf<R>;
  /** At the place of each role in the run, whether it is hired: undefined where it is not. */
  readonly hired: readonly unknown[];
}

/** What a directory has to do with of a run. */
export interface RunOf<R extends Hearer> {
  readonly roles: ReadonlyMap<string, R>;
  /** Gets the roles of a list of names that is so long that looking them up again would take time. */
  readonly audiences: WeakMap<readonly string[], Many<R>>;
  /** Gets who alone hears a message, so that nobody looks it up again. */
  hearing: R | undefined;
}

/**
 * Who listens to what. It owns the indexes from addresses and causes to roles, and the routes to those who were addressed alone; routing is a
 * pure function of it and the message.
 *
 * E4 finding the recipients costs O(recipients), not O(roles); O(1) where a message is heard by exactly those who heard the last one of its
 * cause or address. E7 the indexes hold definitions: a role that is hired is one more in one list, however many addresses and causes it has.
 */
export class Directory<R extends Hearer> {
  readonly #run: RunOf<R>;
  readonly #hired: readonly unknown[];
  readonly #kin = new Map<Listening, Kin<R>>();
  readonly #byAddress = new Map<string, Audience<R>>();
  readonly #byCause = new Map<string, Audience<R>>();
  readonly #observers = new Audience<R>();
  /** To some who alone have their names, and these are no addresses of others: as they were found, as long as nobody else is hired. */
  readonly #direct = new Map<string, DirectRoute<R>>();

  constructor({ run, hired }: DirectoryParts<R>) {
    this.#run = run;
    this.#hired = hired;
  }

  /** @param listening one object for all who are hired by one definition */
  add(role: R, listening: Listening): void {
    const kin = this.#kin.get(listening) ?? this.#newKin(listening);
    kin.add(role);
    if (this.#direct.size > 0) this.#direct.clear();
  }

  /**
   * A message addressed to one of a role's addresses is always heard; a broadcast is heard by those who watch its cause or
   * everything, but not by its sender, nor by the role that passes it on in the sender's name.
   *
   * @param publisher the role that publishes it; nobody's name when it comes from outside
   */
  route(message: Message, publisher: string = message.sentFrom): Route {
    const { sendTo } = message;
    const only = sendTo.length === 1 ? sendTo[0] : undefined;
    if (only === undefined) return this.#routeToEach(message, publisher);
    if (only === ROUTE_TO_ALL) return this.#routeTo(this.#watchers(message, publisher));
    const direct = this.#direct.get(only);
    if (direct === undefined) return this.#routeToOne(message, only);
    this.#run.hearing = direct.role;
    return direct.route;
  }

  /** To one address. */
  #routeToOne(message: Message, only: string): Route {
    if (only === ROUTE_TO_NONE) return unheard;
    const audience = only === ROUTE_TO_SELF ? undefined : this.#byAddress.get(only)?.listing;
    if (audience !== undefined) return this.#routeTo(this.#withNamed(only, audience));
    const role = this.#run.roles.get(only === ROUTE_TO_SELF ? message.sentFrom : only);
    // The list that tells to whom it goes says who hears it, unless somebody could change it.
    const { sendTo } = message;
    if (role === undefined || this.#hired[role.index] === undefined) return { to: nobody, dead: Object.isFrozen(sendTo) ? sendTo : [only] };
    this.#run.hearing = role;
    const route: Route = { to: role.name === only && Object.isFrozen(sendTo) ? sendTo : Object.freeze([role.name]), dead: nobody };
    if (role.name === only && this.#direct.size < MOST_DIRECT) this.#direct.set(only, { role, route });
    return route;
  }

  /** To several addresses, or to none. */
  #routeToEach(message: Message, publisher: string): Route {
    const lists: Listing<R>[] = [];
    const dead: string[] = [];
    for (const address of message.sendTo) {
      if (address === ROUTE_TO_NONE) continue;
      const found = address === ROUTE_TO_ALL ? this.#watchers(message, publisher) : this.#addressed(address, message);
      if (found.members.length > 0) lists.push(found);
      else if (address !== ROUTE_TO_ALL) dead.push(address);
    }
    const route = this.#routeTo(together(lists));
    return dead.length === 0 ? route : { to: route.to, dead };
  }

  #newKin(listening: Listening): Kin<R> {
    const { addresses, watch, observeAll } = listening;
    const kin = new Kin<R>();
    for (const address of new Set(addresses)) if (address !== "") audienceAt(this.#byAddress, address).add(kin);
    if (observeAll) this.#observers.add(kin);
    else for (const cause of new Set(watch)) audienceAt(this.#byCause, cause, this.#observers).add(kin);
    this.#kin.set(listening, kin);
    return kin;
  }

  #addressed(address: string, message: Message): Listing<R> {
    if (address === ROUTE_TO_SELF) return alone(this.#find(message.sentFrom));
    const audience = this.#byAddress.get(address)?.listing;
    return audience === undefined ? alone(this.#find(address)) : this.#withNamed(address, audience);
  }

  /** One may have as its name what is an address of others. */
  #withNamed(name: string, audience: Listing<R>): Listing<R> {
    const role = this.#find(name);
    return role === undefined ? audience : together([alone(role), audience]);
  }

  #watchers(message: Message, publisher: string): Listing<R> {
    let { listing } = this.#byCause.get(message.causeBy) ?? this.#observers;
    // Somebody outside has no name.
    const sender = message.sentFrom === "" ? undefined : this.#find(message.sentFrom);
    if (sender !== undefined) listing = without(listing, sender);
    const passer = publisher === message.sentFrom ? undefined : this.#find(publisher);
    return passer === undefined ? listing : without(listing, passer);
  }

  /** Who is hired under a name. */
  #find(name: string): R | undefined {
    const role = this.#run.roles.get(name);
    return role === undefined || this.#hired[role.index] === undefined ? undefined : role;
  }

  #routeTo(listing: Listing<R>): Route {
    const { members, route } = listing;
    if (members.length === 1) this.#run.hearing = members[0];
    if (route !== undefined) return route;
    const to = Object.freeze(members.map(({ name }) => name));
    if (members.length > FEW_HEARERS) this.#run.audiences.set(to, listing);
    listing.route = { to, dead: nobody };
    return listing.route;
  }
}

/** So many are kept: names may be as many as roles. */
const MOST_DIRECT = 1_000;

interface DirectRoute<R extends Hearer> {
  readonly role: R;
  readonly route: Route;
}

const nobody: readonly string[] = Object.freeze([]);
const unheard: Route = Object.freeze({ to: nobody, dead: nobody });

function audienceAt<R extends Hearer>(index: Map<string, Audience<R>>, key: string, besides?: Audience<R>): Audience<R> {
  const known = index.get(key);
  if (known !== undefined) return known;
  const audience = new Audience<R>(besides);
  index.set(key, audience);
  return audience;
}

function alone<R extends Hearer>(role: R | undefined): Listing<R> {
  return listed(role === undefined ? [] : [role]);
}

function together<R extends Hearer>(lists: readonly Listing<R>[]): Listing<R> {
  const [only] = lists;
  return lists.length === 1 && only !== undefined ? only : listed(merged(lists.map(({ members }) => members)));
}
