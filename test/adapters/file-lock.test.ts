import { spawnSync } from "node:child_process";
import { readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileCache } from "../../src/adapters/file-cache.ts";
import { FileLock } from "../../src/adapters/file-lock.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";

const TTL = 600_000;
const deadPid = spawnSync(process.execPath, ["--version"]).pid;

/** A folder with one entry, and the path that its lock stands at. */
async function held(owner: string, age = 0): Promise<{ readonly dir: string; readonly lock: string }> {
  const dir = scratchFolder();
  await fileCache({ dir }).set("a", "1", TTL);
  const lock = join(dir, "entries", `${readdirSync(join(dir, "entries"))[0]}.lock`);
  writeFileSync(lock, owner);
  const time = (Date.now() - age) / 1000;
  utimesSync(lock, time, time);
  return { dir, lock };
}

const seen = { kind: "hit", value: "1" } as const;

describe("the lock of an entry", () => {
  it.each([
    ["whose owner was killed", `${deadPid} ${hostname()} 1`, 0],
    ["of another machine that is old", `${process.pid} elsewhere 1`, 60_000],
    ["that is cut off, and old", "", 60_000],
  ])("FileLock.L2 %s is taken over, and nothing is left of it", async (_what, owner, age) => {
    const { dir } = await held(owner, age);
    expect(await fileCache({ dir }).replace?.("a", "2", { expected: seen, ttl: TTL })).toBe(undefined);
    expect([readdirSync(join(dir, "entries")).length, await fileCache({ dir }).get("a")]).toEqual([1, { kind: "hit", value: "2" }]);
  });

  it("FileLock.L1 is waited for while its owner lives", async () => {
    const { dir, lock } = await held(`${process.pid} ${hostname()} 1`);
    const order: string[] = [];
    const replacing = fileCache({ dir })
      .replace?.("a", "2", { expected: seen, ttl: TTL })
      ?.then(() => order.push("replaced"));
    // Reading waits for nobody.
    for (let n = 0; n < 5; n++) expect(await fileCache({ dir }).get("a")).toEqual(seen);
    order.push("let go of");
    rmSync(lock);
    await replacing;
    expect(order).toEqual(["let go of", "replaced"]);
  });

  it("FileLock.L3 that was taken over is not its former owner's any more", async () => {
    const beside = join(scratchFolder(), "entry");
    const former = await FileLock.take(beside);
    await former.confirm();
    writeFileSync(`${beside}.lock`, "another");
    expect(await errorOf(() => former.confirm())).toMatchObject({ name: "CacheError", code: "CACHE_BUSY" });
    await former.release();
    expect(readdirSync(join(beside, ".."))).toEqual(["entry.lock"]);
  });
});
