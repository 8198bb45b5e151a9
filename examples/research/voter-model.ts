// The voter model on the complete graph: again and again one random voter takes the opinion of a random other voter, until all agree.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { completeTopology, hireOn, study } from "troupe/research";

const VOTERS = 10;
const YES = 3;
const town = completeTopology(VOTERS);
const State = z.object({ yes: z.boolean(), changes: z.number().default(0) });

/** The turn goes from voter to voter: who has it asks a random other one for its opinion, takes it, and gives the turn to a random voter. */
const voter = (name: string, others: readonly string[]) =>
  defineRole({
    name,
    watch: [],
    state: State.extend({ yes: z.boolean().default(town.nodes.indexOf(name) < YES) }),
    step({ yes, changes }, { content, sentFrom }, out) {
      const oneOf = (names: readonly string[]) => names[Math.floor(out.random() * names.length)] ?? name;
      if (content === "turn") return void out.say("opinion?", { sendTo: oneOf(others) });
      if (content === "opinion?") return void out.say(yes ? "yes" : "no", { sendTo: sentFrom });
      out.say("turn", { sendTo: oneOf(town.nodes) });
      return { yes: content === "yes", changes: changes + 1 };
    },
  });

/** Returns whether all say yes in the end, and the number of steps until then. */
async function agree(seed: string) {
  const world = new Environment({ seed });
  hireOn(world, town, ({ name, neighbours }) => voter(name, neighbours));
  const voters = () => town.nodes.map((name) => State.parse(world.getRole(name)?.state));
  const first = Math.floor(world.stream("first")() * VOTERS);
  world.publishMessage(createMessage("turn", { sendTo: town.nodes[first] ?? "" }));
  await world.run({ rounds: 100_000, stopWhen: () => new Set(voters().map(({ yes }) => yes)).size === 1 });
  return { yes: voters().every(({ yes }) => yes) ? 1 : 0, steps: voters().reduce((sum, { changes }) => sum + changes, 0) };
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

const { samples, report } = study({ name: "voter model" });
const runs = await samples(400, agree);
export const [yes, steps] = [runs.map((run) => run.yes), runs.map((run) => run.steps)];

export const figures = report([
  { name: `all ${VOTERS} say yes, of ${YES} at first`, source: "Holley and Liggett 1975", expected: YES / VOTERS, found: yes },
  { name: "steps until all agree", source: "Moran 1958", expected: expectedSteps(VOTERS, YES), found: steps },
]);
