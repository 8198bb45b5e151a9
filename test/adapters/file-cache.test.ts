import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import type * as files from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";

const MINUTE = 60_000;
const NOW = 1_800_000_000_000;

/** The call of the file system that fails next, and how. */
const broken = vi.hoisted((): { call?: string; code?: string; beforeRename?: ((from: string) => Promise<void>) | undefined } => ({}));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof files>();
  const failure = (): Error => Object.assign(new Error("broken on purpose"), { code: broken.code });
  return {
    ...real,
    writeFile: async (file: string, text: string, options: object): Promise<void> => {
      if (broken.call === "writeFile") {
        await real.writeFile(file, text.slice(0, 10), options);
        throw failure();
      }
      await real.writeFile(file, text, options);
    },
    rename: async (from: string, to: string): Promise<void> => {
      if (broken.call === "rename") throw failure();
      await broken.beforeRename?.(from);
      await real.rename(from, to);
    },
  };
});

afterEach(() => {
  delete broken.call;
  delete broken.beforeRename;
});

/** The one file of a cache that has one entry. */
function onlyFile(dir: string): string {
  const names = readdirSync(dir);
  expect(names).toHaveLength(1);
  return join(dir, names[0] ?? "");
}

describe("a cache in files", () => {
  it("outlives the one who made it", async () => {
    const dir = join(scratchFolder(), "not", "there", "yet");
    await fileCache({ dir }).set("a", "1", MINUTE);
    expect(await fileCache({ dir }).get("a")).toEqual({ kind: "hit", value: "1" });
  });

  it("FileCache.F2 keeps every entry in the folder, whatever its key", async () => {
    const dir = join(scratchFolder(), "cache");
    const cache = fileCache({ dir });
    for (const key of ["../../out", "/etc/passwd", "..", "a\u0000b", "x".repeat(10_000)]) await cache.set(key, "1", MINUTE);
    expect(readdirSync(join(dir, ".."))).toEqual(["cache"]);
    expect(readdirSync(dir).filter((name) => !/^[0-9a-f]{64}\.json$/.test(name))).toEqual([]);
    expect(readdirSync(dir)).toHaveLength(5);
  });

  it("FileCache.F5 shows the entries to nobody else", async () => {
    const dir = join(scratchFolder(), "cache");
    await fileCache({ dir }).set("a", "1", MINUTE);
    expect([statSync(dir).mode & 0o777, statSync(onlyFile(dir)).mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it.each([
    ["writeFile", "ENOSPC"],
    ["writeFile", "EDQUOT"],
    ["rename", "EIO"],
  ])("FileCache.F1 at %s with %s leaves the old entry and no beginnings of the new one", async (call, code) => {
    const dir = scratchFolder();
    const cache = fileCache({ dir });
    await cache.set("a", "old", MINUTE);
    Object.assign(broken, { call, code });
    const error = await errorOf(() => cache.set("a", "new", MINUTE));
    expect(error).toMatchObject({
      name: "CacheError",
      code: "CACHE_UNWRITABLE",
      data: { system: code },
      cause: { message: "broken on purpose" },
    });
    delete broken.call;
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "old" });
    onlyFile(dir);
    await cache.set("a", "new", MINUTE);
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "new" });
  });

  it("FileCache.F3 tells an entry that was cut at any byte from a miss, and mends it with the next write", async () => {
    const dir = scratchFolder();
    const cache = fileCache({ dir });
    await cache.set("a", "猫 and \ud83c", MINUTE);
    const file = onlyFile(dir);
    const whole = readFileSync(file);
    for (let length = 0; length < whole.length; length++) {
      writeFileSync(file, whole);
      truncateSync(file, length);
      expect(await cache.get("a"), `${length} bytes`).toMatchObject({ kind: "damaged" });
    }
    await cache.set("a", "mended", MINUTE);
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "mended" });
  });

  it("FileCache.F3 never gives another value for a flipped bit", async () => {
    const dir = scratchFolder();
    const cache = fileCache({ dir });
    await cache.set("a", "value", MINUTE);
    const file = onlyFile(dir);
    const whole = readFileSync(file);
    const seen = new Set<string>();
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const flipped = Buffer.from(whole);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(file, flipped);
      const entry = await cache.get("a");
      seen.add(entry.kind === "hit" ? entry.value : entry.kind);
    }
    // A field's name that is read by no one, or white space, changes nothing.
    expect([...seen].filter((one) => one !== "damaged" && one !== "value")).toEqual([]);
    expect(seen).toContain("damaged");
  });

  it("FileCache.F3 a file under the name of another key is damaged, and so is one of a newer version", async () => {
    const dir = scratchFolder();
    const cache = fileCache({ dir });
    await cache.set("a", "1", MINUTE);
    const file = onlyFile(dir);
    await cache.set("b", "2", MINUTE);
    const other =
      readdirSync(dir)
        .map((name) => join(dir, name))
        .find((path) => path !== file) ?? "";
    writeFileSync(file, readFileSync(other));
    expect(await cache.get("a")).toEqual({ kind: "damaged", reason: "its file is another key's" });
    writeFileSync(file, readFileSync(other, "utf8").replace('"v":1', '"v":2'));
    expect(await cache.get("a")).toEqual({ kind: "damaged", reason: "its file is of version 2, newer than 1" });
  });

  it("FileCache.F4 removes what is long over with a later write, and nothing else", async () => {
    const dir = scratchFolder();
    const clock = simulatedClock(NOW);
    await fileCache({ dir, clock }).set("short", "1", MINUTE);
    await fileCache({ dir, clock }).set("long", "2", 10 * MINUTE);
    const foreign = join(dir, "somebody's.json");
    const beginning = join(dir, `${"0".repeat(64)}.${"0".repeat(12)}.tmp`);
    for (const path of [foreign, beginning]) writeFileSync(path, "");
    utimesSync(foreign, 1, 1);
    utimesSync(beginning, NOW / 1000, NOW / 1000);
    await clock.advance(2 * MINUTE);
    const cache = fileCache({ dir, clock });
    await cache.set("new", "3", MINUTE);
    expect(readdirSync(dir).filter((name) => name.length === 69)).toHaveLength(2);
    expect([existsSync(foreign), existsSync(beginning)]).toEqual([true, true]);
    expect(await cache.get("long")).toEqual({ kind: "hit", value: "2" });
    await clock.advance(60 * MINUTE);
    await fileCache({ dir, clock }).set("newer", "4", MINUTE);
    expect([existsSync(foreign), existsSync(beginning), readdirSync(dir).length]).toEqual([true, false, 2]);
  });

  it("FileCache.F4 keeps an entry that somebody writes anew while it is being removed", async () => {
    const dir = scratchFolder();
    const clock = simulatedClock(NOW);
    await fileCache({ dir, clock }).set("a", "old", MINUTE);
    const file = onlyFile(dir);
    await clock.advance(MINUTE);
    broken.beforeRename = async (from) => {
      if (from !== file) return;
      broken.beforeRename = undefined;
      await fileCache({ dir: join(dir, "elsewhere"), clock }).set("a", "new", MINUTE);
      renameSync(onlyFile(join(dir, "elsewhere")), file);
    };
    const cache = fileCache({ dir, clock });
    await cache.set("b", "1", MINUTE);
    expect(broken.beforeRename).toBeUndefined();
    expect(await cache.get("a")).toEqual({ kind: "hit", value: "new" });
    expect(readdirSync(dir).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("a folder that is none is told, and so is an entry that cannot be read", async () => {
    const dir = scratchFolder();
    writeFileSync(join(dir, "file"), "");
    const cache = fileCache({ dir: join(dir, "file", "cache") });
    expect(await errorOf(() => cache.set("a", "1", MINUTE))).toMatchObject({ code: "CACHE_UNWRITABLE" });
    const other = fileCache({ dir: join(dir, "other") });
    await other.set("a", "1", MINUTE);
    const file = onlyFile(join(dir, "other"));
    await other.delete("a");
    mkdirSync(file);
    chmodSync(file, 0o700);
    expect(await errorOf(() => other.get("a"))).toMatchObject({ code: "CACHE_UNREADABLE" });
  });

  it("a list of keys that is not whole is told: who forgets must know all of them", async () => {
    const dir = scratchFolder();
    const cache = fileCache({ dir: join(dir, "cache") });
    expect(await cache.keys?.("")).toEqual([]);
    await cache.set("a", "1", MINUTE);
    const file = onlyFile(join(dir, "cache"));
    await cache.delete("a");
    mkdirSync(file);
    expect(await errorOf(async () => cache.keys?.(""))).toMatchObject({ code: "CACHE_UNREADABLE" });
  });

  it.each(["", "a\u0000b"])("refuses %j as a folder", (dir) => {
    expect(() => fileCache({ dir })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
