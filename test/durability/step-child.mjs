// One process of a run of plain functions that is killed again and again. Its one argument is JSON: { store, scheduler, killAt? }. It prints
// what came of the run as one line of JSON. Built code is what it runs, as a user's program does.
import { createHash } from "node:crypto";
import { z } from "zod";
import { canonical, createMessage, defineRole, fold, Team } from "../../dist/src/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { mortal } from "./mortal-journal.mjs";

const { store, scheduler, killAt } = JSON.parse(process.argv[2]);
const ROLES = 40;
const HOPS = 60;

/** Each passes what it gets to somebody whom chance chooses, takes note of it, and fails now and then. */
const one = defineRole({
  name: "One",
  watch: [],
  onFailure: "skip",
  state: z.object({ heard: z.number().default(0), last: z.array(z.string()).default([]) }),
  step(state, message, out) {
    const left = Number(message.content);
    if (left > 0) out.say(String(left - 1), { sendTo: `R${Math.floor(out.random() * ROLES)}` });
    if (out.random() < 0.002) throw new Error("not today");
    return { heard: state.heard + 1, last: [...state.last, message.id].slice(-3) };
  },
});

const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);
// Nobody is to blame for these deaths, however often they come. Without rounds the order of turns is what concurrency makes of it, and while a
// death is looked into each turn waits for its trace.
/** Random single activation. */
const oneAtRandom = {
  name: "one-at-random",
  delivers: "turn",
  select: ({ ready, running, random }) => (running > 0 ? [] : [Math.floor(random() * ready.length)]),
};
const named = scheduler === oneAtRandom.name ? oneAtRandom : scheduler;
const team = new Team({ seed: "kills", scheduler: named, journal, poisonAfter: 1_000, concurrency: scheduler === "eager" ? 1 : 16 });
for (let place = 0; place < ROLES; place += 1) team.hire(one, { name: `R${place}` });
const first = createMessage(String(HOPS), { id: "first", timestamp: 1, sendTo: team.roleNames });
const { status, error } = await team.run(first, { id: "r", rounds: 1_000_000 }).result;

const events = [];
for await (const event of journal.read("r", 0)) events.push(event);
await journal.close();
const states = [...fold(events).roles.values()].map(({ custom, mailbox, n }) => [custom, mailbox.size, n]);
const digest = createHash("sha256").update(JSON.stringify(states)).digest("hex");
const acts = events.filter((event) => event.type === "act.ended").length;
const failed = events.filter((event) => event.type === "act.failed").length;
const told = { status, error: error?.message, acts, failed, states: digest, canonical: canonical(events) };
process.stdout.write(`${JSON.stringify(told)}\n`);
