/**
 * The program of a process that runs cells: the text of a script for `node -e`. Its arguments are the address of the module with the experiment,
 * the name of the experiment, the id of the process that started it, and the most bytes of memory. It is a text, so that it runs wherever the
 * module's own copy of this package stands.
 *
 * A thread ends the process when its parent is gone or its memory is used up, also while a cell never returns to the event loop.
 */
export const CELL_SCRIPT: string = String.raw`
import { Worker } from "node:worker_threads";
const [url, name, parent, most] = process.argv.slice(1);
const watch = [
  'const { workerData: { parent, most } } = require("node:worker_threads");',
  'setInterval(() => {',
  '  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");',
  '  if (process.memoryUsage.rss() <= most) return;',
  '  require("node:fs").writeSync(2, "\\nTROUPE_CELL_MEMORY\\n");',
  '  process.kill(process.pid, "SIGKILL");',
  '}, 50);',
].join("\n");
new Worker(watch, { eval: true, execArgv: [], workerData: { parent: Number(parent), most: Number(most) } }).unref();
process.on("disconnect", () => process.exit(0));
const key = Symbol.for("troupe.experiment");
const tell = (message) => new Promise((resolve) => process.send(message, resolve));
try {
  const exported = Object.values(await import(url));
  // A loader of TypeScript may give the exports of a module as its default.
  const values = new Set([...exported, ...exported.flatMap((value) => Object.values(value ?? {}))]);
  const found = [...values].filter((value) => typeof value?.[key] === "function" && value.name === name);
  if (found.length !== 1) throw new Error("it exports " + found.length + " experiments of the name " + JSON.stringify(name) + ", not one");
  const [experiment] = found;
  const signal = new AbortController().signal;
  process.on("message", async ({ id, request }) => {
    const onUse = (fresh) => void tell({ id, fresh });
    await tell({ id, reply: await experiment[key]({ ...request, signal, onUse }) });
  });
  await tell({ ready: JSON.stringify(experiment.plan), node: process.versions.node });
} catch (error) {
  await tell({ unreadable: String(error?.message ?? error), code: String(error?.code ?? "") });
  process.disconnect();
}
`;

/** The words by which the thread says that the memory is used up. */
export const MEMORY_MARK = "TROUPE_CELL_MEMORY";
