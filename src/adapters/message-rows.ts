import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { MemoryError } from "../kernel/errors.ts";
import { identityOf, type MessageToStore, type StoredMessage } from "../memory/message-store.ts";
import { MESSAGE_VERSION, frozenMessage } from "../message/message.ts";
import { assertPlain } from "./stored-json.ts";

/* Messages and vectors of long-term memories as rows. A checksum covers place, owner and content, so a changed or moved row does not match. */

/** Places of a role. A row is the role's number times this, plus the place. */
export const SPAN: number = 2 ** 31;

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

export function vectorBytes({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns the checksum of a vector's row. A damaged vector can be made again, so 32 bits suffice. */
export function vectorChecksum(row: number, fingerprint: string, bytes: Uint8Array | Float32Array): number {
  // The bytes first: zlib drops the earlier checksum for empty bytes that came from the library.
  return crc32(`${row} ${fingerprint}`, crc32(bytes));
}

/** Returns the numbers of bytes. A copy is made where their address is none that numbers may have. */
export function numbersOf(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Float32Array(buffer, byteOffset, byteLength / 4);
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
