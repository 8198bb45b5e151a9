import { createHash } from "node:crypto";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { CacheError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { thrownText } from "../kernel/value-text.ts";
import {
  type Cache,
  type CacheEntry,
  checkedTtl,
  isSameEntry,
  keysOf,
  KeyTurns,
  refuseClosed,
  replaceIn,
  type ReplaceOptions,
} from "../memory/cache.ts";

/** Strings by key on a server that machines share. Each call throws a CacheError when the server does not answer, or refuses. */
export interface RemoteTexts {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string, ttl: number): Promise<void>;
  replace(key: string, text: string, revision: string, ttl: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  keys(prefix: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface RemoteCacheParts {
  readonly remote: RemoteTexts;
  readonly local: Cache;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Stored {
  readonly value: string;
  readonly expires: number;
  /** The revision that it replaces on the server, which does not have it yet. Only in a local copy. */
  readonly over?: string;
}

interface Found {
  /** The text on the server; null when it did not answer. */
  readonly text: string | undefined | null;
  readonly copy: Stored | undefined;
  readonly held: CacheEntry;
  readonly now: number;
}

const ANY = "*";
const NO_TEXT = "-";
const UNKNOWN = "?";
const TRIES = 20;

/**
 * A cache on a shared server, with a local one that answers while the server does not. RemoteCache.R1 (`get`, `replace`) the server's answer counts.
 * A key about which neither could be asked is an error, not a miss. RemoteCache.R2 (`joined`) what was stored while the server was away names the
 * revision that it replaces, and reaches the server with the next `get` or `replace` of its key, only over that revision. Over another one `get`
 * returns both. RemoteCache.R3 (`replace`) a write replaces only the revision that was compared. RemoteCache.R4 (`#ask`) a server that stops or
 * starts to answer is logged. A deletion needs the server.
 */
export class RemoteCache implements Cache {
  readonly #parts: RemoteCacheParts;
  readonly #turns = new KeyTurns();
  #failure: CacheError | undefined;
  #isClosed = false;

  constructor(parts: RemoteCacheParts) {
    this.#parts = parts;
  }

  async get(key: string): Promise<CacheEntry> {
    refuseClosed(this.#isClosed);
    return this.#turns.take(key, async () => {
      const found = await this.#find(key);
      const entry = joined(found);
      if (entry === undefined) throw unknown(this.#failure);
      const { text, copy, held } = found;
      if (text === null || entry.kind !== "hit" || entry.other !== undefined) return entry;
      const stored = storedIn(text);
      if (stored?.value === entry.value) {
        if (held.kind !== "hit" || held.value !== text) await this.#keep(key, stored);
      } else if (copy !== undefined) await this.#send(key, copy, text);
      return entry;
    });
  }

  async set(key: string, value: string, ttl: number): Promise<void> {
    refuseClosed(this.#isClosed);
    const it: Stored = { value, expires: this.#parts.clock.now() + checkedTtl(ttl) };
    await this.#turns.take(key, async () => {
      const answer = await this.#ask(() => this.#parts.remote.set(key, textOf(it), ttl));
      if (answer === null) await this.#parts.local.set(key, JSON.stringify({ ...it, over: ANY }), ttl);
      else await this.#keep(key, it);
    });
  }

  async replace(key: string, value: string, { expected, ttl }: ReplaceOptions): Promise<CacheEntry | undefined> {
    refuseClosed(this.#isClosed);
    const it: Stored = { value, expires: this.#parts.clock.now() + checkedTtl(ttl) };
    return this.#turns.take(key, async () => {
      for (let n = 0; n < TRIES; n++) {
        const found = await this.#find(key);
        const entry = joined(found);
        // Without an answer the caller's expectation counts.
        if (entry !== undefined && !isSameEntry(entry, expected)) return entry;
        const isSent = found.text === null ? null : await this.#send(key, it, found.text);
        if (isSent === true) return undefined;
        if (isSent === false) continue;
        const copy = JSON.stringify({ ...it, over: replacedBy(found, expected) });
        if ((await replaceIn(this.#parts.local, key, copy, { expected: found.held, ttl })) === undefined) return undefined;
      }
      throw new CacheError("CACHE_BUSY", "Expected to replace an entry of a cache, but others wrote it all the time. Try again.");
    });
  }

  async delete(key: string): Promise<void> {
    refuseClosed(this.#isClosed);
    await this.#turns.take(key, async () => {
      await this.#parts.remote.delete(key);
      await this.#parts.local.delete(key);
    });
  }

  async keys(prefix: string): Promise<readonly string[]> {
    refuseClosed(this.#isClosed);
    return [...new Set([...(await keysOf(this.#parts.local, prefix)), ...(await keysOf(this.#parts.remote, prefix))])];
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#parts.remote.close();
    await this.#turns.settled();
    await this.#parts.local.close();
  }

  async #find(key: string): Promise<Found> {
    const [held, text] = await Promise.all([this.#held(key), this.#ask(() => this.#parts.remote.get(key))]);
    return { held, text, copy: held.kind === "hit" ? storedIn(held.value) : undefined, now: this.#parts.clock.now() };
  }

  async #send(key: string, it: Stored, over: string | undefined): Promise<boolean | null> {
    const ttl = it.expires - this.#parts.clock.now();
    const isSent = await this.#ask(() => this.#parts.remote.replace(key, textOf(it), revisionOf(over), ttl));
    if (isSent === true) await this.#keep(key, it);
    return isSent;
  }

  /** Returns the local entry. One that cannot be read is a miss: only the server may have the entry. */
  async #held(key: string): Promise<CacheEntry> {
    try {
      return await this.#parts.local.get(key);
    } catch (error) {
      this.#parts.logger.warn(`The local copy of a cache cannot be read: ${thrownText(error)}`);
      return { kind: "miss" };
    }
  }

  async #keep(key: string, it: Stored): Promise<void> {
    try {
      await this.#parts.local.set(key, textOf(it), it.expires - this.#parts.clock.now());
    } catch (error) {
      this.#parts.logger.warn(`The local copy of a cache cannot be written: ${thrownText(error)}`);
    }
  }

  /** Returns null when the server does not answer, or refuses. @throws every error but a CacheError, which is a fault of the program */
  async #ask<T>(question: () => Promise<T>): Promise<T | null> {
    const { logger } = this.#parts;
    try {
      const answer = await question();
      if (this.#failure !== undefined) logger.info("The server of a cache answers again.");
      this.#failure = undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof CacheError)) throw error;
      if (this.#failure?.message !== error.message) logger.warn(`${error.message} Until then the local copy is used.`);
      this.#failure = error;
      return null;
    }
  }
}

export function revisionOf(text: string | undefined): string {
  return text === undefined ? NO_TEXT : createHash("sha1").update(text).digest("hex");
}

function textOf({ value, expires }: Stored): string {
  return JSON.stringify({ value, expires });
}

function storedIn(text: string | undefined): Stored | undefined {
  const it = text === undefined ? undefined : parsedJson(text);
  const isStored = isRecord(it) && typeof it["value"] === "string" && typeof it["expires"] === "number";
  return isStored ? (it as unknown as Stored) : undefined;
}

function joined({ text, copy, now }: Found): CacheEntry | undefined {
  if (text === null) return copy === undefined ? undefined : { kind: "hit", value: copy.value };
  const stored = storedIn(text);
  if (text !== undefined && stored === undefined) return { kind: "damaged", reason: "another program has written it" };
  const value = stored !== undefined && stored.expires > now ? stored.value : undefined;
  if (copy?.over === undefined) return value === undefined ? { kind: "miss" } : { kind: "hit", value };
  const isNewer = value === undefined || copy.over === ANY || copy.over === revisionOf(text);
  return isNewer || value === copy.value ? { kind: "hit", value: copy.value } : { kind: "hit", value, other: copy.value };
}

function replacedBy({ text, copy }: Found, expected: CacheEntry | undefined): string {
  if (text !== null) return revisionOf(text);
  if (copy !== undefined) return copy.over ?? revisionOf(textOf(copy));
  return expected?.kind === "hit" ? UNKNOWN : NO_TEXT;
}

function unknown(cause: CacheError | undefined): CacheError {
  const reason = cause?.message ?? "it did not answer";
  return new CacheError(
    "CACHE_UNREACHABLE",
    `Expected an answer of the server of a cache, got none, and there is no local copy. What is stored there is as it was: try again later. Reason: ${reason}`,
    { cause },
  );
}
