// Installs the packed package into fresh projects with several package managers and versions of zod, compiles the examples with several
// compilers, and runs them; starts the package on several versions of Node. Needs the npm registry, so it is not a part of `npm test`. Some
// minutes. `--zod 4.2.0`, `--typescript 5.4.5`, `--manager npm` and `--node 20` narrow it, and may be repeated.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeProgram } from "./entries.mjs";
import { npm } from "./npm.mjs";
import { root } from "./root.mjs";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const LOWEST_ZOD = /\d+\.\d+\.\d+/.exec(manifest.peerDependencies.zod)[0];
const TYPESCRIPTS = ["5.4.5", "5.6.3", "5.9.3", "6.0.3", "7.0.2"];
/** pnpm by this version, through npm: a machine need not have it. */
const PNPM = "pnpm@10.18.3";
/** A program may use what the package leaves to its user. */
const BESIDE = [
  "@types/node",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server-everything",
  "@opentelemetry/api",
  "@opentelemetry/exporter-trace-otlp-proto",
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/sdk-trace-base",
  "@rgrove/parse-xml",
  "hyparquet-writer",
  "jstat",
  "ml-matrix",
  "vega",
  "vega-interpreter",
  "vega-lite",
];
/** `skipLibCheck` is off: declarations of this package, and all that they import, must be sound for the compiler too. */
const COMPILER_OPTIONS = {
  ...{ target: "es2022", lib: ["es2023"], module: "nodenext", types: ["node"], strict: true, skipLibCheck: false },
  ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noPropertyAccessFromIndexSignature: true },
  ...{ verbatimModuleSyntax: true, rootDir: "examples", outDir: "out" },
};
const LONGEST = 300_000;
/** Major versions of Node on which the package starts. */
const NODES = ["20", "22", "24", "26"];

const { values: asked } = parseArgs({
  options: {
    zod: { type: "string", multiple: true },
    typescript: { type: "string", multiple: true },
    manager: { type: "string", multiple: true },
    node: { type: "string", multiple: true },
  },
});

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "troupe-compat-")));
try {
  process.exitCode = main() ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function main() {
  const tarball = pack();
  const zods = asked.zod ?? [LOWEST_ZOD, newest("zod@4")];
  const typescripts = asked.typescript ?? TYPESCRIPTS;
  say(`zod ${zods.join(", ")}; TypeScript ${typescripts.join(", ")}; Node ${process.versions.node}`);
  let isGood = true;
  for (const manager of asked.manager ?? ["npm", "pnpm", "folder"]) {
    for (const zod of zods) isGood = tryProject({ manager, zod, typescripts, tarball }) && isGood;
  }
  return startOnNodes(asked.node ?? NODES, tarball) && isGood;
}

/** Imports every entry of the installed package and plays the demo on each version of Node. @returns whether all of it went well */
function startOnNodes(versions, tarball) {
  const project = join(scratch, "nodes");
  makeProject(project);
  writeProgram(project);
  const added = add("npm", project, [tarball, "zod@4"]);
  if (added !== undefined) return failed("versions of Node: install", added);
  const broken = versions.filter((version) => {
    const folder = join(scratch, `node-${version}`);
    mkdirSync(folder);
    const platform = `node-${process.platform}-${process.arch}`;
    const found = newest(`${platform}@${version}`);
    const missing = add("npm", folder, [`${platform}@${found}`]);
    if (missing !== undefined) return !failed(`Node ${found}: install`, missing);
    const node = join(folder, "node_modules", platform, "bin", "node");
    const command = join(project, "node_modules", manifest.name, manifest.bin.troupe);
    const works = [["all.mjs"], [command, "demo", "--out", `demo-${version}`]].every((program) => {
      const ended = spawnSync(node, program, { cwd: project, encoding: "utf8", timeout: LONGEST, env: plainEnvironment() });
      return ended.status === 0 || failed(`Node ${found}: ${program.join(" ")}`, said(ended));
    });
    if (works) say(`ok      Node ${found}: every entry imported, demo played`);
    return !works;
  });
  return broken.length === 0;
}

/** A fresh project: installed, compiled by each compiler, run. @returns whether all of it went well */
function tryProject({ manager, zod, typescripts, tarball }) {
  const name = `${manager}, zod ${zod}`;
  const project = join(scratch, `${manager}-${zod}`);
  makeProject(project);
  const compilers = typescripts.map((version) => `ts-${version}@npm:typescript@${version}`);
  const beside = BESIDE.map((one) => `${one}@${manifest.devDependencies[one]}`);
  // The user's own zod is there first, as in a project that depends on it already.
  const steps = [[`zod@${zod}`, ...beside, ...compilers], manager === "folder" ? ["--install-links", root] : [tarball]];
  for (const packages of steps) {
    const added = add(manager, project, packages);
    if (added !== undefined) return failed(`${name}: install`, added);
  }
  const own = createRequire(join(project, "index.js"));
  const theirs = createRequire(join(realpathSync(join(project, "node_modules", manifest.name)), "index.js"));
  if (own.resolve("zod") !== theirs.resolve("zod")) return failed(`${name}: two copies of zod`, theirs.resolve("zod"));
  if (own("zod/package.json").version !== zod) return failed(`${name}: another zod`, own("zod/package.json").version);
  say(`ok      ${name}: installed, one copy of zod`);
  const isCompiled = typescripts.map((version) => compile(name, project, version)).every(Boolean);
  return runExamples(name, project) && isCompiled;
}

function makeProject(project) {
  mkdirSync(project);
  cpSync(join(root, "examples"), join(project, "examples"), { recursive: true, filter: (path) => !path.endsWith(".json") });
  const json = (file, value) => writeFileSync(join(project, file), `${JSON.stringify(value, undefined, 2)}\n`);
  json("package.json", { name: "user", version: "1.0.0", private: true, type: "module" });
  json("tsconfig.json", { compilerOptions: COMPILER_OPTIONS, include: ["examples"] });
}

/** @returns what was wrong, in the words of the package manager */
function add(manager, project, packages) {
  const options = { cwd: project, timeout: LONGEST, env: plainEnvironment() };
  const ended =
    manager === "pnpm"
      ? npm(["exec", "--yes", `--package=${PNPM}`, "--", "pnpm", "add", ...packages, "--store-dir", join(scratch, "store")], options)
      : npm(["install", "--no-audit", "--no-fund", "--strict-peer-deps", ...packages], options);
  return ended.status === 0 ? undefined : said(ended);
}

function compile(name, project, version) {
  const began = performance.now();
  const compiler = join(project, "node_modules", `ts-${version}`, "bin", "tsc");
  const ended = spawnSync(process.execPath, [compiler, "-p", "."], { cwd: project, encoding: "utf8", timeout: LONGEST });
  const doing = `${name}: TypeScript ${version}`;
  if (ended.status !== 0) return failed(doing, said(ended));
  say(`ok      ${doing} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  return true;
}

/** The output of the last compiler that built the examples. */
function runExamples(name, project) {
  const programs = readdirSync(join(project, "examples"))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.replace(/\.ts$/, ".js"));
  const broken = programs.filter((program) => {
    const options = { cwd: project, encoding: "utf8", timeout: LONGEST, env: plainEnvironment() };
    const ended = spawnSync(process.execPath, [join("out", program)], options);
    return ended.status !== 0 && !failed(`${name}: ${program}`, said(ended));
  });
  if (broken.length === 0) say(`ok      ${name}: ${programs.length} programs ran`);
  return broken.length === 0;
}

function pack() {
  const ended = npm(["pack", "--json", "--ignore-scripts", "--pack-destination", scratch]);
  if (ended.status !== 0) throw new Error(said(ended));
  return join(scratch, JSON.parse(ended.stdout)[0].filename);
}

function newest(name) {
  const versions = [JSON.parse(npm(["view", name, "version", "--json"]).stdout)].flat();
  return versions.toSorted((one, other) => one.localeCompare(other, "en", { numeric: true })).at(-1);
}

/** Without what the npm that started this tells its children: it is about this folder, not about theirs. */
function plainEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_(?!execpath)|INIT_CWD)/i.test(name)));
}

function said({ stdout, stderr, error, signal }) {
  return [stdout, stderr, error?.message, signal].filter(Boolean).join("\n").trim().split("\n").slice(0, 40).join("\n");
}

function failed(what, why) {
  say(`FAILED  ${what}\n${why}`);
  return false;
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
