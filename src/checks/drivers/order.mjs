import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/*
 * Drivers run inside a sandbox, on Node.js 20.19 and later. An order comes on standard input, which no list of processes shows. Each line of a report
 * begins with the nonce of the order; its reader checks all of it all the same.
 */

export const root = process.cwd();

/** @type {any} Its form is that of the caller in TypeScript. */
export const order = JSON.parse(readFileSync(0, "utf8"));

/** @param {unknown} value @returns {Promise<void>} */
export function report(value) {
  return new Promise((done) => process.stdout.write(`\n${order.nonce} ${JSON.stringify(value)}\n`, () => done()));
}

/** Writes a file that a check gives. @param {{ path: string; content?: string; base64?: string }} given */
export function writeGiven({ path: name, content = "", base64 }) {
  const file = path.join(root, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, base64 === undefined ? content : Buffer.from(base64, "base64"));
}

/** True for a file that the project keeps out of its repository by name: the product writes it, so it may be missing. @param {string} file */
export function mayBeMissing(file) {
  const names = (textOf(path.join(root, ".gitignore")) ?? "").split("\n").map((line) => line.trim().replace(/^\//, ""));
  return names.includes(file);
}

/** @param {string} file */
export function textOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Removes the name of the copy, which is another each time. @param {string} text */
export function withoutRoot(text) {
  return text.replaceAll(`${root}/`, "").replaceAll(root, ".");
}

/** The environment of a Python program, with the packages installed in the project. @param {{ isTest?: boolean }} [o] */
export function pythonEnvironment({ isTest = false } = {}) {
  const own = isTest ? [root, path.join(root, "src")] : hasSourceFolder() ? [path.join(root, "src")] : [];
  const libraries = [...own, path.join(root, ".packages")].filter((folder) => existsSync(folder));
  return {
    ...process.env,
    PYTHONPATH: libraries.join(path.delimiter),
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPYCACHEPREFIX: "/nonexistent",
    NO_COLOR: "1",
  };
}

/** True for a project that declares its packages in `src`, as they are found once it is installed. */
function hasSourceFolder() {
  const declared = ["pyproject.toml", "setup.cfg", "setup.py"].map((file) => textOf(path.join(root, file)) ?? "").join("\n");
  return /\bwhere\s*=\s*\[?\s*["']?src\b|package[-_]dir\b[^\n]*\bsrc\b/.test(declared);
}
