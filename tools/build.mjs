import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./root.mjs";

const DIST = join(root, "dist");
const STAMP = join(DIST, ".stamp");
const COMMAND = join(DIST, "src/cli/main.js");
const SOURCES = ["src", "roles", "actions", "examples"];
const SETTINGS = ["package.json", "tsconfig.json", "tsconfig.examples.json", "node_modules/typescript/package.json"];

/** True when dist was made from exactly these sources by this compiler. */
export function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === fingerprint();
}

/**
 * Compiles into dist and removes what no source stands for any more. A build that fails writes nothing and leaves no stamp, so the next one
 * starts again.
 *
 * @returns the compiler's words when it failed
 */
export function build() {
  const made = fingerprint();
  rmSync(STAMP, { force: true });
  const written = new Set([STAMP]);
  const projects = hasExamples() ? ["tsconfig.json", "tsconfig.examples.json"] : ["tsconfig.json"];
  for (const project of projects) {
    const failure = compile(project, written);
    if (failure !== undefined) return failure;
  }
  prune(DIST, written);
  if (existsSync(COMMAND)) chmodSync(COMMAND, 0o755);
  mkdirSync(DIST, { recursive: true });
  writeFileSync(STAMP, made);
  return undefined;
}

function compile(project, written) {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const result = spawnSync(process.execPath, [compiler, "-p", project, "--noEmitOnError", "--listEmittedFiles", "--pretty", "false"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.error !== undefined) return `The compiler could not be started: ${result.error.message}`;
  const [emitted, rest] = [[], []];
  for (const line of result.stdout.split("\n")) (line.startsWith("TSFILE: ") ? emitted : rest).push(line);
  if (result.status !== 0) return `${rest.join("\n")}${result.stderr}`.trim() || `tsc -p ${project} ended with code ${result.status}`;
  for (const line of emitted) written.add(resolve(line.slice("TSFILE: ".length).trim()));
  return undefined;
}

function prune(folder, kept) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) prune(path, kept);
    else if (!kept.has(path)) rmSync(path);
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

function hasExamples() {
  return filesIn("examples").some((file) => file.endsWith(".ts"));
}

/** Content, not times: a checkout, a copy or a clock that runs behind changes times and nothing else. */
function fingerprint() {
  const hash = createHash("sha256");
  for (const file of [...SETTINGS, ...SOURCES.flatMap(filesIn)]) {
    const path = join(root, file);
    hash
      .update(`${file}\0`)
      .update(existsSync(path) ? readFileSync(path) : "")
      .update("\0");
  }
  return hash.digest("hex");
}

function filesIn(folder) {
  const start = join(root, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const failure = build();
  if (failure !== undefined) {
    process.stderr.write(`${failure}\n`);
    process.exit(1);
  }
}
