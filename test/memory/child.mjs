// One process that works on long-term memories until it is killed. Its one argument is JSON: { path, other?, job, from }. It tells every
// job that has been acknowledged as one line, written at once. Built code is what it runs, as a user's program does.
import { writeSync } from "node:fs";
import { createMessage, hashingEmbedder, LongTermMemory, MemoryStorage } from "../../dist/src/index.js";
import { sqliteStore } from "../../dist/src/adapters/sqlite.js";
import { ShardedStorage } from "../../dist/src/memories.js";

const { path, other, job, from } = JSON.parse(process.argv[2]);

const tell = (line) => writeSync(1, `${line}\n`);
const storageAt = (file) =>
  new MemoryStorage({ roleId: "r", embedder: hashingEmbedder({ dimensions: 64 }), store: sqliteStore({ path: file }) });
const message = (n) => createMessage(`what m${n} had to say about subject ${n % 9}`, { id: `m${n}` });

const jobs = {
  /** Adds without end, three at a time; what is told is acknowledged. */
  async persist() {
    const memory = new LongTermMemory({ storage: storageAt(path) });
    await memory.recover();
    for (let n = from; ; n += 3) {
      memory.addBatch([message(n), message(n + 1), message(n + 2)]);
      await memory.persist();
      tell(`${n} ${n + 1} ${n + 2}`);
    }
  },

  async rebuild() {
    const storage = storageAt(path);
    for (;;) {
      await storage.rebuild();
      tell("rebuilt");
    }
  },

  /** Moves everything between two files. */
  async reshard() {
    for (;;) {
      const two = new ShardedStorage({ shards: [storageAt(path), storageAt(other)] });
      await two.recover();
      tell("there");
      const one = new ShardedStorage({ shards: [storageAt(other), storageAt(path)] });
      await one.recover();
      tell("back");
    }
  },
};

tell("started");
await jobs[job]();
