// The same sweep without the kit: cells, paired seeds, processes, rows in a file, and a table. It has no resume, no limits of time or memory, no
// budgets, no manifest, no verification and no replay; a run that crashes ends the sweep.
import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { begin, gini, marketOf, ROUNDS } from "./market.mjs";

async function runOne({ people, start, rep }) {
  const seed = createHash("sha256").update(`coins ${rep}`).digest("hex").slice(0, 16);
  const market = marketOf({ people, start, seed });
  begin(market);
  const { rounds, status } = await market.run({ rounds: ROUNDS });
  if (status === "failed") throw new Error(`the run ${people} ${start} ${rep} failed`);
  return { people, start, rep, seed, rounds, gini: gini(market) };
}

if (process.send !== undefined) {
  process.on("message", (job) => void runOne(job).then((row) => process.send(row)));
} else {
  const [workers, file] = [Number(process.argv[2]), process.argv[3]];
  const jobs = [];
  for (const people of [200, 400]) for (const start of [1, 5]) for (let rep = 0; rep < 20; rep += 1) jobs.push({ people, start, rep });
  const rows = [];
  let next = 0;
  const work = () =>
    new Promise((resolve, reject) => {
      const child = fork(process.argv[1]);
      const give = () => {
        if (next >= jobs.length) return resolve(child.disconnect());
        const place = next++;
        child.once("message", (row) => {
          rows[place] = row;
          give();
        });
        child.send(jobs[place]);
      };
      child.once("exit", (code) => code !== 0 && reject(new Error(`a process ended with ${code}`)));
      give();
    });
  await Promise.all(Array.from({ length: workers }, work));
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const groups = Map.groupBy?.(rows, ({ people, start }) => `${people} ${start}`) ?? new Map();
  if (groups.size === 0)
    for (const row of rows) groups.set(`${row.people} ${row.start}`, [...(groups.get(`${row.people} ${row.start}`) ?? []), row]);
  for (const [name, group] of groups) {
    const mean = group.reduce((sum, row) => sum + row.gini, 0) / group.length;
    const variance = group.reduce((sum, row) => sum + (row.gini - mean) ** 2, 0) / (group.length - 1);
    console.log(`${name}: ${mean.toFixed(3)} ± ${Math.sqrt(variance / group.length).toFixed(3)}`);
  }
}
