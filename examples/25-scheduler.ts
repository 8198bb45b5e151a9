// A scheduler of your own: in each step one random role acts, and its messages are delivered at once. Ten traders exchange coins this way, first in
// an environment, then in a team whose run is stopped halfway and goes on from its journal.
import { z } from "zod";
import { createMessage, defineRole, Environment, memoryJournal, Team } from "troupe";
import type { Scheduler } from "troupe/ports";

// #region scheduler
/** Random single activation. */
const oneAtRandom: Scheduler = {
  name: "one-at-random",
  delivers: "turn",
  select: ({ ready, running, random }) => (running > 0 ? [] : [Math.floor(random() * ready.length)]),
};
// #endregion

// #region use
const TRADERS = 10;
const trader = defineRole({
  name: "Trader",
  state: z.object({ coins: z.number().default(5), turns: z.number().default(0) }),
  step(state, message, out) {
    const { coins, turns } = state;
    const earned = coins + (message.content === "coin" ? 1 : 0);
    if (turns === 8) return { coins: earned, turns };
    if (earned > 0) out.say("coin", { sendTo: `T${Math.floor(out.random() * TRADERS)}` });
    out.say("again", { sendTo: out.name });
    return { coins: Math.max(0, earned - 1), turns: turns + 1 };
  },
});
const names = Array.from({ length: TRADERS }, (_, place) => `T${place}`);

const market = new Environment({ seed: 1, scheduler: oneAtRandom });
for (const name of names) market.addRole(trader, { name });
market.publishMessage(createMessage("go"));
const { status } = await market.run({ rounds: 10_000 });
const coins = names.map((name) => Number(market.getRole(name)?.state["coins"]));
console.log(`environment ${status}: ${coins.join(" ")}`);

const journal = memoryJournal();
const team = new Team({ seed: 1, scheduler: oneAtRandom, journal });
for (const name of names) team.hire(trader, { name });
const whole = await team.run("go", { id: "whole", rounds: 10_000 }).result;
await team.run("go", { id: "halves", rounds: 5 }).result;
const halves = await team.resume("halves", { rounds: 10_000 }).result;
const said = ({ messages }: { messages: readonly { id: string }[] }): string => messages.map(({ id }) => id).join();
console.log(`team ${whole.status}, equal after a stop: ${said(whole) === said(halves)}`);
// #endregion
