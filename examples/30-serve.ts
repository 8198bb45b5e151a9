// Runs behind HTTP: a server with two tenants, and a client that starts a run, watches it and answers its question.
import { defineAction, defineRole, Team, usd } from "troupe";
import { createClient } from "troupe/client";
import { createServer, jsonLogger } from "troupe/server";

// #region server
const Greet = defineAction({ name: "Greet", run: async (ctx) => `Hello ${await ctx.human.ask("What is your name?")}, about ${ctx.text}.` });
const team = new Team({ name: "reception", roles: [defineRole({ name: "Rita", actions: [Greet] })] });
const server = createServer({
  team,
  tenants: [
    { name: "acme", token: "acme-0123456789abcdef", budget: usd(20) },
    { name: "beta", token: "beta-0123456789abcdef", budget: usd(5), runs: 10 },
  ],
  logger: jsonLogger({ level: "warn" }),
});
const { url } = await server.listen({ port: Number(process.env["PORT"] ?? 0) });
// #endregion

// #region client
const client = createClient({ url, token: "acme-0123456789abcdef" });
const { id } = await client.start({ idea: "tea" }, { key: "order 17" });
for await (const event of client.events(id)) console.log(event.seq, event.type);
const { status, questions = [] } = await client.read(id);
console.log(status, questions[0]?.text);
await client.answer(id, questions[0]?.id ?? "", "Ada");
for await (const event of client.events(id)) if (event.type === "act.ended") console.log(event.said[0]?.message.content);
// #endregion

const stranger = createClient({ url, token: "beta-0123456789abcdef" });
console.log((await stranger.list()).runs.length, await stranger.read(id).catch((error: { readonly code: string }) => error.code));

// #region fetch
/** Any server that speaks the Fetch API takes it: Deno.serve, Bun.serve, a worker, a route of your framework. */
export const handler = (request: Request): Promise<Response> => server.fetch(request);
// #endregion
console.log((await handler(new Request("http://localhost/healthz"))).status);
await server.close();
