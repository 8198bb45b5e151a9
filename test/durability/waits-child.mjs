// One process of a run with many waits of days, which is killed again and again. Its one argument is JSON: { store, time, killAt? }. Its clock is
// simulated: it begins at the time in the file, and a day passes when all that the days before have ended is done. Like a sender that got no
// receipt, it sends every signal that is due from the start. It prints the status of the run. Built code is what it runs, as a user's program does.
import { readFileSync, writeFileSync } from "node:fs";
import { defineAction, defineRole, Team } from "../../dist/src/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { simulatedClock } from "../../dist/src/testing/index.js";
import { mortal } from "./mortal-journal.mjs";

const { store, time, killAt } = JSON.parse(process.argv[2]);
const DAY = 86_400_000;
const ROLES = 100;
const clock = simulatedClock(Number(readFileSync(time, "utf8")));
const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);

/** Even roles sleep, then take a signal that was kept from the first day on; odd ones wait for a signal of a later day. */
const roles = Array.from({ length: ROLES }, (_, nth) =>
  defineRole({
    name: `R${nth}`,
    actions: [
      defineAction({
        name: `Wait${nth}`,
        run: async (ctx) => {
          if (nth % 2 === 0) await ctx.sleep((nth + 1) * DAY);
          const value = await ctx.waitFor(`s${nth}`, { timeout: 1_000 * DAY });
          return await ctx.step("note", { nth }, async () => `${nth}: ${JSON.stringify(value)}`);
        },
      }),
    ],
  }),
);

const team = new Team({ seed: "waits", journal, clock, roles, poisonAfter: 1_000 });
const run = team.run("go", { id: "r", wait: true });
const done = new Set();
let grew = () => {};
run.on("act.ended", ({ role }) => {
  done.add(role);
  grew();
});
await run.started;
for await (const event of journal.read("r", 0)) if (event.type === "act.ended") done.add(event.role);

const signalDay = (nth) => (nth % 2 === 0 ? 0 : nth % 40);
const endDay = (nth) => (nth % 2 === 0 ? nth + 1 : signalDay(nth));
let isOver = false;
void run.result.then(() => {
  isOver = true;
  grew();
});
const sent = new Set();
while (!isOver) {
  const day = Math.floor(clock.now() / DAY);
  for (let nth = 0; nth < ROLES && !isOver; nth += 1) {
    if (sent.has(nth) || signalDay(nth) > day) continue;
    sent.add(nth);
    await run.signal(`s${nth}`, `value ${nth}`, { id: `signal-${nth}` });
  }
  while (!isOver && roles.some(({ name }, nth) => endDay(nth) <= day && !done.has(name))) await new Promise((resolve) => (grew = resolve));
  if (isOver) break;
  writeFileSync(time, String((day + 1) * DAY));
  await clock.advance((day + 1) * DAY - clock.now());
}
const { status, error } = await run.result;
await journal.close();
process.stdout.write(`${JSON.stringify({ status, error: error?.message })}\n`);
