import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { bundle } from "./bundle.mjs";
import { bundlePage } from "./page.mjs";
import { root } from "./root.mjs";

const DIST = join(root, "dist");
const STAMP = join(DIST, ".stamp");
const COMMAND = join(DIST, "src/cli/main.js");
const SOURCES = ["src", "roles", "actions", "examples"];
const SETTINGS = [
  ...["package.json", "tsconfig.json", "tools/build.mjs", "tools/bundle.mjs", "tools/page.mjs"],
  ...["typescript", "rolldown", "preact", "@preact/signals"].map((name) => `node_modules/${name}/package.json`),
];

/** True when dist was made from exactly these sources by these tools. */
export function isBuilt() {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === fingerprint();
}

/**
 * Builds into dist what runs and its types, and removes what no source stands for any more. A build that fails leaves no stamp, so the next
 * one starts again.
 *
 * @returns what was wrong when it failed, in the words of the compiler where it has any
 */
export async function build() {
  const made = fingerprint();
  rmSync(STAMP, { force: true });
  const examples = filesIn("examples").filter((file) => file.endsWith(".ts"));
  const [types, code, page] = await Promise.all([writeTypes(), orFailure(bundle(examples)), orFailure(bundlePage())]);
  const failure = types.failure ?? code.failure ?? page.failure;
  if (failure !== undefined) return failure;
  const files = new Map([...code.made, ["src/inspector/page.html", page.made], ...drivers()]);
  for (const [file, script] of files) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    writeFileSync(join(DIST, file), script);
  }
  prune(DIST, new Set([...types.written, ...[...files.keys()].map((file) => join(DIST, file))]));
  chmodSync(COMMAND, 0o755);
  writeFileSync(STAMP, made);
  return undefined;
}

/** Programs that run inside a sandbox, and the data of examples: they are no part of a bundle, and are copied as they are. */
function drivers() {
  return [...filesIn("src"), ...filesIn("examples")]
    .filter((file) => /\/drivers\/[^/]+\.(mjs|py|sh)$|\.answers\.json$/.test(file))
    .map((file) => [file, readFileSync(join(root, file), "utf8")]);
}

async function orFailure(work) {
  return work.then(
    (made) => ({ made }),
    (error) => ({ failure: String(error.message ?? error) }),
  );
}

/** Checks the sources, and writes their types where there is nothing to complain of. */
async function writeTypes() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const options = ["-p", "tsconfig.json", "--noEmitOnError", "--listEmittedFiles", "--pretty", "false"];
  const child = spawn(process.execPath, [compiler, ...options], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((settle) => {
    child.on("error", (error) => settle({ failure: `The compiler could not be started: ${error.message}` }));
    child.on("close", (status) => settle({ status }));
  });
  const [stdout, stderr, { failure, status }] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (failure !== undefined) return { failure };
  const [emitted, rest] = [[], []];
  for (const line of stdout.split("\n")) (line.startsWith("TSFILE: ") ? emitted : rest).push(line);
  if (status !== 0) return { failure: `${rest.join("\n")}${stderr}`.trim() || `tsc ended with code ${status}` };
  return { written: emitted.map((line) => resolve(line.slice("TSFILE: ".length).trim())) };
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
  const failure = await build();
  if (failure !== undefined) {
    process.stderr.write(`${failure}\n`);
    process.exit(1);
  }
}
