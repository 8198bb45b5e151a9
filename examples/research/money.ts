// Money in a closed economy: in each turn a person who has a coin gives one to a random person. The inequality that comes of it depends on the order of
// activation: all at once, one after the other in a drawn order, or one random person at a time. One program has all three, by the name of its scheduler.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { cohensD, gini, study } from "troupe/research";

const RUNS = 200;

// #region money
const PEOPLE = 200;
const TURNS = 8;
type Regime = "rounds" | "shuffled" | "single";

/** A person takes the coins that came, and gives one away. After the last turn it counts what came in it. */
const person = (turns: number) =>
  defineRole({
    name: "Person",
    watch: [],
    state: z.object({ coins: z.number().default(1) }),
    steps(state, messages, out) {
      const coins = state.coins + messages.filter(({ content }) => content === "coin").length;
      if (out.tick >= turns) return { coins };
      out.say("tick", { sendTo: "<self>" });
      if (coins === 0) return { coins };
      out.say("coin", { sendTo: `p${Math.floor(out.random() * PEOPLE)}` });
      return { coins: coins - 1 };
    },
  });

async function giniUnder(scheduler: Regime, seed: string): Promise<number> {
  const market = new Environment({ scheduler, seed, memory: false });
  const role = person(scheduler === "single" ? PEOPLE * TURNS : TURNS);
  for (let place = 0; place < PEOPLE; place += 1) market.addRole(role, { name: `p${place}` });
  market.publishMessage(createMessage("tick", { sendTo: market.roleNames }));
  await market.run({ rounds: 1_000_000 });
  return gini(market.roleNames.map((name) => Number(market.getRole(name)?.state["coins"])));
}
// #endregion

const { samples, report } = study({ name: "money", source: "the regimes are different models" });
const sampled = (regime: Regime) => samples(RUNS, (seed) => giniUnder(regime, seed));
export const found = { rounds: await sampled("rounds"), shuffled: await sampled("shuffled"), single: await sampled("single") };

/** The distance of two means in standard errors: Cohen's d has it in standard deviations. */
const apart = (one: Regime, other: Regime) => ({
  name: `standard errors between ${one} and ${other}`,
  relation: "at least" as const,
  expected: 10,
  found: Math.abs(cohensD(found[one], found[other])) * Math.sqrt(RUNS / 2),
});

export const figures = report([apart("rounds", "shuffled"), apart("shuffled", "single"), apart("rounds", "single")]);
