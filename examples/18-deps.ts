// Dependencies from outside: here a price list, which stands for a database. The action names the state of its role that it needs. What it looks
// up is a step, so the run can be resumed and replayed without the list.
import { defineAction, defineRole, defineTool, Team } from "troupe";
import { scriptedModel } from "troupe/testing";
import { z } from "zod";

// #region deps
interface PriceList {
  priceOf(article: string): Promise<number>;
}

declare module "troupe" {
  interface Deps {
    readonly prices: PriceList;
  }
}
// #endregion

// #region action
const Till = z.object({ sold: z.number().default(0) });

const Sell = defineAction({
  name: "Sell",
  state: Till,
  run: async (ctx) => {
    const price = await ctx.step("look up a price", { article: ctx.text }, () => ctx.deps.prices.priceOf(ctx.text));
    ctx.state.sold += price;
    return `${ctx.text}: ${price}, sold for ${ctx.state.sold} today`;
  },
});

const cashier = defineRole({ name: "Cas", state: Till, actions: [Sell] });
const prices: PriceList = { priceOf: (article) => Promise.resolve(article.length) };
const shop = new Team({ roles: [cashier], deps: { prices } });
// #endregion

console.log((await shop.run("apple").result).output?.content); // apple: 5, sold for 5 today

// #region tool
const price = defineTool({
  name: "price",
  description: "Tells the price of an article.",
  parameters: z.object({ article: z.string() }),
  effect: "read",
  execute: async ({ article }, ctx) => `${await ctx.deps?.prices.priceOf(article)} coins`,
});
const pear = { id: "call_1", type: "function", function: { name: "price", arguments: '{"article":"pear"}' } } as const;
const model = scriptedModel([{ toolCalls: [pear] }, "A pear costs 4 coins."]);
const clerk = defineRole({ name: "Cleo", reactMode: "agent", tools: [price], model });
const desk = new Team({ roles: [clerk], deps: { prices } });
// #endregion

console.log((await desk.run("What does a pear cost?").result).output?.content); // A pear costs 4 coins.
