/* One measurement in a process of its own: node --expose-gc one.mjs PEER WORLD N. Prints one line of JSON. */
const [peer, world, size] = process.argv.slice(2);
const { population } = await import(`./${peer}.mjs`);

const told = await population(Number(size), world, async (work, count) => {
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const from = process.cpuUsage();
  const began = performance.now();
  await work();
  const { user, system } = process.cpuUsage(from);
  const ms = performance.now() - began;
  const messages = count();
  return { messages, us: (user + system) / messages, wall: (ms * 1_000) / messages, heap };
});
process.stdout.write(`${JSON.stringify({ peer, world, n: Number(size), ...told, rss: process.resourceUsage().maxRSS * 1_024 })}\n`);
