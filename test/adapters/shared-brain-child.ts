import { fileCache } from "../../src/adapters/file-cache.ts";
import { redisCache } from "../../src/adapters/redis.ts";
import { errorRecord } from "../../src/kernel/errors.ts";
import { BrainMemory } from "../../src/memory/brain-memory.ts";
import { createMessage } from "../../src/message/message.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

/** The task of a separate process with a conversation that others use too. */
export interface Task {
  /** Of the server; without one the conversation is in `dir` alone. */
  readonly url?: string;
  readonly dir: string;
  /** The messages it adds are named by it. */
  readonly name: string;
  readonly count: number;
}

/** Milliseconds for one command and for connecting: on a busy machine a server that answers late is no server that is gone. */
const PATIENCE = { timeout: 30_000, connectTimeout: 30_000 };

/** Loads, adds and saves, as often as asked, and says how loading ended each time. */
export async function main({ url, dir, name, count }: Task): Promise<void> {
  const files = fileCache({ dir });
  const cache = url === undefined ? files : redisCache({ url, fallback: files, ...PATIENCE });
  const brain = new BrainMemory({ model: scriptedModel([]), cache, key: "shared", maxMessages: 1000 });
  const told: string[] = [];
  for (let n = 0; n < count; n++) {
    told.push(await again(async () => (await brain.load()).kind));
    brain.addTalk(createMessage(`word ${n} of ${name}`, { id: `${name}.${n}` }));
    await again(() => brain.save());
  }
  await cache.close();
  process.stdout.write(JSON.stringify(told));
}

/** Does it once more where others wrote the entry all the time: nothing is known to be stored then. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      process.stderr.write(`${JSON.stringify(errorRecord(error))}\n`);
      if (errorRecord(error).code !== "CACHE_BUSY") throw error;
    }
  }
}
