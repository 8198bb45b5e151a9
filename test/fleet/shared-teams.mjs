// A module of teams as a user writes one: all runs of a tenant share a budget, and all calls the limits of their provider, whatever worker has
// them. The provider is a server of the tests. It is told when a call began, and decides what it costs.
import { defineRole, Team } from "../../dist/src/index.js";
import { postgresBudget, postgresLimits } from "../../dist/src/adapters/postgres.js";

const { TROUPE_JOURNAL: url = "", FLEET_PROVIDER = "" } = process.env;
const budget = postgresBudget({ url, name: "acme", amount: 1_000_000 });
const limits = postgresLimits({ url, name: "provider", requestsPerSecond: 10 });

const model = {
  id: "fleet-model",
  price: { input: 0, output: 1 },
  maxOutputTokens: 16_000,
  streams: false,
  async chat({ messages }, { signal }) {
    const line = /Write line (\d+)/.exec(JSON.stringify(messages))?.[1];
    const reply = await fetch(FLEET_PROVIDER, { method: "POST", body: `${Number(process.hrtime.bigint()) / 1e6} ${line}`, signal });
    const usage = { inputTokens: 0, outputTokens: Number(await reply.text()) };
    return { content: "A line.", toolCalls: [], usage, finishReason: "stop" };
  },
};

const poet = defineRole({
  name: "Poe",
  react: async (rc) => {
    for (let n = 0; n < 1_000; n += 1) await rc.ask(`Write line ${n}.`);
  },
});

// A test kills more often than a fault of a role would.
export const press = ({ journal, driver }) =>
  new Team({ name: "press", roles: [poet], model, journal, driver, budget, limits, poisonAfter: 1_000 });
