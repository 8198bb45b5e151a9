/*
 * One case of one peer in a process of its own: `node --expose-gc one.mjs <peer> <case> <n> <measure>`. Prints one line of JSON: what was
 * done, in how many milliseconds of the wall and of the processor, and how much memory the process had then. A small round first lets the
 * compiler see the code; what is over in a moment is done again until there is something to measure.
 */
const [peer = "", name = "", size = "0", measure = "each"] = process.argv.slice(2);
const n = Number(size);
const { cases } = await import(`./${peer}.mjs`);
const run = cases[name];

const ENOUGH_MS = 100;
const MOST_TIMES = 500;

function collect() {
  globalThis.gc();
  globalThis.gc();
}

async function once(count) {
  const cpu = process.cpuUsage();
  const from = performance.now();
  const told = await run(count);
  const ms = performance.now() - from;
  const { user, system } = process.cpuUsage(cpu);
  // A case that prepares something tells its own time; the processor's is taken to be in the same proportion.
  return { ...told, ms: told.ms ?? ms, cpuMs: ((user + system) / 1_000) * ((told.ms ?? ms) / ms) };
}

/** Bytes of heap for each of what stays: the garbage is gone before and after. */
async function held() {
  await run(Math.min(n, 100));
  collect();
  const before = process.memoryUsage().heapUsed;
  const { keep } = await run(n);
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / n;
  return { heapEach: bytes, done: keep === undefined ? 0 : n };
}

async function timed() {
  await once(Math.max(1, Math.min(n, 1_000, Math.ceil(n / 10))));
  collect();
  const all = { done: 0, ms: 0, cpuMs: 0 };
  let last;
  for (let times = 0; times < MOST_TIMES && (times === 0 || (measure === "each" && all.ms < ENOUGH_MS)); times += 1) {
    last = await once(n);
    if (!(last.done > 0)) throw new Error(`${peer} did nothing of ${name}.`);
    all.done += last.done;
    all.ms += last.ms;
    all.cpuMs += last.cpuMs;
  }
  const { done: _done, ms: _ms, cpuMs: _cpuMs, keep: _keep, ...more } = last;
  return { ...all, ...more };
}

/** Those who are made stay until their memory is measured. */
async function made() {
  collect();
  const before = process.memoryUsage().heapUsed;
  const told = await once(n);
  collect();
  const { keep, ...more } = told;
  return { ...more, done: keep === undefined ? 0 : n, heapEach: (process.memoryUsage().heapUsed - before) / n };
}

const result = await (measure === "heap" ? held() : name === "million" ? made() : timed());
process.stdout.write(`${JSON.stringify({ ...result, rss: process.memoryUsage().rss, peak: process.resourceUsage().maxRSS * 1024 })}\n`);
process.exit(0);
