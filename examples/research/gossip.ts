// A rumour is pushed: in every round each person who knows it tells one random other person, until all know it.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { completeTopology, hireOn, study, type Topology } from "troupe/research";

/** Returns the rounds until all know the rumour. */
async function spread(people: Topology, seed: string): Promise<number> {
  const town = new Environment({ seed });
  hireOn(town, people, ({ name, neighbours }) =>
    defineRole({
      name,
      watch: [],
      state: z.object({ knows: z.boolean().default(false) }),
      step({ knows }, { sentFrom }, out) {
        if (knows && sentFrom !== name) return undefined;
        out.say("rumour", { sendTo: neighbours[Math.floor(out.random() * neighbours.length)] ?? name });
        out.say("again", { sendTo: "<self>" });
        return { knows: true };
      },
    }),
  );
  town.publishMessage(createMessage("rumour", { sendTo: "p1" }));
  const { rounds } = await town.run({
    rounds: 1_000,
    stopWhen: ({ state }) => people.nodes.every((name) => state(name)?.["knows"] === true),
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
      told = [...told, 0].map((chance, k) => chance * (1 - (fresh[k] ?? 0)) + (told[k - 1] ?? 0) * (fresh[k - 1] ?? 0));
    }
    const later = told.reduce((sum, chance, k) => sum + (k === 0 ? 0 : chance * (rounds[knowing + k] ?? 0)), 0);
    rounds[knowing] = (1 + later) / (1 - (told[0] ?? 0));
  }
  return rounds[1] ?? 0;
}

const { samples, report } = study({ name: "gossip", source: "Doerr and Künnemann 2014" });
const [village, town] = [completeTopology(32), completeTopology(512)];
export const small = await samples(200, (seed) => spread(village, seed));
const large = await samples(12, (seed) => spread(town, seed));
const about = Math.log2(512) + Math.log(512);

export const figures = report([
  { name: "rounds for 32 people, exact chain", source: "Frieze and Grimmett 1985", expected: expectedRounds(32), found: small },
  { name: "rounds for 512 people, log2 n + ln n - 1.116", relation: "at least", expected: about - 1.116, found: large },
  { name: "rounds for 512 people, log2 n + ln n + 2.765", relation: "at most", expected: about + 2.765, found: large },
]);
