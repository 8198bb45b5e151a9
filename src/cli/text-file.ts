import { createReadStream, type Stats } from "node:fs";
import { open, readFile, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { TroupeError, UsageError } from "../kernel/errors.ts";
import { ifThere, systemCode } from "../kernel/system-error.ts";
import { clauseText, thrownText } from "../kernel/value-text.ts";
import type { Host } from "./host.ts";
import { shown } from "./screen/text.ts";

/** As much as an idea may have. */
const TEXT_BYTES = 128 * 1024;

/** The text of a file, or of standard input for `-`. @param limit in bytes */
export async function readText(host: Host, path: string, what: string, limit: number = TEXT_BYTES): Promise<string> {
  const fault = (why: string, cause?: unknown): UsageError => {
    const from = path === "-" ? "standard input" : `"${shown(path, 200)}"`;
    return new UsageError("FILE_UNREADABLE", `Expected to read ${what} from ${from}, but ${shown(why, 200)}.`, { cause });
  };
  const bytes = await bytesOf(host, path, limit + 1).catch((error: unknown) => {
    throw fault(thrownText(error), error);
  });
  if (bytes.length > limit) throw fault(`it has more than ${limit} bytes`);
  const text = decodedText(bytes);
  if (text !== undefined) return text;
  throw fault("it is not text in UTF-8");
}

/** A regular file, or standard input for `-`. A pipe waits for a writer, and a device may never end. */
export async function streamOf({ cwd, stdin }: Host, path: string, limit: number = Infinity): Promise<NodeJS.ReadableStream> {
  if (path === "-") return stdin;
  const file = resolve(cwd, path);
  const stats = await stat(file);
  if (stats.isFile()) return createReadStream(file, { end: limit - 1 });
  if (stats.isDirectory()) throw Object.assign(new Error("it is a folder"), { code: "EISDIR" });
  throw new Error("it is a pipe, a device or a socket");
}

export async function bytesOf(host: Host, path: string, limit: number): Promise<Uint8Array> {
  return firstBytes(await streamOf(host, path, limit), limit);
}

export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

/** True for a file that no other user can have written or can read. @param stats those of `lstat` */
export function isPrivate(stats: Stats): boolean {
  const isOwn = process.getuid === undefined || stats.uid === process.getuid();
  return stats.isFile() && isOwn && (process.platform === "win32" || (stats.mode & 0o077) === 0);
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

async function firstBytes(stream: AsyncIterable<unknown>, limit: number): Promise<Uint8Array> {
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

/** Writes a new file that only its owner can read. A file that is there is neither changed nor removed, whatever fails. */
export async function writeNewFile(path: string, lines: AsyncIterable<string> | Iterable<string>): Promise<number> {
  const file = await open(path, "wx", 0o600).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  let count = 0;
  async function* ended(): AsyncIterable<string> {
    for await (const line of lines) {
      count += 1;
      yield `${line}\n`;
    }
  }
  try {
    await pipeline(Readable.from(ended()), file.createWriteStream());
    return count;
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw TroupeError.isInstance(error) ? error : unwritable(path, error);
  }
}

/** Refuses a path at which any other file than an earlier report is. @param mark a string that each such report has */
export async function assertReplaceable(path: string, mark: string): Promise<void> {
  const before = await ifThere(readFile(path, "utf8")).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  if (before !== undefined && !before.includes(mark))
    throw unwritable(path, Object.assign(new Error("it is another file"), { code: "EEXIST" }));
}

export async function replaceReport(path: string, text: string, mark: string): Promise<void> {
  await assertReplaceable(path, mark);
  try {
    const temporary = `${path}.${process.pid}.tmp`;
    await writeFile(temporary, text, { flag: "wx" });
    await rename(temporary, path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): UsageError {
  const reason = systemCode(error) === "EEXIST" ? "it exists already" : thrownText(error);
  const text = `Expected to write the new file "${shown(path, 300)}", but ${shown(reason, 200)}. Choose another.`;
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

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Refuses a file of a folder that a link leads out of: errors quote a file, and a link may lead to a secret. */
export async function assertInFolder({ cwd }: Pick<Host, "cwd">, path: string): Promise<void> {
  const wanted = resolve(cwd, path);
  const folder = isInside(cwd, wanted) ? cwd : dirname(wanted);
  if (isInside(await targetOf(folder), await targetOf(wanted))) return;
  const expected = `Expected ${shown(path, 200)} to be a file of ${shown(folder, 200)}, but it is a link that leads out of it`;
  throw new UsageError("FILE_ELSEWHERE", `${expected}. Name the file itself.`);
}

const MAX_LINKS = 40;

/** Returns the target of a path, even if the file is missing: writing it follows each link on the path, also a dangling one. */
async function targetOf(path: string, links: number = MAX_LINKS): Promise<string> {
  const known = await realpath(path).catch(() => undefined);
  const folder = dirname(path);
  if (known !== undefined || folder === path || links === 0) return known ?? path;
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) return join(await targetOf(folder, links), basename(path));
  return targetOf(resolve(await targetOf(folder, links), target), links - 1);
}
