import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { entryPoints, root } from "../architecture/read-house.ts";

/** What `import "troupe"` may load: measured 204 files of our own with 0.75 MB, and zod. A fifth more is a decision. */
const MOST_OWN_FILES = 245;
const MOST_OWN_BYTES = 900_000;
/** With those of packages. */
const MOST_FILES = 360;
const MOST_BYTES = 1_900_000;

interface Loaded {
  /** Of our own. */
  readonly own: readonly string[];
  /** By the names of their packages. */
  readonly foreign: ReadonlyMap<string, readonly string[]>;
}

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Every file that a process of its own loads, as the engine says. */
function loadedBy(args: readonly string[]): Loaded {
  const folder = mkdtempSync(join(tmpdir(), "troupe-loaded-"));
  folders.push(folder);
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NODE_V8_COVERAGE: folder, NODE_OPTIONS: "" },
  });
  expect(status, stderr).toBe(0);
  const own: string[] = [];
  const foreign = new Map<string, string[]>();
  for (const file of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { readonly result: readonly { readonly url: string }[] };
    for (const path of result
      .filter(({ url }) => url.startsWith("file:") && !url.endsWith("[eval1]"))
      .map(({ url }) => fileURLToPath(url))) {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path.replaceAll("\\", "/"))?.[1];
      if (name === undefined) own.push(path);
      else foreign.set(name, [...(foreign.get(name) ?? []), path]);
    }
  }
  return { own, foreign };
}

function bytesOf(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + statSync(path).size, 0);
}

describe("what is loaded", () => {
  const entry = entryPoints.find(({ name }) => name === "troupe")?.default ?? "";

  it("by importing the package: no vendor, and no more than was agreed", () => {
    const { own, foreign } = loadedBy(["--input-type=module", "-e", `await import(${JSON.stringify(join(root, entry))})`]);
    expect([...foreign.keys()].filter((name) => !["zod", "eventemitter3", "p-queue", "p-timeout"].includes(name))).toEqual([]);
    expect(own.length).toBeGreaterThan(100);
    expect(own.length).toBeLessThanOrEqual(MOST_OWN_FILES);
    expect(bytesOf(own)).toBeLessThanOrEqual(MOST_OWN_BYTES);
    const all = [...own, ...[...foreign.values()].flat()];
    expect(all.length).toBeLessThanOrEqual(MOST_FILES);
    expect(bytesOf(all)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it("by asking for help: the parser of commands and nothing else of others", () => {
    const { own, foreign } = loadedBy([join(root, "dist/src/cli/main.js"), "--help"]);
    expect([...foreign.keys()]).toEqual(["commander"]);
    expect(own.length).toBeLessThanOrEqual(30);
    expect(bytesOf(own)).toBeLessThanOrEqual(100_000);
  });

  it("would be seen: a command that needs a schema loads it", () => {
    const { foreign } = loadedBy([
      "--input-type=module",
      "-e",
      `await import(${JSON.stringify(join(root, "dist/src/message/message.js"))})`,
    ]);
    expect([...foreign.keys()]).toEqual(["zod"]);
  });
});
