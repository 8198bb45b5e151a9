// Data analysis: an agent asks a table through a tool, and answers in a form.
import { Agent, defineTool, openai } from "troupe";
import { openaiStub } from "troupe/testing";
import { z } from "zod";

// #region given
const server = await openaiStub({
  replies: [
    { text: "", toolCalls: [{ name: "total", arguments: '{"city":"Oslo"}' }] },
    { text: "", toolCalls: [{ name: "total", arguments: '{"city":"Rome"}' }] },
    '{"best":"Rome","total":12}',
  ],
});
process.env["OPENAI_BASE_URL"] = server.url;
const sales = [
  { city: "Oslo", amount: 5 },
  { city: "Rome", amount: 4 },
  { city: "Rome", amount: 8 },
];
// #endregion

// #region program
const total = defineTool({
  name: "total",
  description: "The sales of a city.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => sales.filter((sale) => sale.city === city).reduce((sum, { amount }) => sum + amount, 0),
});
const model = openai({ model: "gpt-5-mini" });
const output = z.object({ best: z.string(), total: z.number() });
const agent = new Agent({ name: "analyst", systemPrompt: "You analyze the sales of Oslo and Rome.", model, tools: [total], output });
const result = await agent.run("Which city sells most?").result;
console.log(`${result.output?.best}: ${result.output?.total}`);
// #endregion

await server.close();
