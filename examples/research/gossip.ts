// A rumour is pushed: in every round each person who knows it tells one random other person, until all know it.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { figure, figuresText } from "troupe/research";

const seed = process.env["SEED"] ?? randomUUID();

/** Returns the rounds until all of `people` know the rumour. */
async function spread(people: number, rep: number): Promise<number> {
  const person = defineRole({
    name: "Person",
    watch: [],
    state: z.object({ knows: z.boolean().default(false) }),
    step(state, message, out) {
      if (state.knows && message.sentFrom !== out.name) return undefined;
      const other = Math.floor(out.random() * (people - 1));
      out.say("rumour", { sendTo: `p${other < Number(out.name.slice(1)) ? other : other + 1}` });
      out.say("again", { sendTo: "<self>" });
      return { knows: true };
    },
  });
  const town = new Environment({ seed: `${seed}/${rep}` });
  for (let place = 0; place < people; place += 1) town.addRole(person, { name: `p${place}` });
  town.publishMessage(createMessage("rumour", { sendTo: "p0" }));
  const { rounds } = await town.run({
    rounds: 1_000,
    stopWhen: ({ state }) => town.roleNames.every((name) => state(name)?.["knows"] === true),
  });
  return rounds - 1; // who is told in the last round knows it in the next one
}

/** Returns the exact expectation, from the chain of the number who know it: each of their calls reaches a new person with probability new / (n - 1). */
function expectedRounds(people: number): number {
  const rounds = Array.from({ length: people + 1 }, () => 0);
  for (let knowing = people - 1; knowing >= 1; knowing -= 1) {
    let told = [1]; // told[k]: the probability that k new persons were told so far in this round
    for (let call = 0; call < knowing; call += 1) {
      const fresh = told.map((_, k) => Math.max(0, people - knowing - k) / (people - 1));
      told = Array.from(
        { length: told.length + 1 },
        (_, k) => (told[k] ?? 0) * (1 - (fresh[k] ?? 0)) + (told[k - 1] ?? 0) * (fresh[k - 1] ?? 0),
      );
    }
    const later = told.reduce((sum, chance, k) => sum + (k === 0 ? 0 : chance * (rounds[knowing + k] ?? 0)), 0);
    rounds[knowing] = (1 + later) / (1 - (told[0] ?? 0));
  }
  return rounds[1] ?? 0;
}

const small = await Promise.all(Array.from({ length: 200 }, (_, rep) => spread(32, rep)));
const large = await Promise.all(Array.from({ length: 12 }, (_, rep) => spread(512, rep)));
const about = Math.log2(512) + Math.log(512);
const bounds = "Doerr and Künnemann 2014";

export const figures = [
  figure({
    name: "gossip: rounds for 32 people, exact chain",
    source: "Frieze and Grimmett 1985",
    expected: expectedRounds(32),
    found: small,
  }),
  figure({
    name: "gossip: rounds for 512 people, log2 n + ln n - 1.116",
    source: bounds,
    relation: "at least",
    expected: about - 1.116,
    found: large,
  }),
  figure({
    name: "gossip: rounds for 512 people, log2 n + ln n + 2.765",
    source: bounds,
    relation: "at most",
    expected: about + 2.765,
    found: large,
  }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
