// Approval over a route: a refund waits until a second request says yes or no.
import { Hono } from "hono";
import { defineRole, defineTool, openai, Team } from "troupe";
import { openaiStub } from "troupe/testing";
import { z } from "zod";

// #region given
const server = await openaiStub({
  replies: [{ text: "", toolCalls: [{ name: "refund", arguments: '{"order":"A7"}' }] }, "Your money is on its way."],
});
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const refund = defineTool({
  name: "refund",
  description: "Refunds an order.",
  parameters: z.object({ order: z.string() }),
  permission: "ask",
  execute: ({ order }) => `${order} is refunded.`,
});
const clerk = defineRole({ name: "Clerk", goal: "help customers", tools: [refund] });
const team = new Team({ roles: [clerk], model: openai({ model: "gpt-5-mini" }) });

const app = new Hono();
app.post("/chats/:id", async (c) => {
  const { messages, question } = await team.conversation(c.req.param("id")).say(await c.req.text());
  return c.json({ answer: messages.at(-1)?.content, question: question?.id });
});
app.post("/chats/:id/answers/:question", async (c) => {
  const { messages } = await team.conversation(c.req.param("id")).answer(c.req.param("question"), await c.req.text());
  return c.json({ answer: messages.at(-1)?.content });
});

const asked = await app.request("/chats/7", { method: "POST", body: "Refund A7." });
const { question } = (await asked.json()) as { question: string };
const answered = await app.request(`/chats/7/answers/${question}`, { method: "POST", body: "yes" });
console.log(await answered.text());
// #endregion

await server.close();
