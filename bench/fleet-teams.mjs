// The teams of bench/fleet.mjs: a run of five hops with a model step each, whose answer comes at once.
import { defineAction, defineRole, Team } from "../dist/src/index.js";

const said = "what a role has to say to itself, in about as many words as roles in a company use ".repeat(3).trim();
const actions = ["Plan", "Draft", "Check", "Mend", "Sign"].map((name) => defineAction({ name, run: (ctx) => ctx.ask(said) }));
const roles = actions.map((action, n) =>
  defineRole({ name: `Role${n}`, actions: [action], ...(n === 0 ? {} : { watch: [actions[n - 1]] }) }),
);
const model = {
  id: "at-once",
  streams: false,
  chat: () => Promise.resolve({ content: said, toolCalls: [], usage: { inputTokens: 1, outputTokens: 1 }, finishReason: "stop" }),
};

export const benched = ({ journal, driver }) => new Team({ name: "benched", seed: 1, roles, model, journal, driver });
