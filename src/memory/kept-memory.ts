import { withTimeout } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Message } from "../message/message.ts";
import type { Embedder } from "./embedder.ts";
import { inMemoryStore } from "./in-memory-store.ts";
import type { MemoryOp } from "./memory-draft.ts";
import { MemoryStorage, TICK } from "./memory-storage.ts";
import type { MessageStore } from "./message-store.ts";
import type { RoleMemoryParts } from "./role-memory.ts";
import { AskedBefore, wordsOf } from "./said-again.ts";
import { WriteBehindQueue } from "./write-behind-queue.ts";
import type { SimilarMessage } from "./storage-options.ts";

/** Whose memory is kept, in which run. */
export interface KeptMemoryOptions {
  readonly parts: RoleMemoryParts;
  readonly role: string;
  readonly runId: string;
  /** Whether this run was forked from another, however many forks ago. */
  readonly isAncestor: (runId: string) => boolean;
  readonly clock: Clock;
  /** Told when something could not be stored. It is tried again with the next that comes, and when somebody waits for it. */
  readonly onError: (error: unknown) => void;
}

/** What is looked for among what is kept. */
export interface KeptSearch {
  /** What is being asked: what only asks it again is no answer. */
  readonly asked: readonly string[];
  /** Ids of this run that are known already. */
  readonly besides: ReadonlySet<string>;
  /** Texts that are known already: the same words from elsewhere are not given. */
  readonly known: readonly string[];
  /** Asks the parts' embedder through a door; undefined where they have none. */
  readonly embedder: Embedder | undefined;
  readonly signal: AbortSignal;
}

/** A message that was recalled. */
export interface KeptMessage extends SimilarMessage {
  /** It was said in this run, or in one that this was forked from. */
  readonly isOwn: boolean;
  /** Grows in the order in which the store was given messages. */
  readonly place: number;
}

/** A message that was looked for, and what was said right before and after it, nearest first. */
export interface KeptHit extends KeptMessage {
  readonly neighbours: readonly KeptMessage[];
}

/** A message that the record gave the role, and the run that has it in the store. */
interface Given {
  readonly message: Message;
  readonly storedBy: string;
}

type Change = { readonly type: "add"; readonly message: Message } | { readonly type: "delete"; readonly id: string };

/** Changes that may wait for a store that is slow or fails. */
const MOST_UNSAVED = 10_000;
/** Additions of one commit. */
const MAX_BATCH = 500;
/** How much deeper than what is asked for is looked, as often as it takes: what says the same once more is left out. */
const DEPTH = 4;
/** Milliseconds that a store may take before nobody waits for it any more. */
const TIMEOUT = 30_000;

/**
 * What one role of one run keeps beyond the run. It owns what waits for the store, and which messages the run's record gave the role; the
 * storage owns what is stored.
 *
 * K1 only what is committed gets here, in the order of the record. K2 storing again changes nothing, so a run that goes on tells all of its
 * record again. K3 of its own run, and of those it was forked from, only what its own record gave the role is found, once and as it stands
 * there: no run sees another future of itself, though its ids be the same. K4 it writes under its own run alone, and of what it inherits
 * only what is not stored: what a fork forgets is not forgotten by its parent. K5 a change leaves the line when it is stored; a failure
 * keeps it. K6 vectors are made by searches alone, through the embedder they bring.
 */
export class KeptMemory {
  readonly #o: KeptMemoryOptions;
  readonly #store: MessageStore;
  /** By id. */
  readonly #known = new Map<string, Given>();
  readonly #queue: WriteBehindQueue<Change>;
  #opened: MemoryStorage | undefined;
  /** Whether it was looked for what the runs behind this one have stored. */
  #knowsInherited = false;

  constructor(o: KeptMemoryOptions) {
    this.#o = o;
    this.#store = o.parts.store ?? inMemoryStore();
    const store = (changes: readonly Change[]): Promise<void> => this.#withinLimit("to be stored", () => this.#keep(changes));
    this.#queue = new WriteBehindQueue({ limit: MOST_UNSAVED, maxBatch: MAX_BATCH, store, onError: o.onError });
  }

  /** Changes that are not stored yet. */
  get unsaved(): number {
    return this.#queue.size;
  }

  /** What the record says that the role remembered and forgot. `livedBy`: this run, or the one it was forked from, which stores it itself. */
  learn(ops: readonly MemoryOp[], livedBy: string): void {
    for (const op of ops) {
      if (op[0] === "+") this.#add(op[1], livedBy);
      else for (const id of op[0] === "-" ? [op[1]] : [...this.#known.keys()]) this.#forget(id, livedBy);
    }
  }

  /** Waits while too much waits for the store. @throws QueueFullError when it does not get less, whatever made the store fail */
  async ready(): Promise<void> {
    // What a counter loads with its first text must not decide in which order an activation asks.
    await this.#o.parts.tokens.count("");
    if (this.#queue.isFull) await this.saved();
    this.#queue.assertRoom();
  }

  /** Resolves when everything learned before is stored. @throws whatever the store fails with, and what waits goes on waiting; TimeoutError */
  async saved(): Promise<void> {
    try {
      await this.#queue.flush();
    } catch (error) {
      this.#o.onError(error);
      throw error;
    }
  }

  /**
   * The messages that answer a text best, best first: none that only asks it again, and of several in the same words the newest.
   *
   * @throws MemoryError, ControlError, whatever the store fails with
   */
  async search(text: string, { asked, besides, known, embedder, signal }: KeptSearch): Promise<KeptHit[]> {
    await this.#takeInherited();
    await this.saved();
    const { parts } = this.#o;
    const before = new AskedBefore(asked);
    const isMeant = (message: Message, runId: string): boolean =>
      (!this.#isOwn(runId) || (this.#isGiven(message, runId) && !besides.has(message.id))) && !before.has(message.content);
    const told = new Set(known.map(wordsOf));
    const search = { filter: isMeant, embedder: embedder && askedOnce(embedder), signal, hybrid: parts.lexical !== undefined };
    for (let depth = parts.k * DEPTH; ; depth *= DEPTH) {
      const found = await this.#storage.searchSimilar(text, { ...search, k: depth });
      const hits = withoutRepeats(
        found.map((each) => this.#kept(each)),
        told,
      );
      if (hits.length >= parts.k || found.length < depth) return this.#withNeighbours(hits.slice(0, parts.k), told, isMeant);
    }
  }

  /** Lets go of the store, until it is needed again. @throws TimeoutError when the store does not end what it was asked */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (opened !== undefined) await this.#withinLimit("to be let go of", () => opened.close());
  }

  #isOwn(runId: string): boolean {
    return runId === this.#o.runId || this.#o.isAncestor(runId);
  }

  #kept(found: SimilarMessage): KeptMessage {
    const place = this.#storage.placeOf(found.runId, found.message.id);
    return { ...found, isOwn: this.#isOwn(found.runId), place };
  }

  /** Each neighbour stands beside the best hit it belongs to, and is no hit itself. */
  async #withNeighbours(
    hits: readonly KeptMessage[],
    told: Set<string>,
    isMeant: (message: Message, runId: string) => boolean,
  ): Promise<KeptHit[]> {
    for (const { message } of hits) told.add(wordsOf(message.content));
    const found: KeptHit[] = [];
    for (const hit of hits) {
      const around = await this.#storage.around(hit.runId, hit.message.id, this.#o.parts.neighbours);
      const meant = around.filter(({ message, runId }) => isMeant(message, runId) && message.content.trim() !== "");
      const neighbours = withoutRepeats(
        meant.map(({ message, runId }) => this.#kept({ message, runId, score: 0 })),
        told,
      );
      for (const { message } of neighbours) told.add(wordsOf(message.content));
      found.push({ ...hit, neighbours });
    }
    return found;
  }

  get #storage(): MemoryStorage {
    const { role: roleId, runId, clock, parts } = this.#o;
    const { embedder, index, lexical, ttl, threshold } = parts;
    if (this.#opened !== undefined) return this.#opened;
    const own = { roleId, runId, store: this.#store, embedder, index: index?.(), lexical: lexical?.(), ttl, threshold, clock };
    return (this.#opened = new MemoryStorage(own));
  }

  #add(message: Message, livedBy: string): void {
    // A store that ends with the run has nothing of the run it was forked from.
    const storedBy = this.#o.parts.store === undefined ? this.#o.runId : livedBy;
    this.#known.set(message.id, { message, storedBy });
    if (storedBy === this.#o.runId) this.#queue.push({ type: "add", message });
  }

  #forget(id: string, livedBy: string): void {
    const given = this.#known.get(id);
    if (!this.#known.delete(id)) return;
    const { runId } = this.#o;
    if (livedBy === runId || given?.storedBy === runId) this.#queue.push({ type: "delete", id });
  }

  /** What a run behind this one has not stored, or stored as it was before it was changed, is stored by this one. */
  async #takeInherited(): Promise<void> {
    const { runId } = this.#o;
    const inherited = [...this.#known].filter(([, { storedBy }]) => storedBy !== runId);
    if (this.#knowsInherited || inherited.length === 0) return;
    const stored = await this.#storage.find(inherited.map(([id, { storedBy }]) => ({ runId: storedBy, id })));
    for (const [n, [id, { message }]] of inherited.entries()) {
      if (stored[n]?.message.content === message.content) continue;
      this.#known.set(id, { message, storedBy: runId });
      this.#queue.push({ type: "add", message });
    }
    this.#knowsInherited = true;
  }

  /** A fork may have changed what its parent has under the same id. */
  #isGiven({ id, content }: Message, runId: string): boolean {
    const given = this.#known.get(id);
    return given?.storedBy === runId && given.message.content === content;
  }

  #withinLimit(what: string, work: () => Promise<void>): Promise<void> {
    const never = new AbortController().signal;
    return withTimeout(this.#o.clock, TIMEOUT, `the memory of ${this.#o.role} ${what}`, never, work);
  }

  async #keep(changes: readonly Change[]): Promise<void> {
    const [first] = changes;
    if (first?.type === "delete") {
      await this.#storage.delete(first.id);
      return;
    }
    const { runId } = this.#o;
    const time = this.#storage.nextTime;
    const messages = changes.flatMap((change) => (change.type === "add" ? [change.message] : []));
    await this.#storage.adopt(messages.map((message, n) => ({ runId, addedAt: time + n * TICK, message })));
  }
}

/** An embedder that makes the vector of one question once: a deeper search asks for the same one, and a call may cost money. */
function askedOnce(embedder: Embedder): Embedder {
  let vector: ReturnType<Embedder["embed"]> | undefined;
  const embed: Embedder["embed"] = (texts, o) => (o?.kind === "query" ? (vector ??= embedder.embed(texts, o)) : embedder.embed(texts, o));
  return { ...embedder, embed };
}

/** Of messages in the same words the newest, in the place of the best; none that is told already. */
function withoutRepeats(found: readonly KeptMessage[], told: ReadonlySet<string>): KeptMessage[] {
  const newest = new Map<string, KeptMessage>();
  for (const each of found) {
    const words = wordsOf(each.message.content);
    const other = newest.get(words);
    if (!told.has(words) && (other === undefined || isNewer(each, other))) newest.set(words, each);
  }
  return [...newest.values()];
}

/** What this run has is newer than what others have; by itself it is told by the order of its record, whatever the clock says. */
export function isNewer(a: KeptMessage, b: KeptMessage): boolean {
  if (a.isOwn !== b.isOwn) return a.isOwn;
  const apart = a.isOwn ? 0 : a.message.timestamp - b.message.timestamp;
  return apart === 0 ? a.place > b.place : apart > 0;
}
