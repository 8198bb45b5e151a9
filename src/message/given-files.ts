import { hash as digest } from "node:crypto";
import { UsageError } from "../kernel/errors.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { invalidFile, keepBytes, type MessageFile } from "./file.ts";

/* Apart from the references of files, because the page of the inspector has no files to make. */

/** Limit on the files of one message. */
const MOST_FILES = 20;
/** Limit on the bytes of one file. */
const MOST_BYTES = 25 * 1024 * 1024;
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

/**
 * Returns the references of the files of a message. A reference is kept as it is.
 *
 * @throws UsageError `FILE_INVALID`, `FILE_TOO_LARGE`
 */
export function messageFiles(given: unknown): readonly MessageFile[] | undefined {
  if (!Array.isArray(given)) throw invalidFile("files to be a list", given);
  if (given.length > MOST_FILES) throw invalidFile(`at most ${MOST_FILES} files in a message`, given.length);
  return given.length === 0 ? undefined : Object.freeze(given.map(messageFile));
}

function messageFile(given: unknown): MessageFile {
  if (!isRecord(given)) throw invalidFile("a file with name and data", given);
  const { name, type, data, size, hash } = given;
  if (typeof name !== "string" || !/^[^/\\\p{Cc}]{1,255}$/u.test(name)) throw invalidFile("the name of a file, without folders", name);
  if (type !== undefined && (typeof type !== "string" || !/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(type)))
    throw invalidFile(`the media type of ${name}, such as image/png`, type);
  if (data === undefined && typeof type === "string" && typeof size === "number" && typeof hash === "string")
    return Object.isFrozen(given) ? (given as unknown as MessageFile) : Object.freeze({ name, type, size, hash });
  return fileOf(name, bytesIn(name, data), type);
}

function fileOf(name: string, bytes: Uint8Array, given?: string): MessageFile {
  const found = BEGINNINGS.find(([, begins]) => begins.test(Buffer.from(bytes.subarray(0, 16)).toString("latin1")))?.[0];
  const type = given ?? TYPES[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""] ?? found ?? UNKNOWN_TYPE;
  const isKnown = found !== undefined || BEGINNINGS.some(([known]) => known === type);
  if (isKnown && type !== found && type !== UNKNOWN_TYPE)
    throw invalidFile(`${name} to be of type ${type}`, found === undefined ? "other bytes" : `the bytes of ${found}`);
  const file = Object.freeze({ name, type, size: bytes.length, hash: hashOf(bytes) });
  keepBytes(file, bytes);
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
  if (!isBase64 || (data !== "" && data.endsWith(name))) throw invalidFile(`data of ${name} to be its bytes, or base64`, data);
  return new Uint8Array(Buffer.from(data, "base64"));
}

function tooLarge(name: string, size: number): UsageError {
  const text = `Expected files of at most ${MOST_BYTES} bytes, got ${size} in ${name}. Put large files into the workspace, and name them.`;
  return new UsageError("FILE_TOO_LARGE", text);
}
