import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { entryPoints, filesBelow, manifest, root } from "./architecture/read-house.ts";
import { anchors, links } from "./docs/markdown.ts";

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as { readonly packages: Readonly<Record<string, Locked>> };
/** Peers that npm installs unless the user has them already: they are no development packages for a user. */
const requiredPeers = Object.keys(manifest.peerDependencies).filter((name) => manifest.peerDependenciesMeta[name]?.optional !== true);
const production = productionPackages();
const FREE_LICENSES = ["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"];
/**
 * Bytes of everything a production install puts on the disk besides this package. Measured 40 MB on Linux, of which 20 are SQLite: libsql
 * brings it built, and npm takes the build for glibc and the one for musl, 10 MB each, because libsql does not tell them apart. A fifth
 * more is a decision, not an accident.
 */
const MAX_INSTALLED = 47_000_000;
/** Packages of one install on one machine. Of the builds of SQLite npm takes those for its system and processor. */
const MAX_PACKAGES = 19;
/**
 * Bytes of everything that is packed, unpacked: what runs, its types, the demo, the pages and the examples. Measured 6.5 MB: conversations,
 * hand-offs, guards, waits, the templates of a project and the pages about them took the last 0.3.
 */
const MAX_PACKED = 7_350_000;

describe("an install", () => {
  it("is exactly these packages", () => {
    expect([...production.keys()].sort()).toEqual([
      "node_modules/@dagrejs/graphlib",
      "node_modules/@hono/node-server",
      "node_modules/@libsql/darwin-arm64",
      "node_modules/@libsql/darwin-x64",
      "node_modules/@libsql/linux-arm-gnueabihf",
      "node_modules/@libsql/linux-arm-musleabihf",
      "node_modules/@libsql/linux-arm64-gnu",
      "node_modules/@libsql/linux-arm64-musl",
      "node_modules/@libsql/linux-x64-gnu",
      "node_modules/@libsql/linux-x64-musl",
      "node_modules/@libsql/win32-x64-msvc",
      "node_modules/@neon-rs/load",
      "node_modules/acorn",
      "node_modules/commander",
      "node_modules/eventemitter3",
      "node_modules/hono",
      "node_modules/jsonrepair",
      "node_modules/libsql",
      "node_modules/libsql/node_modules/detect-libc",
      "node_modules/minisearch",
      "node_modules/openai",
      "node_modules/p-queue",
      "node_modules/p-timeout",
      "node_modules/shell-quote",
      "node_modules/yaml",
      "node_modules/zod",
    ]);
  });

  it("takes no more room than was agreed", () => {
    const bytes = [...production.keys()].flatMap((folder) => filesBelow(folder, "")).map((path) => statSync(join(root, path)).size);
    const total = bytes.reduce((sum, one) => sum + one, 0);
    expect(total).toBeGreaterThan(MAX_INSTALLED / 2);
    expect(total).toBeLessThan(MAX_INSTALLED);
  });

  it.each(["linux x64", "linux arm64", "linux arm", "darwin x64", "darwin arm64", "win32 x64"])("is few packages on %s", (machine) => {
    const [os = "", cpu = ""] = machine.split(" ");
    const taken = [...production].filter(([, entry]) => fits(entry.os, os) && fits(entry.cpu, cpu)).map(([path]) => path);
    expect(taken).toContain("node_modules/libsql");
    expect(taken.filter((path) => path.includes("@libsql/")).length).toBeGreaterThan(0);
    expect(taken.length).toBeLessThanOrEqual(MAX_PACKAGES);
  });

  it("runs no install script", () => {
    expect([...production].filter(([, entry]) => entry.hasInstallScript === true)).toEqual([]);
  });

  it("is free software", () => {
    expect([...production].filter(([, entry]) => !FREE_LICENSES.includes(entry.license ?? "none"))).toEqual([]);
    expect(manifest.license).toBe("MIT");
    expect(readFileSync(join(root, "LICENSE"), "utf8")).toMatch(/^MIT License\n/);
  });

  it("is what the lockfile marks as not for development, and the required peers", () => {
    const unmarked = Object.entries(lock.packages).filter(
      ([path, entry]) => path !== "" && entry.dev !== true && entry.devOptional !== true,
    );
    const peers = requiredPeers.map((name) => `node_modules/${name}`);
    expect([...unmarked.map(([path]) => path), ...peers].sort()).toEqual([...production.keys()].sort());
  });
});

describe("the lockfile", () => {
  it("pins every package by an exact version: a range would let another one in", () => {
    const entries = Object.entries(lock.packages).filter(([path]) => path !== "");
    expect(entries.filter(([, { version = "" }]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
    const tools = Object.entries(manifest.devDependencies).map(([name, asked]) => [name, asked.replace(/^npm:.+@/, "")]);
    expect(tools).toEqual(tools.map(([name]) => [name, lock.packages[`node_modules/${name}`]?.version]));
  });

  it("holds a version within the range of each runtime dependency and peer that is tested", () => {
    const asked = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies });
    const outside = asked.filter(([name, range]) => !isWithinCaret(lock.packages[`node_modules/${name}`]?.version ?? "", range));
    expect(outside).toEqual([]);
  });

  it("holds every optional package that a locked one names, for all platforms: without them `npm ci` refuses the whole file", () => {
    const named = Object.entries(lock.packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).map((name) => `${path} > ${name}`),
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((one) => !isLocked(...(one.split(" > ") as [string, string])))).toEqual([]);
  });

  it("knows the contents of everything that must be there", () => {
    const needed = Object.entries(lock.packages).filter(([path, entry]) => path !== "" && entry.optional !== true);
    expect(needed.filter(([, entry]) => entry.integrity?.startsWith("sha512-") !== true)).toEqual([]);
  });
});

describe("package.json", () => {
  it("asks for Node 20.19, and so does nothing that is installed for production", () => {
    expect(manifest.engines).toEqual({ node: ">=20.19" });
    const asked = [...production.values()].map((entry) => entry.engines?.node ?? "*");
    expect(asked.filter((range) => lowestMajor(range) > 20)).toEqual([]);
  });

  it.each(entryPoints)("packs what $name leads to, built from a source of that name", (entry) => {
    expect([entry.types, entry.default].filter((path) => !isPacked(path))).toEqual([]);
    const built = entry.source.replace(/\.ts$/, "");
    expect([entry.types, entry.default]).toEqual([`dist/${built}.d.ts`, `dist/${built}.js`]);
    expect(existsSync(join(root, entry.source)), entry.source).toBe(true);
  });

  it("packs the command, and it is built from the command line's main file", () => {
    expect(Object.values(manifest.bin).map((path) => path.replace(/^\.\//, ""))).toEqual(["dist/src/cli/main.js"]);
    expect(readFileSync(join(root, "src/cli/main.ts"), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it("asks for runtime dependencies by a range, so that a user's project shares its copies, and leaves zod to the user", () => {
    const asked = Object.values({ ...manifest.dependencies, ...manifest.peerDependencies });
    expect(asked.filter((range) => !/^\^\d+\.\d+\.\d+$/.test(range))).toEqual([]);
    expect(manifest.dependencies).not.toHaveProperty("zod");
    expect(requiredPeers).toEqual(["zod"]);
    expect(manifest.devDependencies).toHaveProperty("zod");
  });

  it("packs what runs, its types, the demo, the templates, the skill, the pages and the examples, and little of each", () => {
    const packed = packedFiles();
    const kinds =
      /^dist\/.*\.(js|d\.ts)$|^dist\/src\/\w+\/drivers\/[\w-]+\.(mjs|py|sh)$|^dist\/src\/inspector\/page\.html$|^demo\/|^templates\/(?:js|ts|processes)\/|^skills\/\w+\/SKILL\.md$|^docs\/.*\.(md|schema\.json)$|^docs\/pictures\/(?:gallery\/)?[\w-]+\.(?:png|svg)$|^examples\/(research\/|ports\/|processes\/)?[\w-]+\.ts$|^examples\/(?:research\/teams\/study|processes\/[\w-]+\.answers)\.json$|^(package\.json|[A-Z]+\.md|LICENSE)$/;
    const strange = packed.filter(({ path }) => !kinds.test(path));
    const paths = new Set(packed.map(({ path }) => path));
    // The reference stays in the repository: it says what the doc comments of the packed types say.
    const pages = filesBelow("docs", ".md").filter((path) => !path.startsWith("docs/reference/"));
    const drivers = [".mjs", ".py", ".sh"].flatMap((suffix) => filesBelow("src", suffix)).map((path) => `dist/${path}`);
    expect([...pages, ...drivers, ...filesBelow("examples", ".ts")].filter((path) => !paths.has(path))).toEqual([]);
    expect([...paths].filter((path) => path.startsWith("docs/reference/"))).toEqual([]);
    expect(strange).toEqual([]);
    const bytes = packed.reduce((sum, { size }) => sum + size, 0);
    expect(bytes).toBeGreaterThan(MAX_PACKED / 3);
    expect(bytes).toBeLessThan(MAX_PACKED);
  });

  it("packs every file that a packed one imports, and none that is built for the benches alone", () => {
    const packed = packedFiles().map(({ path }) => path);
    const scripts = packed.filter((path) => path.endsWith(".js"));
    const wanted = scripts.flatMap((path) => importsOf(path).map((target) => posix.join(posix.dirname(path), target)));
    expect(wanted.length).toBeGreaterThan(100);
    expect(wanted.filter((path) => !packed.includes(path))).toEqual([]);
    const isWanted = new Set([...wanted, ...entryPoints.map((entry) => entry.default), "dist/src/cli/main.js"]);
    expect(scripts.filter((path) => path.startsWith("dist/") && !isWanted.has(path))).toEqual([]);
  });

  it("packs nothing that is not there", () => {
    const missing = manifest.files.filter((path) => !/^dist\/|^!/.test(path) && !existsSync(join(root, path.replace(/\/\*.*$/, ""))));
    expect(missing).toEqual([]);
  });

  it("packs every page that a packed page links to", () => {
    const packed = new Set(packedFiles().map(({ path }) => path));
    const pages = [...packed].filter((path) => path.endsWith(".md"));
    expect(pages).toEqual(expect.arrayContaining(["README.md", "skills/troupe/SKILL.md", "docs/guide.md", "docs/guides/agents.md"]));
    const dead = pages.flatMap((page) =>
      links(readFileSync(join(root, page), "utf8"))
        .map(({ path, anchor }) => ({ target: path === "" ? page : posix.join(posix.dirname(page), path), anchor }))
        // The tests of the promises are in the repository alone.
        .filter(({ target }) => page !== "docs/promises.md" || !target.startsWith("test/"))
        .filter(({ target, anchor }) => !isPackedTarget(packed, target) || (anchor !== "" && !hasHeading(target, anchor)))
        .map(({ target, anchor }) => `${page} > ${target}#${anchor}`),
    );
    expect(dead).toEqual([]);
  });
});

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

let packedOnce: readonly PackedFile[] | undefined;

function packedFiles(): readonly PackedFile[] {
  packedOnce ??= askNpm();
  return packedOnce;
}

function askNpm(): readonly PackedFile[] {
  const { stdout, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  const [packed] = JSON.parse(stdout || `"${stderr}"`) as readonly { readonly files: readonly PackedFile[] }[];
  return packed?.files ?? [];
}

/** The files that a built one names in its imports, at once or later. Programs in its texts, of Python for example, name none of them. */
function importsOf(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(/(?:^(?:import|export)\b[^;"'`]*?|\bimport\()"(\.{1,2}\/[^"\n]+)"/gm)].map(([, target = ""]) => target);
}

/** The packages that npm installs for a user: the dependencies, theirs, and so on, found by walking the lockfile as Node resolves. */
function productionPackages(): ReadonlyMap<string, Locked> {
  const found = new Map<string, Locked>();
  const open = [...Object.keys(manifest.dependencies), ...requiredPeers].map((name) => folderOf("", name));
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    if (found.has(folder)) continue;
    const entry = lock.packages[folder] ?? {};
    found.set(folder, entry);
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) open.push(folderOf(folder, name));
  }
  return found;
}

/** The folder of the package `name` as seen from another package's folder. */
function folderOf(from: string, name: string): string {
  const own = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
  if (own in lock.packages || from === "") return own;
  return folderOf(from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))), name);
}

function isLocked(from: string, name: string): boolean {
  return folderOf(from, name) in lock.packages;
}

/** A file that is packed, or a folder of which something is. */
function isPackedTarget(packed: ReadonlySet<string>, target: string): boolean {
  const folder = `${target.replace(/\/$/, "")}/`;
  return packed.has(target) || [...packed].some((path) => path.startsWith(folder));
}

function hasHeading(page: string, anchor: string): boolean {
  return !page.endsWith(".md") || anchors(readFileSync(join(root, page), "utf8")).has(anchor);
}

/** Returns whether a version is at least the lowest of a caret range and of its leading number that is not zero. */
function isWithinCaret(version: string, range: string): boolean {
  const [lowest, found] = [range.replace(/^\^/, ""), version].map((one) => one.split(".").map(Number));
  if (lowest === undefined || found === undefined) return false;
  const fixed = lowest.findIndex((part) => part !== 0) + 1;
  const [way] = lowest.map((part, at) => (found[at] ?? NaN) - part).filter((difference) => difference !== 0);
  return lowest.slice(0, fixed).every((part, at) => found[at] === part) && (way === undefined || way > 0);
}

function isPacked(path: string): boolean {
  return manifest.files.some((packed) => path === packed || path.startsWith(`${packed}/`));
}

/** Returns whether a package that names systems, or processors, is for this one. */
function fits(named: readonly string[] | undefined, one: string): boolean {
  return named === undefined || named.includes(one);
}

/** The lowest major version of Node that a range admits, or 0 where it has no floor. */
function lowestMajor(range: string): number {
  return Math.min(...range.split("||").map((part) => Number(/(\d+)/.exec(part)?.[1] ?? 0)));
}
