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

/** Keeps the bytes of a file in the memory of this process. */
export function keepBytes(file: MessageFile, bytes: Uint8Array): void {
  contents.set(file, bytes);
}

/** Frees the memory of a file whose bytes can be read again. */
export function loadedBy(file: MessageFile, load: FileLoader): void {
  contents.set(file, load);
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
    if ("data" in file) return file;
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
  if (!isRecord(file) || typeof file.hash !== "string") throw invalidFile("a file of a message", file);
  const bytes = (await loadFile(file)) ?? (await files?.(file.hash));
  if (bytes !== undefined) return new Uint8Array(bytes);
  throw unknownFile(file);
}

export function unknownFile({ name }: MessageFile): UsageError {
  const expected = `Expected a file of this run, got ${name}, whose bytes the run does not have`;
  return new UsageError("FILE_UNKNOWN", `${expected}. Give the file with its bytes: { name, data }.`);
}

const ADVICE = "Read it: { name, data: await readFile(path) }.";

/** Returns the error for a value that is no file. */
export function invalidFile(expected: string, came: unknown): UsageError {
  const shown = typeof came === "string" && came.includes(" ") ? came : valueText(came);
  return new UsageError("FILE_INVALID", `Expected ${expected}, got ${shown}. ${ADVICE}`);
}
