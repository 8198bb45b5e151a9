// An exchange of coins by roles, as in money.ts, and as a loop over numbers: under each order of activation both come to the same inequality.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { gini, mean, standardError, study } from "troupe/research";

const PEOPLE = 200;
const TURNS = 8;
const names = { rounds: "all at once", shuffled: "one after the other, shuffled", single: "one random person at a time" };
type Regime = keyof typeof names;

const person = (turns: number) =>
  defineRole({
    name: "Person",
    watch: [],
    state: z.object({ coins: z.number().default(1) }),
    steps(state, messages, out) {
      const coins = state.coins + messages.filter(({ content }) => content === "coin").length;
      if (out.tick >= turns) return { coins };
      out.say("tick", { sendTo: "<self>" });
      if (coins > 0) out.say("coin", { sendTo: `p${Math.floor(out.random() * PEOPLE)}` });
      return { coins: Math.max(0, coins - 1) };
    },
  });

async function giniOfRoles(scheduler: Regime, seed: string): Promise<number> {
  const market = new Environment({ scheduler, seed, memory: false });
  const role = person(scheduler === "single" ? PEOPLE * TURNS : TURNS);
  for (let place = 0; place < PEOPLE; place += 1) market.addRole(role, { name: `p${place}` });
  market.publishMessage(createMessage("tick", { sendTo: market.roleNames }));
  await market.run({ rounds: 1_000_000 });
  return gini(market.roleNames.map((name) => Number(market.getRole(name)?.state["coins"])));
}

function giniOfNumbers(regime: Regime, random: () => number): number {
  const coins = Array.from({ length: PEOPLE }, () => 1);
  const add = (who: number, more: number): void => void (coins[who] = (coins[who] ?? 0) + more);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const before = [...coins];
    const people = before.map((_, who) => ({ who, place: regime === "shuffled" ? random() : who })).sort((a, b) => a.place - b.place);
    for (const { who } of people) {
      const giver = regime === "single" ? Math.floor(random() * PEOPLE) : who;
      if ((regime === "rounds" ? before : coins)[giver] === 0) continue;
      add(giver, -1);
      add(Math.floor(random() * PEOPLE), 1);
    }
  }
  return gini(coins);
}

const { seed, samples, report } = study({ name: "money", source: "a loop over numbers, 4000 times" });
async function compared(regime: Regime) {
  const random = new Environment({ seed }).stream(regime);
  const loops = Array.from({ length: 4_000 }, () => giniOfNumbers(regime, random));
  const found = await samples(200, (one) => giniOfRoles(regime, one));
  return { name: `Gini with ${names[regime]}`, expected: mean(loops), found, tolerance: 4 * standardError(loops) };
}

export const figures = report([await compared("rounds"), await compared("shuffled"), await compared("single")]);
