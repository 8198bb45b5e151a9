/** Steps side by side and their join, a step that is tried again, and a test without a key. */
import { equal, match } from "node:assert/strict";
import { defineAction, defineRole, retry, Team } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region parallel
const Praise = defineAction({ name: "Praise", prompt: (ctx) => `What is good about ${ctx.text}?` });
const Doubt = defineAction({ name: "Doubt", prompt: (ctx) => `What is bad about ${ctx.text}?` });
const Decide = defineAction({
  name: "Decide",
  needs: [Praise, Doubt],
  prompt: ({ inputs: [good, bad] }) => `Decide. For it: ${good.content} Against it: ${bad.content}`,
});

const roles = [
  defineRole({ name: "Pia", actions: [Praise] }), // both watch the idea, and work at the same time
  defineRole({ name: "Don", actions: [Doubt] }),
  defineRole({ name: "Dora", watch: [Praise, Doubt], actions: [Decide] }), // waits for both
];
// #endregion

// #region test
/** Answers by what it is asked, because roles that work side by side ask in any order. */
const model = scriptedModel(({ messages }) => {
  const asked = messages.at(-1)?.content ?? "";
  if (asked.startsWith("Decide")) return "Use tabs.";
  return asked.includes("good") ? "Everyone sets the width." : "Columns do not align.";
});
const { status, rounds, output } = await new Team({ roles, model }).run("tabs").result;
equal(status, "finished");
equal(output?.content, "Use tabs.");
equal(model.calls.length, 3);
match(model.calls[2]?.messages.at(-1)?.content ?? "", /Columns do not align/); // what Dora's model was asked
// #endregion
console.log(status, "in", rounds, "rounds:", output?.content);

// #region each
const Rate = defineAction({
  name: "Rate",
  async run(ctx) {
    const words = await Promise.all(ctx.text.split(", ").map((city) => ctx.ask(`One word for ${city}?`)));
    return words.join(", ");
  },
});
const traveler = scriptedModel((request) => (request.messages.at(-1)?.content?.includes("Oslo") === true ? "cold" : "warm"));
const rated = await new Team({ roles: [defineRole({ name: "Rae", actions: [Rate] })], model: traveler }).run("Oslo, Rome").result;
console.log(rated.output?.content); // cold, warm
// #endregion

// #region retry
let tries = 0;
const Fetch = defineAction({
  name: "Fetch",
  run: (ctx) =>
    // A step is recorded, so a replay fetches nothing.
    ctx.step("fetch", { path: ctx.text }, async () => {
      tries += 1;
      if (tries < 3) throw new Error("503 Service Unavailable");
      return `the page ${ctx.text}`;
    }),
});
const fetcher = defineRole({ name: "Fay", actions: [Fetch], onFailure: retry(2) }); // retry(2, "skip") continues without it
const fetched = await new Team({ roles: [fetcher] }).run("/prices").result;
console.log(fetched.output?.content, "after", tries, "tries"); // the page /prices after 3 tries
// #endregion
