import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { simulatedClock } from "../../src/testing/index.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";

const MINUTE = 60_000;
const NOW = 1_800_000_000_000;

/** The one file of a cache that has one entry. */
function onlyFile(dir: string): string {
  const names = readdirSync(join(dir, "entries"));
  expect(names).toHaveLength(1);
  return join(dir, "entries", names[0] ?? "");
}

describe("a cache in files", () => {
  it("keeps its entries for a later cache on the same folder", async () => {
    const dir = join(scratchFolder(), "not", "there", "yet");
    await fileCache({ dir }).set("a", "1", MINUTE);
    expect(await fileCache({ dir }).get("a")).toEqual({ kind: "hit", value: "1" });
  });

  it("FileCache.F2 keeps every entry in the folder, whatever its key", async () => {
    const dir = join(scratchFolder(), "cache");
    const cache = fileCache({ dir });
    for (const key of ["../../out", "/etc/passwd", "..", "a\u0000b", "x".repeat(10_000)]) await cache.set(key, "1", MINUTE);
    expect(readdirSync(join(dir, ".."))).toEqual(["cache"]);
    expect(readdirSync(dir)).toEqual(["entries"]);
    const names = readdirSync(join(dir, "entries"));
    expect([names.length, names.filter((name) => !/^[0-9a-f]{64}~$/.test(name))]).toEqual([5, []]);
  });

  it("FileObjects.O1 shows the entries to their owner alone", async () => {
    const dir = join(scratchFolder(), "cache");
    await fileCache({ dir }).set("a", "1", MINUTE);
    expect([dir, join(dir, "entries"), onlyFile(dir)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700, 0o600]);
  });

  it("FileCache.F3 reports an entry that was cut at any byte as damaged, and replaces it with the next write", async () => {
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
      readdirSync(join(dir, "entries"))
        .map((name) => join(dir, "entries", name))
        .find((path) => path !== file) ?? "";
    writeFileSync(file, readFileSync(other));
    expect(await cache.get("a")).toEqual({ kind: "damaged", reason: "its file is another key's" });
    const newer = readFileSync(other, "utf8").slice(64).replace('"v":1', '"v":2');
    writeFileSync(file, `${createHash("sha256").update(newer).digest("hex")}${newer}`);
    expect(await cache.get("a")).toEqual({ kind: "damaged", reason: "its file is of version 2, not 1" });
  });

  it("FileCache.F4 removes expired entries with a later write, and nothing else", async () => {
    const dir = scratchFolder();
    const clock = simulatedClock(NOW);
    await fileCache({ dir, clock }).set("short", "1", MINUTE);
    await fileCache({ dir, clock }).set("long", "2", 10 * MINUTE);
    const foreign = join(dir, "entries", "another.json");
    writeFileSync(foreign, "");
    await clock.advance(2 * MINUTE);
    const cache = fileCache({ dir, clock });
    await cache.set("new", "3", MINUTE);
    expect([readdirSync(join(dir, "entries")).length, existsSync(foreign)]).toEqual([3, true]);
    expect(await cache.get("long")).toEqual({ kind: "hit", value: "2" });
  });

  it("reports a folder that is a file, and an entry that cannot be read", async () => {
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

  it.each(["", "a\u0000b"])("refuses %j as a folder", (dir) => {
    expect(() => fileCache({ dir })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
