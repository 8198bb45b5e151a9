import { hash as digest } from "node:crypto";
import { UsageError } from "../kernel/errors.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";

/** A file of a message. Its bytes are kept beside the record of the run, under their hash. */
export interface MessageFile {
  /** Its name without folders. */
  readonly name: string;
  /** The media type. */
  readonly type: string;
  /** The number of bytes. */
  readonly size: number;
  /** The sha256 of the bytes, in hexadecimal digits. */
  readonly hash: string;
}

/** A file as a program gives it. `data` is its bytes, or base64. Default of `type`: by the ending of the name. */
export interface FileGiven {
  readonly name: string;
  readonly type?: string;
  readonly data: Uint8Array | string;
}

/** Limit on the files of one message. */
const MOST_FILES = 20;
/** Limit on the bytes of one file. */
export const MOST_BYTES: number = 25 * 1024 * 1024;
const UNKNOWN_TYPE = "application/octet-stream";

const TYPES: Readonly<Record<string, string>> = {
  ...{ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", svg: "image/svg+xml" },
  ...{ pdf: "application/pdf", json: "application/json", zip: "application/zip", xml: "application/xml" },
  ...{ txt: "text/plain", log: "text/plain", md: "text/markdown", csv: "text/csv", html: "text/html", css: "text/css" },
  ...{ wav: "audio/wav", mp3: "audio/mpeg", ogg: "audio/ogg", m4a: "audio/mp4", mp4: "video/mp4", webm: "video/webm" },
};

/** The first bytes of files of known types, as Latin-1; `.` is any byte. */
const BEGINNINGS: readonly (readonly [string, RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  ["application/pdf", /^%PDF-/],
];

/** Reads the bytes of a file; undefined if they are gone. */
export type FileLoader = () => Promise<Uint8Array | undefined>;

/** The bytes of files that this process knows, or what reads them, by the reference in the message. */
const contents = new WeakMap<MessageFile, Uint8Array | FileLoader>();

/** Returns the bytes of a file if they are in the memory of this process. */
export function bytesOf(file: MessageFile): Uint8Array | undefined {
  const content = contents.get(file);
  return typeof content === "function" ? undefined : content;
}

/** Returns the bytes of a file if this process knows them. */
export async function loadFile(file: MessageFile): Promise<Uint8Array | undefined> {
  const content = contents.get(file);
  return typeof content === "function" ? content() : content;
}

/** Frees the memory of a file whose bytes can be read again. */
export function loadedBy(file: MessageFile, load: FileLoader): void {
  contents.set(file, load);
}

/**
 * Returns the references of the files of a message. A reference is kept as it is.
 *
 * @throws UsageError `FILE_INVALID`, `FILE_TOO_LARGE`
 */
export function messageFiles(given: unknown): readonly MessageFile[] | undefined {
  if (!Array.isArray(given)) throw invalid("files to be a list", given);
  if (given.length > MOST_FILES) throw invalid(`at most ${MOST_FILES} files in a message`, given.length);
  return given.length === 0 ? undefined : Object.freeze(given.map(messageFile));
}

function messageFile(given: unknown): MessageFile {
  if (!isRecord(given)) throw invalid("a file with name and data", given);
  const { name, type, data, size, hash } = given;
  if (typeof name !== "string" || !/^[^/\\\p{Cc}]{1,255}$/u.test(name)) throw invalid("the name of a file, without folders", name);
  if (type !== undefined && (typeof type !== "string" || !/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type)))
    throw invalid(`the media type of ${name}, such as image/png`, type);
  if (data === undefined && typeof type === "string" && typeof size === "number" && typeof hash === "string")
    return Object.isFrozen(given) ? (given as unknown as MessageFile) : Object.freeze({ name, type, size, hash });
  return fileOf(name, bytesIn(name, data), type);
}

export function fileOf(name: string, bytes: Uint8Array, given?: string): MessageFile {
  const found = BEGINNINGS.find(([, begins]) => begins.test(Buffer.from(bytes.subarray(0, 16)).toString("latin1")))?.[0];
  const type = given ?? TYPES[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""] ?? found ?? UNKNOWN_TYPE;
  const isKnown = found !== undefined || BEGINNINGS.some(([known]) => known === type);
  if (isKnown && type !== found && type !== UNKNOWN_TYPE)
    throw invalid(`${name} to be of type ${type}`, found === undefined ? "other bytes" : `the bytes of ${found}`);
  const file = Object.freeze({ name, type, size: bytes.length, hash: hashOf(bytes) });
  contents.set(file, bytes);
  return file;
}

export function hashOf(bytes: Uint8Array): string {
  return digest("sha256", bytes, "hex");
}

function bytesIn(name: string, data: unknown): Uint8Array {
  const size = typeof data === "string" ? Math.floor(data.length * 0.75) - 2 : data instanceof Uint8Array ? data.length : 0;
  if (size > MOST_BYTES) throw tooLarge(name, size);
  if (data instanceof Uint8Array) return new Uint8Array(data);
  const isBase64 = typeof data === "string" && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
  if (!isBase64 || (data !== "" && data.endsWith(name))) throw invalid(`data of ${name} to be its bytes, or base64`, data);
  return new Uint8Array(Buffer.from(data, "base64"));
}

/** Returns another reference with the same bytes. */
export function copyOf(file: MessageFile, name: string = file.name): MessageFile {
  const copy = Object.freeze({ ...file, name });
  const content = contents.get(file);
  if (content !== undefined) contents.set(copy, content);
  return copy;
}

/** Returns the files with their data, for another process. */
export function withData(files: readonly MessageFile[]): readonly (MessageFile | FileGiven)[] {
  return files.map((file) => {
    const bytes = bytesOf(file);
    return bytes === undefined ? file : { name: file.name, type: file.type, data: Buffer.from(bytes).toString("base64") };
  });
}

/** Returns the words for a file that a model cannot read. */
export function fileWords({ name, type, size }: Pick<MessageFile, "name" | "type" | "size">, why: string): string {
  const unit = size < 1_000 ? `${size} bytes` : size < 1_000_000 ? `${Math.round(size / 1_000)} kB` : `${Math.round(size / 1_000_000)} MB`;
  return `(file ${name}, ${type}, ${unit}: ${why})`;
}

/** @throws UsageError `FILE_INVALID`, `FILE_UNKNOWN` */
export async function readFile(
  file: MessageFile,
  files: ((hash: string) => Promise<Uint8Array | undefined>) | undefined,
): Promise<Uint8Array> {
  if (!isRecord(file) || typeof file.hash !== "string") throw invalid("a file of a message", file);
  const bytes = (await loadFile(file)) ?? (await files?.(file.hash));
  if (bytes !== undefined) return new Uint8Array(bytes);
  const expected = `Expected a file of this run, got ${file.name}, whose bytes the run does not have`;
  throw new UsageError("FILE_UNKNOWN", `${expected}. Give the file with its bytes: { name, data }.`);
}

const ADVICE = "Read it: { name, data: await readFile(path) }.";

function invalid(expected: string, came: unknown): UsageError {
  const shown = typeof came === "string" && came.includes(" ") ? came : valueText(came);
  return new UsageError("FILE_INVALID", `Expected ${expected}, got ${shown}. ${ADVICE}`);
}

function tooLarge(name: string, size: number): UsageError {
  const text = `Expected files of at most ${MOST_BYTES} bytes, got ${size} in ${name}. Put large files into the workspace, and name them.`;
  return new UsageError("FILE_TOO_LARGE", text);
}
