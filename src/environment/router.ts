import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF } from "../message/address.ts";
import type { Message } from "../message/message.ts";

/** How a role can be reached. */
export interface Listener {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly watch: readonly string[];
  readonly observeAll: boolean;
}

/** Who hears a message, in hire order, and which of its addresses nobody has. */
export interface Route {
  readonly to: readonly string[];
  readonly dead: readonly string[];
}

/**
 * Who listens to what. It owns the indexes from addresses and causes to roles; routing is a pure function of it and the message.
 *
 * E4 finding the recipients costs O(recipients), not O(roles).
 */
export class Directory {
  readonly #names: string[] = [];
  readonly #places = new Map<string, number>();
  readonly #byAddress = new Map<string, number[]>();
  readonly #byCause = new Map<string, number[]>();
  readonly #observers: number[] = [];

  add(listener: Listener): void {
    const place = this.#names.length;
    this.#names.push(listener.name);
    this.#places.set(listener.name, place);
    for (const address of new Set(listener.addresses)) if (address !== "") append(this.#byAddress, address, place);
    if (listener.observeAll) this.#observers.push(place);
    else for (const cause of listener.watch) append(this.#byCause, cause, place);
  }

  /**
   * A message addressed to one of a role's addresses is always heard; a broadcast is heard by those who watch its cause or
   * everything, but not by its sender, nor by the role that passes it on in the sender's name.
   *
   * @param publisher the role that publishes it; nobody's name when it comes from outside
   */
  route(message: Message, publisher: string = message.sentFrom): Route {
    const places: (readonly number[])[] = [];
    const dead: string[] = [];
    for (const address of message.sendTo) {
      if (address === ROUTE_TO_NONE) continue;
      const found = address === ROUTE_TO_ALL ? this.#watchers(message, publisher) : this.#addressed(address, message);
      if (found.length > 0) places.push(found);
      else if (address !== ROUTE_TO_ALL) dead.push(address);
    }
    return { to: this.#namesOf(places), dead };
  }

  #addressed(address: string, message: Message): readonly number[] {
    if (address !== ROUTE_TO_SELF) return this.#byAddress.get(address) ?? [];
    const self = this.#places.get(message.sentFrom);
    return self === undefined ? [] : [self];
  }

  #watchers(message: Message, publisher: string): readonly number[] {
    const watching = this.#byCause.get(message.causeBy) ?? [];
    const sender = this.#places.get(message.sentFrom);
    const passer = this.#places.get(publisher);
    const all = this.#observers.length === 0 ? watching : inOrder([watching, this.#observers]);
    return sender === undefined && passer === undefined ? all : all.filter((place) => place !== sender && place !== passer);
  }

  #namesOf(lists: readonly (readonly number[])[]): readonly string[] {
    const places = lists.length === 1 ? (lists[0] ?? []) : inOrder(lists);
    return places.map((place) => this.#names[place] as string);
  }
}

function append(index: Map<string, number[]>, key: string, place: number): void {
  const places = index.get(key);
  if (places === undefined) index.set(key, [place]);
  else places.push(place);
}

function inOrder(lists: readonly (readonly number[])[]): readonly number[] {
  return [...new Set(lists.flat())].toSorted((a, b) => a - b);
}
