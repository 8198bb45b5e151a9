import { MemoryError } from "../kernel/errors.ts";
import type { Message } from "../message/message.ts";

/** A message as somebody wants it kept. */
export interface MessageToStore {
  /** The run in which its id is its own; empty outside runs. */
  readonly runId: string;
  /** When it was given to the store, in milliseconds. Grows within a store, by thousandths among those of one moment. */
  readonly addedAt: number;
  readonly message: Message;
}

/** A message that is kept. */
export interface StoredMessage extends MessageToStore {
  /** Grows in order of arrival and is never used again. */
  readonly place: number;
}

/** What became of a message that was to be kept. */
export interface StoredAt {
  readonly place: number;
  /** False when the store had it. */
  readonly isNew: boolean;
}

/** Some messages that follow each other. */
export interface MessagePage {
  readonly messages: readonly StoredMessage[];
  /** How many there are between them that are damaged. */
  readonly damaged: number;
}

/** A vector that is kept. One without numbers says that its message cannot be embedded. */
export interface StoredVector {
  readonly place: number;
  readonly vector: Float32Array;
}

/** How far a store has come, for those who have read it before. */
export interface StoreState {
  /** The place given last; 0 before the first. */
  readonly last: number;
  /** How many messages were removed, ever. */
  readonly removals: number;
}

/** By what a message is known: its run, and its id in it. */
export interface MessageIdentity {
  readonly runId: string;
  readonly id: string;
}

/**
 * A word that a question asks for: in lower case and in Unicode form NFKC, of letters, digits and marks. Chinese, Japanese and Korean
 * texts have each character and each two that follow one another as words.
 */
export interface SoughtWord {
  readonly word: string;
  /** Whether longer words that begin with it are meant too. */
  readonly isBeginning: boolean;
  /** Letters that may be left out, added or changed in a misspelt word. */
  readonly wrongLetters: number;
}

/** Finds some messages of a store without reading all of them. */
export interface MessageLookup {
  /**
   * The places of messages that hold the most and the rarest of some words: `most` at most, and besides them those that it knows no words
   * of. Places at which nothing is may be among them. Undefined when it cannot tell, or when it would take as long as reading all.
   */
  likeliest(roleId: string, words: readonly SoughtWord[], most: number): Promise<readonly number[] | undefined>;
  /** The messages at some places, in order of arrival. */
  read(roleId: string, places: readonly number[]): Promise<MessagePage>;
  /** The place of each; undefined for one that is not there. */
  placesOf(roleId: string, identities: readonly MessageIdentity[]): Promise<readonly (number | undefined)[]>;
}

/**
 * Keeps the messages of roles for good. Port. The messages are the truth; vectors are kept beside them to save work, and may be lost.
 *
 * MessageStore.V1 `add` keeps all or none; a resolved addition is durable. MessageStore.V2 (run, id) is the identity: a held message is not kept
 * again. MessageStore.V3 places grow in order of arrival and are never reused. MessageStore.V4 roles are separate, whatever their ids contain.
 * MessageStore.V5 a message comes back as it went in, or is counted as damaged: never another one. MessageStore.V6 vectors come back as they went
 * in, under the fingerprint they were written with, or not at all; those of a removed message are gone. MessageStore.V7 several callers may use
 * one store at once. MessageStore.V8 `close` releases what is held open, after the earlier questions; a later question opens it again, so that
 * several storages can share a store. MessageStore.V9 a `lookup` knows every resolved change, and returns no removed message.
 */
export interface MessageStore {
  state(roleId: string): Promise<StoreState>;
  /** Tells of each, in order, where it is. */
  add(roleId: string, messages: readonly MessageToStore[]): Promise<readonly StoredAt[]>;
  /** Those behind a place, in order of arrival. */
  read(roleId: string, after: number): AsyncIterable<MessagePage>;
  /** All places in use, ascending. */
  places(roleId: string): Promise<readonly number[]>;
  /** @returns how many there were */
  remove(roleId: string, places: readonly number[]): Promise<number>;
  /** Vectors of a fingerprint behind a place, in order of arrival. */
  readVectors(roleId: string, fingerprint: string, after: number): AsyncIterable<readonly StoredVector[]>;
  /** Replaces what was there. Vectors of messages that are gone are dropped. */
  writeVectors(roleId: string, fingerprint: string, vectors: readonly StoredVector[]): Promise<void>;
  clearVectors(roleId: string): Promise<void>;
  /** Optional: without it a memory reads all messages of its role. */
  readonly lookup?: MessageLookup;
  close(): Promise<void>;
}

/** Whoever uses a memory after its end. */
export function memoryClosed(): MemoryError {
  return new MemoryError("MEMORY_CLOSED", "Expected an open memory, but it has been closed. Make another one over the same store.");
}

/** By what a message is known in a store. */
export function identityOf(runId: string, id: string): string {
  return JSON.stringify([runId, id]);
}
