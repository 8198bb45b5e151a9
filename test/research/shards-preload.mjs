// Loaded before an example: runs the first environments of it once more over shards, at several numbers of them, and writes what came of it. The
// shards are those of runShards, in this thread: its module for threads is replaced, so that a world may be a closure of the example.
import { EventEmitter } from "node:events";
import { writeFileSync } from "node:fs";
import { register, syncBuiltinESMExports } from "node:module";
import worker_threads from "node:worker_threads";

const shim = new URL("shards-shim.mjs", import.meta.url).href;
const hooks = `export const resolve = (specifier, context, next) =>
  specifier === "troupe" && context.parentURL?.includes("/dist/examples/") ? { url: ${JSON.stringify(shim)}, shortCircuit: true } : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

/** The world that shards are made of, and what came of each run: the reason of a refusal, a difference, or "equal". */
export const found = { world: undefined, outcomes: [] };

const { MessageChannel } = worker_threads;
worker_threads.Worker = class extends EventEmitter {
  #own;
  constructor(_script, { workerData }) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#own = port1;
    port1.on("message", (told) => this.emit("message", told));
    const broken = ({ name, code = "SHARD_FAILED", message }) => port2.postMessage({ kind: "broken", error: { name, code, message } });
    found.world.runShard(port2, workerData.start).catch(broken);
  }
  postMessage(told) {
    this.#own.postMessage(told);
  }
  async terminate() {
    this.#own.close();
  }
};
syncBuiltinESMExports();

globalThis[Symbol.for("shards")] = found;
process.on("exit", () => writeFileSync(process.env.SHARDS_FILE, JSON.stringify(found.outcomes)));
