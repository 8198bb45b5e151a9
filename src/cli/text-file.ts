import { open, readlink, realpath, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { systemCode } from "../kernel/system-error.ts";
import { clauseText, thrownText } from "../kernel/value-text.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";

/** The longest text, in bytes: as much as an idea may have. */
const TEXT_BYTES = 128 * 1024;
const PIECE = 64 * 1024;

/** The text of a file, or of standard input for `-`. @param most bytes it may have */
export async function readText(host: Host, path: string, what: string, most: number = TEXT_BYTES): Promise<string> {
  const from = path === "-" ? "standard input" : `"${shown(path, 200)}"`;
  const bytes = path === "-" ? await firstBytes(host.stdin, most + 1) : await fileBytes(resolve(host.cwd, path), what, from, most);
  if (bytes.length > most) throw unreadable(what, from, `it has more than ${most} bytes`);
  const text = decodedText(bytes);
  if (text !== undefined) return text;
  throw unreadable(what, from, "it is no text in UTF-8");
}

/** The text of bytes in UTF-8; undefined when they are none, or hold a zero. */
export function decodedText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
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

/** At most `limit` bytes of a stream; the rest is not read. */
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

/** True when reading may never end: a pipe waits for a writer, and a device may give bytes without end. */
export async function isEndless(place: string): Promise<boolean> {
  const stats = await stat(place);
  return !stats.isFile() && !stats.isDirectory();
}

/** Writes a new file that only its owner can read. */
export async function writeNewFile(place: string, lines: AsyncIterable<string> | Iterable<string>): Promise<number> {
  const handle = await open(place, "wx", 0o600).catch((error: unknown) => {
    throw unwritable(place, error);
  });
  try {
    let count = 0;
    let waiting = "";
    for await (const line of lines) {
      waiting += `${line}\n`;
      count += 1;
      if (waiting.length < PIECE) continue;
      await handle.appendFile(waiting);
      waiting = "";
    }
    await handle.appendFile(waiting);
    await handle.close();
    return count;
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(place, { force: true });
    throw TroupeError.isInstance(error) ? error : unwritable(place, error);
  }
}

/** Refuses to export to a terminal: exported text is unescaped, and a terminal would obey some of it. */
export function refuseTerminal({ stdout }: Host, command: string): void {
  if (stdout.isTTY !== true) return;
  throw new UsageError("EXPORT_TERMINAL", `Expected a file or a pipe for the export, got a terminal. Name one: ${command}`);
}

async function fileBytes(place: string, what: string, from: string, most: number): Promise<Uint8Array> {
  try {
    if (!(await isEndless(place))) return await fileStart(place, most + 1);
  } catch (error) {
    throw unreadable(what, from, thrownText(error), error);
  }
  throw unreadable(what, from, "it is a pipe, a device or a socket");
}

function unreadable(what: string, from: string, why: string, cause?: unknown): UsageError {
  const text = `Expected to read ${what} from ${from}, but ${shown(why, 200)}.`;
  return new UsageError("FILE_UNREADABLE", text, cause === undefined ? {} : { cause });
}

function unwritable(place: string, error: unknown): UsageError {
  const reason = systemCode(error) === "EEXIST" ? "it exists already" : thrownText(error);
  const text = `Expected to write the new file "${shown(place, 300)}", but ${shown(reason, 200)}. Choose another.`;
  return new UsageError("EXPORT_UNWRITABLE", text, { cause: error });
}

export async function importedModule(path: string, what: string, code: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    const isTypeScript = systemCode(cause) === "ERR_UNKNOWN_FILE_EXTENSION";
    const advice = isTypeScript
      ? ` This Node.js reads no TypeScript: use 22.18 or newer, or install tsx and set NODE_OPTIONS="--import tsx".`
      : "";
    const text = `Expected ${shown(path, 200)} to be ${what}, but it cannot be loaded: ${clauseText(shown(thrownText(cause), 300))}.${advice}`;
    throw new UsageError(code, text, { cause });
  }
}

/** True for a path in a folder, or the folder itself. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Refuses a file of a folder that a link leads out of: errors quote what a file says, and a link may lead to a secret. */
export async function assertInFolder({ cwd }: Pick<Host, "cwd">, path: string): Promise<void> {
  const wanted = resolve(cwd, path);
  const folder = isInside(cwd, wanted) ? cwd : dirname(wanted);
  const [place, top] = [await placeOf(wanted, MOST_LINKS), await placeOf(folder, MOST_LINKS)];
  if (isInside(top, place)) return;
  const expected = `Expected ${shown(path, 200)} to be a file of ${shown(folder, 200)}, but it is a link that leads out of it`;
  throw new UsageError("FILE_ELSEWHERE", `${expected}. Name the file itself.`);
}

const MOST_LINKS = 40;

/**
 * Where a path leads, also one of a file that is not there yet: whoever makes it follows the links on the way, and one that leads nowhere.
 */
async function placeOf(path: string, links: number): Promise<string> {
  const there = await realpath(path).catch(() => undefined);
  const folder = dirname(path);
  if (there !== undefined || folder === path || links === 0) return there ?? path;
  const target = await readlink(path).catch(() => undefined);
  return target === undefined
    ? join(await placeOf(folder, links), basename(path))
    : placeOf(resolve(await placeOf(folder, links), target), links - 1);
}
