import fs from "node:fs";
import path from "node:path";

/** @typedef {{ mark: string; size: number; plain: boolean }} Seen */
/** @typedef {Map<string, Seen> | undefined} Snapshot undefined: there are too many files */

const root = process.cwd();

/** @param {string} name @returns {Seen | undefined} */
function seenAt(name) {
  const at = fs.lstatSync(path.join(root, name), { bigint: true, throwIfNoEntry: false });
  return at && { mark: [at.size, at.mtimeNs, at.ctimeNs, at.ino, at.mode].join(), size: Number(at.size), plain: at.isFile() };
}

/** @param {{ unseen: string[]; mostFiles: number }} bounds @returns {Snapshot} */
export function snapshot({ unseen, mostFiles }) {
  const files = new Map();
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of entriesOf(path.join(root, folder))) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (unseen.includes(entry.name.toLowerCase())) continue;
      const seen = entry.isDirectory() ? undefined : seenAt(name);
      if (entry.isDirectory()) open.push(name);
      if (seen !== undefined) files.set(name, seen);
      if (files.size + open.length > mostFiles) return undefined;
    }
  }
  return files;
}

/** @param {string} folder */
function entriesOf(folder) {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Undefined for more bytes than the limit. Neither a pipe nor a file that grows keeps the driver. @param {string} file @param {number} limit */
export function readUpTo(file, limit) {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  try {
    if (!fs.fstatSync(fd).isFile()) throw new Error("no file");
    const bytes = Buffer.alloc(limit + 1);
    let size = 0;
    for (let got = -1; got !== 0 && size <= limit; size += got) got = fs.readSync(fd, bytes, size, limit + 1 - size, null);
    return size > limit ? undefined : bytes.subarray(0, size);
  } finally {
    fs.closeSync(fd);
  }
}

/** @param {string} name @param {Seen} seen @param {number} limit bytes @returns {{ content: string } | { base64: string } | string} */
function contentOf(name, { size, plain }, limit) {
  if (!plain) return "it is a link or no plain file";
  if (size > limit) return `it is larger than ${limit} bytes`;
  try {
    const bytes = readUpTo(path.join(root, name), size);
    if (bytes === undefined) return "it changed while it was read";
    const text = bytes.toString("utf8");
    return bytes.includes(0) || !Buffer.from(text).equals(bytes) ? { base64: bytes.toString("base64") } : { content: text };
  } catch {
    return "it cannot be read";
  }
}

/** Takes in what changed outside. @param {import("../copied-files.ts").OutsideChanges} changes @param {Snapshot} seen */
export function takeIn({ written, removed }, seen) {
  for (const name of removed) clear(name, seen);
  for (const { path: name, base64, mode } of written) {
    clear(name, seen);
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), base64, { encoding: "base64", flag: "wx", mode });
    const now = seenAt(name);
    if (now !== undefined) seen?.set(name, now);
  }
}

/** Removes a file, and what a command put in the place of its folders: a link there may lead out of the project. @param {string} name @param {Snapshot} seen */
function clear(name, seen) {
  const parts = name.split("/");
  for (const index of parts.keys()) {
    const at = parts.slice(0, index + 1).join("/");
    const isFolder = fs.lstatSync(path.join(root, at), { throwIfNoEntry: false })?.isDirectory() === true;
    if (isFolder && at !== name) continue;
    fs.rmSync(path.join(root, at), { recursive: true, force: true });
    for (const key of isFolder ? [...(seen?.keys() ?? [])] : []) if (key.startsWith(`${at}/`)) seen?.delete(key);
    seen?.delete(at);
  }
}

/** A change too large for one report comes with the next. @param {Snapshot} before @param {Snapshot} after @param {any} bounds */
export function changesBetween(before, after, bounds) {
  if (before === undefined || after === undefined)
    return { written: [], removed: [], skipped: [{ path: "", reason: "there are too many files" }], files: 0 };
  /** @type {object[][]} */
  const [written = [], skipped = []] = [];
  let room = bounds.changedBytes;
  for (const [name, seen] of [...after].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const old = before.get(name);
    if (old?.mark === seen.mark) continue;
    const isTooMuch = seen.size > room || written.length >= bounds.changedFiles;
    if (seen.plain && seen.size <= bounds.fileBytes && isTooMuch) {
      skipped.push({ path: name, reason: "the command changed too much" });
      if (old === undefined) after.delete(name);
      else after.set(name, old);
      continue;
    }
    const found = contentOf(name, seen, bounds.fileBytes);
    if (typeof found === "string") {
      skipped.push({ path: name, reason: found });
    } else {
      written.push({ path: name, ...found });
      room -= seen.size;
    }
  }
  const removed = [...before.keys()].filter((name) => !after.has(name)).sort();
  return { written, removed: removed.slice(0, bounds.mostFiles), skipped: skipped.slice(0, bounds.mostSkipped), files: before.size };
}
