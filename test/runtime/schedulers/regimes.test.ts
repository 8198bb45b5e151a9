import { expect, test } from "vitest";
import { z } from "zod";
import { LightStream } from "../../../src/kernel/random.ts";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole } from "../../../src/role/role.ts";
import { Environment } from "../../../src/runtime/environment.ts";

const PEOPLE = 24;
const TURNS = 12;
const name = (place: number): string => `p${place}`;
const placeOf = (who: string): number => Number(who.slice(1));

/** Gives one coin of its own to a random person. The whole mailbox is read before. */
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

/** The wealth of all people, and who acted in which round. */
async function lived(scheduler: "rounds" | "sequential" | "shuffled" | "single", seed: string) {
  const market = new Environment({ scheduler, seed, memory: false });
  for (let place = 0; place < PEOPLE; place += 1) market.addRole(person, { name: name(place) });
  const acted: { readonly who: number; readonly round: number }[] = [];
  market.on("act.ended", ({ role, round }) => void acted.push({ who: placeOf(role), round }));
  market.publishMessage(createMessage("tick", { sendTo: market.roleNames }));
  const most = scheduler === "single" ? PEOPLE * TURNS : TURNS;
  await market.run({ rounds: 10_000, stopWhen: ({ tick }) => tick >= most });
  const coins = market.roleNames.map((who) => {
    const { state = {}, inbox = [] } = market.getRole(who) ?? {};
    return Number(state["coins"]) + inbox.filter(({ content }) => content === "coin").length;
  });
  return { acted, coins };
}

/** The same by a loop over numbers: each of those that acted gives a coin, at once or at the end of the round. */
function looped(acted: Awaited<ReturnType<typeof lived>>["acted"], seed: string, isSimultaneous: boolean): readonly number[] {
  const coins = Array.from({ length: PEOPLE }, () => 1);
  const times = coins.map(() => 0);
  let given = coins.map(() => 0);
  let now = 0;
  const arrive = (): void => {
    for (const who of coins.keys()) coins[who] = (coins[who] ?? 0) + (given[who] ?? 0);
    given = coins.map(() => 0);
  };
  for (const { who, round } of acted) {
    if (!isSimultaneous || round > now) arrive();
    now = round;
    const chance = new LightStream(seed, name(who), times[who] ?? 0).next();
    times[who] = (times[who] ?? 0) + 1;
    if ((coins[who] ?? 0) === 0) continue;
    coins[who] = (coins[who] ?? 0) - 1;
    const other = Math.floor(chance * PEOPLE);
    given[other] = (given[other] ?? 0) + 1;
  }
  arrive();
  return coins;
}

test.each(["rounds", "sequential", "shuffled", "single"] as const)(
  "an exchange of coins under %s ends as a loop over numbers of that regime, coin by coin",
  async (scheduler) => {
    for (const seed of ["one", "two", "three"]) {
      const { acted, coins } = await lived(scheduler, seed);
      expect(coins).toEqual(looped(acted, seed, scheduler === "rounds"));
      expect(coins.reduce((sum, coin) => sum + coin, 0)).toBe(PEOPLE);
      expect(acted).toHaveLength(PEOPLE * TURNS);
      if (scheduler === "single") continue;
      const everybody = [...coins.keys()];
      for (let round = 0; round < TURNS; round += 1) {
        const order = acted.filter((one) => one.round === round).map(({ who }) => who);
        expect(scheduler === "shuffled" ? order.toSorted((a, b) => a - b) : order).toEqual(everybody);
      }
    }
  },
);
