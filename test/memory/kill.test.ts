import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { ShardedStorage } from "../../src/memory/sharded-storage.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { figure, tries } from "../long.ts";
import { say } from "./storage-setup.ts";

/*
 * SIGKILL while a real process stores messages, computes vectors again, or moves messages between files. `npm test` kills a few, and
 * `npm run long -- kill` more than two hundred.
 */

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url));
const scratch = scratchFolder();
let kills = 0;

afterAll(() => {
  figure(`killed ${kills} processes at work on memories`);
});

interface Task {
  readonly path: string;
  readonly other?: string;
  readonly job: "persist" | "rebuild" | "reshard";
  readonly from?: number;
}

/** Lets a process work and kills it as soon as it has told so many lines: in the middle of what comes next. Gives what it told. */
function killedAfter(lines: number, task: Task): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, JSON.stringify({ from: 0, ...task })], { stdio: ["ignore", "pipe", "pipe"] });
    let told = "";
    let trouble = "";
    child.stderr.on("data", (data: Buffer) => (trouble += data.toString()));
    child.stdout.on("data", (data: Buffer) => {
      told += data.toString();
      if (told.split("\n").length > lines) child.kill("SIGKILL");
    });
    child.on("error", reject);
    child.on("close", (_code, signal) => {
      if (signal !== "SIGKILL") return reject(new Error(`the process ended by itself: ${trouble}`));
      kills += 1;
      // A line that was cut off was not told.
      resolve(told.split("\n").slice(1, -1));
    });
  });
}

function storageAt(path: string): MemoryStorage {
  return new MemoryStorage({ roleId: "r", embedder: hashingEmbedder({ dimensions: 64 }), store: sqliteStore({ path }) });
}

async function expectFound(storage: MemoryStorage, ids: readonly string[]): Promise<void> {
  const held = await storage.recover();
  for (const id of ids.slice(0, 5)) {
    const message = held.find((one) => one.id === id);
    const found = await storage.searchSimilar(message ?? "", { threshold: 0.999 });
    expect(found.map((one) => one.message.id)).toContain(id);
  }
  expect(storage.pending).toBe(0);
}

describe("a process that is killed", () => {
  it("while it stores has lost nothing that was acknowledged, and doubled nothing", { tags: "kill", timeout: 600_000 }, async () => {
    const path = join(scratch, "persist.db");
    const acknowledged: string[] = [];
    for (let life = 0; life < tries(3, 100); life++) {
      // Each life tries the last three again, whatever became of them.
      const from = Math.max(0, acknowledged.length - 3);
      const told = await killedAfter(2 + (life % 7), { path, job: "persist", from });
      for (const n of told.flatMap((line) => line.split(" "))) if (!acknowledged.includes(`m${n}`)) acknowledged.push(`m${n}`);
      const storage = storageAt(path);
      const ids = (await storage.recover()).map(({ id }) => id);
      expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
      expect(new Set(ids).size).toBe(ids.length);
      await storage.close();
    }
    expect(acknowledged.length).toBeGreaterThan(9);
    await expectFound(storageAt(path), acknowledged.slice(-5));
  });

  it("while it makes vectors again has all messages, and finds them", { tags: ["kill", "long"], timeout: 600_000 }, async () => {
    const path = join(scratch, "rebuild.db");
    const filled = storageAt(path);
    const ids = Array.from({ length: 1_500 }, (_, n) => `m${n}`);
    await filled.addBatch(ids.map((id) => say(id, `${id} and what it had to say`)));
    await filled.close();
    for (let life = 0; life < tries(2, 60); life++) {
      await killedAfter(1 + (life % 3), { path, job: "rebuild" });
      const storage = storageAt(path);
      expect((await storage.recover()).map(({ id }) => id)).toEqual(ids);
      await expectFound(storage, ids.slice(life, life + 3));
      await storage.close();
    }
  });

  it("while it moves messages between files has them all, once", { tags: ["kill", "long"], timeout: 600_000 }, async () => {
    const [path, other] = [join(scratch, "one.db"), join(scratch, "two.db")];
    const filled = storageAt(path);
    const ids = Array.from({ length: 1_200 }, (_, n) => `m${n}`);
    await filled.addBatch(ids.map((id) => say(id, `${id} and what it had to say`)));
    await filled.close();
    for (let life = 0; life < tries(2, 60); life++) {
      await killedAfter(1 + (life % 4), { path, other, job: "reshard" });
      const sharded = new ShardedStorage({ shards: [storageAt(path), storageAt(other)] });
      expect((await sharded.recover()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(sharded.size).toBe(ids.length);
      await sharded.close();
    }
  });
});
