// One item is sold to five bidders, whose values are drawn evenly from 0 to 1. An English auction raises the price until one bidder is left. Sealed bids
// sell it to the highest one, at the second highest bid (Vickrey), or at the own bid, which then is shaded. All three bring the same on average.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { figure, figuresText } from "troupe/research";

const BIDDERS = 5;
const AUCTIONS = 400;
const STEP = 0.02;
type Kind = "english" | "second price" | "first price";
const seed = process.env["SEED"] ?? randomUUID();

const bidder = (kind: Kind) =>
  defineRole({
    name: "Bidder",
    watch: ["Call"],
    state: z.object({ value: z.number().default(-1) }),
    step(state, { instructContent: price }, out) {
      const value = state.value < 0 ? out.random() : state.value;
      const bid = { english: Number(price), "second price": value, "first price": (value * (BIDDERS - 1)) / BIDDERS }[kind];
      if (value >= bid) out.say("bid", { sendTo: "Auctioneer", instructContent: bid });
      return { value };
    },
  });

/** Calls, and counts what came two rounds later: it counts also where nobody bids. */
const auctioneer = (kind: Kind) =>
  defineRole({
    name: "Auctioneer",
    watch: [UserRequirement],
    state: z.object({ price: z.number().default(0) }),
    steps({ price }, messages, out) {
      const bids = messages.filter(({ content }) => content === "bid").map(({ instructContent }) => Number(instructContent));
      const [first = 0, second = 0] = bids.toSorted((a, b) => b - a);
      const isCounting = messages.some(({ content }) => content === "count");
      const paid = { english: price - STEP / 2, "second price": second, "first price": first }[kind];
      if (isCounting && (kind !== "english" || bids.length < 2)) return void out.say("sold", { causeBy: "Sold", instructContent: paid });
      const asked = isCounting ? price + STEP : price;
      out.say("who bids?", { causeBy: "Call", instructContent: asked });
      out.after(2, "count", { sendTo: "<self>" });
      return { price: asked };
    },
  });

/** Returns what the item brings. A seed gives the bidders the same values in every kind of auction. */
async function revenue(kind: Kind, rep: number): Promise<number> {
  const room = new Environment({ seed: `${seed}/${rep}` });
  room.addRole(auctioneer(kind));
  for (let place = 0; place < BIDDERS; place += 1) room.addRole(bidder(kind), { name: `b${place}` });
  room.publishMessage("sell it");
  const { output } = await room.run({ rounds: 1_000 });
  return Number(output?.instructContent);
}

const all = async (kind: Kind): Promise<readonly number[]> => Promise.all(Array.from({ length: AUCTIONS }, (_, rep) => revenue(kind, rep)));
const [english, vickrey, sealed] = [await all("english"), await all("second price"), await all("first price")];
const differences = english.map((price, rep) => Math.abs(price - (vickrey[rep] ?? 0)));
const [source, expected] = ["Vickrey 1961", (BIDDERS - 1) / (BIDDERS + 1)];

export const figures = [
  figure({
    name: "auction: English and second price differ by half a step",
    source,
    relation: "at most",
    expected: STEP / 2,
    found: Math.max(...differences),
  }),
  figure({ name: "auction: revenue of the English one, (n - 1) / (n + 1)", source, expected, found: english }),
  figure({ name: "auction: revenue at the second price, (n - 1) / (n + 1)", source, expected, found: vickrey }),
  figure({ name: "auction: revenue at the first price, shaded bids, (n - 1) / (n + 1)", source, expected, found: sealed }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
