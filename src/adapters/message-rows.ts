import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { MemoryError } from "../kernel/errors.ts";
import { identityOf, type MessageToStore, type StoredMessage } from "../memory/message-store.ts";
import { MESSAGE_VERSION, frozenMessage } from "../message/message.ts";
import { assertPlain } from "./stored-json.ts";

/*
 * Encoding of the messages and vectors of long-term memories as rows of a database. A checksum covers the place, the owner and the content of
 * each: a row that was changed, or moved to another place, does not match. The number of a role is part of its places.
 */

/** Places of a role. A row is the role's number times this, plus the place. */
export const SPAN: number = 2 ** 31;

/** True when this machine stores numbers with the lowest byte first. */
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

export interface EncodedMessage {
  readonly identity: Buffer;
  readonly body: string;
}

export function encodeMessage({ runId, addedAt, message }: MessageToStore): EncodedMessage {
  const body = JSON.stringify({ v: MESSAGE_VERSION, runId, addedAt, message });
  assertPlain(body, `message ${message.id}`);
  return { identity: identityDigest(runId, message.id), body };
}

export function identityDigest(runId: string, id: string): Buffer {
  return digestOf(identityOf(runId, id));
}

export function messageChecksum(row: number, identity: string, body: string): Buffer {
  return digestOf(`${row} ${identity} ${body}`);
}

/** End of the checksum in the line of a message. The checked text begins after the next space. */
const CHECKSUM_END = 32;

/** Reads a message from `checksum place identity body`, with digests in hexadecimal. @throws MemoryError `MEMORY_DAMAGED`, `MEMORY_NEWER` */
export function decodeMessage(line: string, base: number): StoredMessage {
  const what = line.slice(CHECKSUM_END + 1);
  if (hash("sha256", what, "hex").slice(0, CHECKSUM_END) !== line.slice(0, CHECKSUM_END)) throw changedMessage();
  const rowEnd = what.indexOf(" ");
  const body = what.slice(what.indexOf(" ", rowEnd + 1) + 1);
  const { v, runId, addedAt, message } = JSON.parse(body) as MessageToStore & { readonly v: unknown };
  if (v !== MESSAGE_VERSION) throw newer(v);
  return { place: Number(what.slice(0, rowEnd)) - base, runId, addedAt, message: frozenMessage(message) };
}

export function vectorBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.length * 4);
  if (IS_LITTLE) {
    bytes.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
    return bytes;
  }
  const view = new DataView(bytes.buffer);
  for (let n = 0; n < vector.length; n++) view.setFloat32(n * 4, vector[n] as number, true);
  return bytes;
}

/** Returns the checksum of a vector's row. A damaged vector can be made again, so 32 bits suffice. */
export function vectorChecksum(row: number, fingerprint: string, bytes: Uint8Array | Float32Array): number {
  // The bytes first: zlib drops the earlier checksum for empty bytes that came from the library.
  return crc32(`${row} ${fingerprint}`, crc32(bytes));
}

export function numbersOf(all: Uint8Array, start: number, length: number): Float32Array {
  const from = all.byteOffset + start;
  if (IS_LITTLE && from % 4 === 0) return new Float32Array(all.buffer, from, length / 4);
  // A copy begins at an address that numbers may have.
  const copy = all.slice(start, start + length);
  const view = new DataView(copy.buffer, copy.byteOffset);
  return Float32Array.from({ length: length / 4 }, (_, n) => view.getFloat32(n * 4, true));
}

function digestOf(what: string | Uint8Array): Buffer {
  return hash("sha256", what, "buffer").subarray(0, 16);
}

export function changedMessage(): MemoryError {
  return new MemoryError(
    "MEMORY_DAMAGED",
    "Expected the rows of a memory as they were stored, but one was changed since. Keep a copy of the store, and put back a copy from before.",
  );
}

function newer(version: unknown): MemoryError {
  return new MemoryError(
    "MEMORY_NEWER",
    `Expected messages of version ${MESSAGE_VERSION} at most, got ${String(version)}. Update this program to read the store; nothing was changed.`,
  );
}
