/* One measurement in a process of its own: node one.mjs PEER MODEL AGENTS STEPS. Prints one line of JSON. */
const [peer, model, agents, steps] = process.argv.slice(2);
const { run } = await import(`./${peer}.mjs`);

const told = await run(model, Number(agents), Number(steps), async (work) => {
  const from = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(from);
  return { cpu: user + system, rss: process.resourceUsage().maxRSS * 1_024 };
});
process.stdout.write(`${JSON.stringify({ us: told.cpu / (told.agents * Number(steps)), rss: told.rss, check: told.check() })}\n`);
