// The voter model on the complete graph: again and again one random voter takes the opinion of a random other voter, until all agree.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { figure, figuresText } from "troupe/research";

const VOTERS = 10;
const YES = 3;
const seed = process.env["SEED"] ?? randomUUID();
const name = (place: number): string => `v${place}`;

/** The turn goes from voter to voter: who has it asks a random other one for its opinion, takes it, and gives the turn to a random voter. */
const voter = (place: number) =>
  defineRole({
    name: name(place),
    watch: [],
    state: z.object({ yes: z.boolean().default(place < YES), changes: z.number().default(0) }),
    step(state, message, out) {
      const random = (n: number): number => Math.floor(out.random() * n);
      if (message.content === "turn") out.say("opinion?", { sendTo: name((place + 1 + random(VOTERS - 1)) % VOTERS) });
      else if (message.content === "opinion?") out.say(state.yes ? "yes" : "no", { sendTo: message.sentFrom });
      else {
        out.say("turn", { sendTo: name(random(VOTERS)) });
        return { yes: message.content === "yes", changes: state.changes + 1 };
      }
      return undefined;
    },
  });

async function agree(rep: number): Promise<{ readonly yes: number; readonly steps: number }> {
  const town = new Environment({ seed: `${seed}/${rep}` });
  town.addRoles(Array.from({ length: VOTERS }, (_, place) => voter(place)));
  const states = (): readonly { yes: boolean; changes: number }[] => town.roleNames.map((who) => town.getRole(who)?.state as never);
  town.publishMessage(createMessage("turn", { sendTo: name(Math.floor(rep % VOTERS)) }));
  await town.run({ rounds: 100_000, stopWhen: () => new Set(states().map(({ yes }) => yes)).size === 1 });
  return { yes: states()[0]?.yes === true ? 1 : 0, steps: states().reduce((sum, { changes }) => sum + changes, 0) };
}

/** Returns the expected number of steps from `yes` voters, from the chain of their number. */
function expectedSteps(n: number, yes: number): number {
  const sum = (from: number, to: number, part: (j: number) => number): number => {
    let total = 0;
    for (let j = from; j <= to; j += 1) total += part(j);
    return total;
  };
  return (n - 1) * (sum(1, yes, (j) => (n - yes) / (n - j)) + sum(yes + 1, n - 1, (j) => yes / j));
}

const runs = await Promise.all(Array.from({ length: 400 }, (_, rep) => agree(rep)));

export const figures = [
  figure({
    name: `voter model: all ${VOTERS} say yes, of ${YES} at first`,
    source: "Holley and Liggett 1975",
    expected: YES / VOTERS,
    found: runs.map(({ yes }) => yes),
  }),
  figure({
    name: "voter model: steps until all agree",
    source: "Moran 1958",
    expected: expectedSteps(VOTERS, YES),
    found: runs.map(({ steps }) => steps),
  }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
