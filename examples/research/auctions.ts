// One item is sold to five bidders, whose values are drawn evenly from 0 to 1. An English auction raises the price until one bidder is left. Sealed bids
// sell it to the highest one, at the second highest bid (Vickrey), or at the own bid, which then is shaded. All three bring the same on average.
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { study } from "troupe/research";

const BIDDERS = 5;
const STEP = 0.02;
type Kind = "english" | "second price" | "first price";

/** Bids 0 where the price is above its value. */
const bidder = (kind: Kind, name: string, value: number) =>
  defineRole({
    name,
    watch: ["Call"],
    step(_, { instructContent }, out) {
      const price = Number(instructContent);
      const bid = { english: value >= price ? price : 0, "second price": value, "first price": (value * (BIDDERS - 1)) / BIDDERS }[kind];
      out.say("bid", { sendTo: "Auctioneer", instructContent: bid });
    },
  });

/** Calls a price, and in an English auction a higher one while two bid. */
const auctioneer = (kind: Kind) =>
  defineRole({
    name: "Auctioneer",
    watch: [UserRequirement],
    state: z.object({ price: z.number().default(0) }),
    steps({ price }, messages, out) {
      const bids = messages.filter(({ content }) => content === "bid").map(({ instructContent }) => Number(instructContent));
      const [first = 0, second = 0] = bids.toSorted((a, b) => b - a);
      const paid = { english: price - STEP / 2, "second price": second, "first price": first }[kind];
      if (bids.length > 0 && (kind !== "english" || second === 0)) return void out.say("sold", { causeBy: "Sold", instructContent: paid });
      out.say("who bids?", { causeBy: "Call", instructContent: price + STEP });
      return { price: price + STEP };
    },
  });

/** Returns what the item brings. A seed gives the bidders the same values in every kind of auction. */
async function revenue(kind: Kind, seed: string): Promise<number> {
  const room = new Environment({ seed }).addRole(auctioneer(kind));
  const values = room.stream("values");
  for (let place = 0; place < BIDDERS; place += 1) room.addRole(bidder(kind, `b${place}`, values()));
  room.publishMessage("sell it");
  const { output } = await room.run({ rounds: 1_000 });
  return Number(output?.instructContent);
}

const { samples, report } = study({ name: "auction", source: "Vickrey 1961" });
const sold = (kind: Kind) => samples(400, (seed) => revenue(kind, seed));
const [english, vickrey, sealed] = [await sold("english"), await sold("second price"), await sold("first price")];
const differences = english.map((price, rep) => Math.abs(price - (vickrey[rep] ?? 0)));
const expected = (BIDDERS - 1) / (BIDDERS + 1);

export const figures = report([
  { name: "English and second price differ by half a step", relation: "at most", expected: STEP / 2, found: Math.max(...differences) },
  { name: "revenue of the English one, (n - 1) / (n + 1)", expected, found: english },
  { name: "revenue at the second price, (n - 1) / (n + 1)", expected, found: vickrey },
  { name: "revenue at the first price, shaded bids, (n - 1) / (n + 1)", expected, found: sealed },
]);
