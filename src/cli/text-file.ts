import { open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";

/** The longest text, in bytes: as much as an idea may have. */
const TEXT_BYTES = 128 * 1024;

/**
 * The text of a file, or of standard input for `-`. @param what begins the error: `the answer`, `--edit` @param most bytes it may have
 *
 * @throws UsageError `FILE_UNREADABLE`
 */
export async function readText(host: Host, path: string, what: string, most: number = TEXT_BYTES): Promise<string> {
  const from = path === "-" ? "standard input" : `"${shown(path, 200)}"`;
  const bytes = path === "-" ? await firstBytes(host.stdin, most + 1) : await fileBytes(resolve(host.cwd, path), what, from, most);
  if (bytes.length > most) throw unreadable(what, from, `it has more than ${most} bytes`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // No UTF-8; told below like a file with zeros in it.
  }
  throw unreadable(what, from, "it is no text in UTF-8");
}

/** At most `limit` bytes of a regular file. */
export async function fileStart(place: string, limit: number): Promise<Uint8Array> {
  const handle = await open(place, "r");
  try {
    return await firstBytes(handle.createReadStream({ end: limit - 1 }), limit);
  } finally {
    await handle.close();
  }
}

/** The beginning of a stream; what comes after the limit is not read. */
export async function firstBytes(stream: AsyncIterable<unknown>, limit: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array | string);
    chunks.push(bytes);
    length += bytes.length;
    if (length >= limit) break;
  }
  return Buffer.concat(chunks).subarray(0, limit);
}

/** Whether reading may wait for ever: a pipe waits for somebody to write into it, and a device may never end. */
export async function isEndless(place: string): Promise<boolean> {
  const stats = await stat(place);
  return !stats.isFile() && !stats.isDirectory();
}

async function fileBytes(place: string, what: string, from: string, most: number): Promise<Uint8Array> {
  try {
    if (!(await isEndless(place))) return await fileStart(place, most + 1);
  } catch (error) {
    throw unreadable(what, from, error instanceof Error ? error.message : String(error), error);
  }
  throw unreadable(what, from, "it is a pipe, a device or a socket");
}

function unreadable(what: string, from: string, why: string, cause?: unknown): UsageError {
  return new UsageError(
    "FILE_UNREADABLE",
    `Expected to read ${what} from ${from}, but ${shown(why, 200)}.`,
    cause === undefined ? {} : { cause },
  );
}
