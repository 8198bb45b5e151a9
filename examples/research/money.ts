// Money in a closed economy: in each turn a person who has a coin gives one to a random person. The inequality that comes of it depends on the order of
// activation: all at once, one after the other in a drawn order, or one random person at a time. One program has all three, by the name of its scheduler.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createMessage, defineRole, Environment, type SchedulerName } from "troupe";
import { figure, type Figure, figuresText, gini, mean, standardError } from "troupe/research";

const RUNS = 200;
const LOOPS = 4_000;

// #region money
const PEOPLE = 200;
const TURNS = 8;
const seed = process.env["SEED"] ?? randomUUID();
const name = (place: number): string => `p${place}`;

/** A person takes the coins that came, and gives one away. */
const person = defineRole({
  name: "Person",
  watch: [],
  state: z.object({ coins: z.number().default(1) }),
  steps(state, messages, out) {
    const coins = state.coins + messages.filter(({ content }) => content === "coin").length;
    out.say("tick", { sendTo: out.name });
    if (coins === 0) return { coins };
    out.say("coin", { sendTo: name(Math.floor(out.random() * PEOPLE)) });
    return { coins: coins - 1 };
  },
});

async function giniUnder(scheduler: SchedulerName, rep: number): Promise<number> {
  const market = new Environment({ scheduler, seed: `${seed}/${rep}`, memory: false });
  for (let place = 0; place < PEOPLE; place += 1) market.addRole(person, { name: name(place) });
  market.publishMessage(createMessage("tick", { sendTo: market.roleNames }));
  const turns = scheduler === "single" ? PEOPLE * TURNS : TURNS;
  await market.run({ rounds: 1_000_000, stopWhen: ({ tick }) => tick >= turns });
  return gini(market.roleNames.map((who) => wealthOf(market, who)));
}

/** The coins that a person has, with those that it has not counted yet. */
function wealthOf(market: Environment, who: string): number {
  const { state = {}, inbox = [] } = market.getRole(who) ?? {};
  return Number(state["coins"]) + inbox.filter(({ content }) => content === "coin").length;
}
// #endregion

/** The same economy as a loop over numbers, without roles and messages. */
function bareGini(scheduler: SchedulerName, random: () => number): number {
  const coins = Array.from({ length: PEOPLE }, () => 1);
  const people = [...coins.keys()];
  const any = (): number => Math.floor(random() * PEOPLE);
  const give = (from: number, to: number[]): void => {
    if ((coins[from] ?? 0) === 0) return;
    coins[from] = (coins[from] ?? 0) - 1;
    const other = any();
    to[other] = (to[other] ?? 0) + 1;
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (scheduler === "rounds") {
      const given = people.map(() => 0);
      for (const from of people) give(from, given);
      for (const who of people) coins[who] = (coins[who] ?? 0) + (given[who] ?? 0);
    } else if (scheduler === "shuffled") {
      const order = people.map((who) => ({ who, place: random() })).sort((a, b) => a.place - b.place);
      for (const { who } of order) give(who, coins);
    } else for (let nth = 0; nth < PEOPLE; nth += 1) give(any(), coins);
  }
  return gini(coins);
}

const regimes = ["rounds", "shuffled", "single"] as const;
const names = { rounds: "all at once", shuffled: "one after the other, shuffled", single: "one random person at a time" } as const;
const found = new Map<SchedulerName, readonly number[]>();
for (const scheduler of regimes) {
  const runs: number[] = [];
  for (let rep = 0; rep < RUNS; rep += 1) runs.push(await giniUnder(scheduler, rep));
  found.set(scheduler, runs);
}

const bare = new Environment({ seed }).stream("bare");
const against = regimes.map((scheduler) => {
  const random = bare.split(scheduler);
  const loops = Array.from({ length: LOOPS }, () => bareGini(scheduler, random));
  return figure({
    name: `money: Gini with ${names[scheduler]}`,
    source: `a loop over numbers, ${LOOPS} times`,
    expected: mean(loops),
    found: found.get(scheduler) ?? [],
    tolerance: 4 * standardError(loops),
  });
});

/** The distance of the means of two regimes, in standard errors. */
const apart = (one: SchedulerName, other: SchedulerName): Figure => {
  const [a, b] = [found.get(one) ?? [], found.get(other) ?? []];
  const distance = Math.abs(mean(a) - mean(b)) / Math.hypot(standardError(a), standardError(b));
  return figure({
    name: `money: standard errors between ${one} and ${other}`,
    source: "the regimes are different models",
    expected: 10,
    relation: "at least",
    found: distance,
  });
};

export const figures = [...against, apart("rounds", "shuffled"), apart("shuffled", "single"), apart("rounds", "single")];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
