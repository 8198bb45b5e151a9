// @module-tag numbers
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { entryPoints, root } from "../architecture/read-house.ts";

/** Bytes of our own that a first message loads: measured 1,030,000, with the agents, conversations, hand-offs, guards, waits and files, which the root exports. */
const MOST_OWN_BYTES = 1_035_000;
/** Bytes of our own that the help of the command loads: measured 130,200, with the one table of commands and options. */
const MOST_HELP_BYTES = 131_500;
/** Bytes of our own that a Tab in a shell loads: measured 139,900. */
const MOST_TAB_BYTES = 141_500;

/** The number of measures of the cost; the least counts, because other work beside it only ever adds. */
const ROUNDS = 3;

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

describe("the files that are loaded", () => {
  const entry = JSON.stringify(join(root, entryPoints.find(({ name }) => name === "troupe")?.default ?? ""));
  const loadedByScript = (script: string): Loaded => loadedBy(["--input-type=module", "-e", script]);

  it("by the package and a first message: no vendor, and no more bytes than were agreed", () => {
    const { own, foreign } = loadedByScript(`
      const { defineAction, defineRole, Environment } = await import(${entry});
      const env = new Environment().addRole(defineRole({ name: "One", actions: [defineAction({ name: "Say", run: () => "hello" })] }));
      env.publishMessage("go");
      if ((await env.run()).output?.content !== "hello") throw new Error("No answer came.");`);
    expect([...foreign.keys()]).toEqual(["zod"]);
    expect(bytesOf(own)).toBeGreaterThan(1_000);
    expect(bytesOf(own)).toBeLessThanOrEqual(MOST_OWN_BYTES);
  });

  it("costs less of the processor than the zod it stands on: a third, and twice as much when every module was a file", () => {
    const script = `
      const spent = () => { const { user, system } = process.cpuUsage(); return user + system; };
      const before = spent();
      await import(${JSON.stringify(import.meta.resolve("zod"))});
      const between = spent();
      await import(${entry});
      process.stdout.write(JSON.stringify([between - before, spent() - between]));`;
    const rounds = Array.from({ length: ROUNDS }, () => {
      const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
        cwd: root,
        encoding: "utf8",
      });
      expect(status, stderr).toBe(0);
      return JSON.parse(stdout) as readonly [number, number];
    });
    const [zod, own] = [Math.min(...rounds.map(([first]) => first)), Math.min(...rounds.map(([, second]) => second))];
    expect(zod).toBeGreaterThan(0);
    expect(own).toBeLessThan(zod);
  });

  it("by asking for help: the parser of commands and nothing else of others", () => {
    const { own, foreign } = loadedBy([join(root, "dist/src/cli/main.js"), "--help"]);
    expect([...foreign.keys()]).toEqual(["commander"]);
    expect(bytesOf(own)).toBeGreaterThan(1_000);
    expect(bytesOf(own)).toBeLessThanOrEqual(MOST_HELP_BYTES);
  });

  it("by a Tab in a shell: little more than by asking for help", () => {
    const { own, foreign } = loadedBy([join(root, "dist/src/cli/main.js"), "__complete", "zsh", "--", "runs", "events", "--type", ""]);
    expect([...foreign.keys()]).toEqual(["commander"]);
    expect(bytesOf(own)).toBeGreaterThan(1_000);
    expect(bytesOf(own)).toBeLessThanOrEqual(MOST_TAB_BYTES);
  });

  it("by an edge that needs no schema: no zod", () => {
    const { own, foreign } = loadedByScript(`await import(${JSON.stringify(join(root, "dist/src/adapters/file-cache.js"))})`);
    expect(own.length).toBeGreaterThan(1);
    expect([...foreign.keys()]).toEqual([]);
  });

  it("would be seen: what an edge needs is loaded with it", () => {
    const { own, foreign } = loadedByScript(`await import(${JSON.stringify(join(root, "dist/src/tools/index.js"))})`);
    expect(own.length).toBeGreaterThan(1);
    expect([...foreign.keys()]).toContain("zod");
  });
});
