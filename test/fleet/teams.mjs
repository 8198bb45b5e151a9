// A module of teams as a user writes one. The provider is a server of the tests, which counts its calls.
import { defineAction, defineRole, Team } from "../../dist/src/index.js";

const { FLEET_VERSION = "1" } = process.env;
/** It is read at each call, because tests of one process share this module. */
const provider = () => process.env["FLEET_PROVIDER"] ?? "";

/** Asks the provider. The answer is a function of the question. */
const model = {
  id: "fleet-model",
  price: { input: 1, output: 1 },
  streams: false,
  async chat({ messages }, { signal }) {
    const asked = messages.map(({ content }) => content).join("\n");
    const reply = await fetch(provider(), { method: "POST", body: asked, signal });
    return { content: await reply.text(), toolCalls: [], usage: { inputTokens: 1, outputTokens: 1 }, finishReason: "stop" };
  },
};

const Plan = defineAction({ name: "Plan", prompt: (ctx) => `Plan: ${ctx.text}` });
const Draft = defineAction({ name: "Draft", prompt: (ctx) => `Draft: ${ctx.text}` });
const Check = defineAction({ name: "Check", prompt: (ctx) => `Check: ${ctx.text}` });
const Sign = defineAction({ name: "Sign", prompt: (ctx) => `Sign: ${ctx.text}` });

export const writers = ({ journal, driver }) =>
  new Team({
    name: "writers",
    seed: "fleet",
    model,
    journal,
    driver,
    roles: [
      defineRole({ name: "Pia", actions: [Plan] }),
      defineRole({ name: "Dan", watch: [Plan], actions: [Draft] }),
      defineRole({ name: "Cem", watch: [Draft], actions: [Check] }),
      defineRole({ name: "Sol", watch: [Check], actions: [Sign] }),
      ...(FLEET_VERSION === "2" ? [defineRole({ name: "New", watch: ["Nothing"], actions: [Plan] })] : []),
    ],
  });
