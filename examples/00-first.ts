// The first lines: a team of two roles, and an agent with a tool. A small server of the test kit stands in for OpenAI's, so this runs without a
// key and without a network.
import { Agent, defineAction, defineRole, defineTool, openai, Team } from "troupe";
import { flowMermaid, messageFlow } from "troupe/inspector";
import { openaiStub } from "troupe/testing";
import { z } from "zod";

const server = await openaiStub({
  replies: [
    "numbers.sort((a, b) => a - b)",
    "It changes the list that it gets: use toSorted.",
    { toolCalls: [{ name: "weather", arguments: '{"city":"Paris"}' }] },
    "No coat: Paris has 21 degrees.",
  ],
});
process.env["TROUPE_BASE_URL"] = server.url;

// #region drawn
// #region team
const Write = defineAction({ name: "Write", prompt: (ctx) => `Write code that ${ctx.text}.` });
const Review = defineAction({ name: "Review", prompt: (ctx) => `Review this code: ${ctx.text}` });

const alex = defineRole({ name: "Alex", profile: "Engineer", actions: [Write] });
const vera = defineRole({ name: "Vera", profile: "Reviewer", watch: [Write], actions: [Review] });

const team = new Team({ roles: [alex, vera], model: openai({ model: "gpt-5-mini" }) });
const result = await team.run("sorts numbers").result;
console.log(result.output?.content); // It changes the list that it gets: use toSorted.
// #endregion

console.log(flowMermaid(messageFlow(result.messages))); // a drawing for Mermaid: you, Alex, Vera, and what they said to each other
// #endregion

// #region agent
const parameters = z.object({ city: z.string() });
const execute = ({ city }: { city: string }) => `21 degrees in ${city}`;
const weather = defineTool({ name: "weather", description: "The weather.", parameters, execute });
const agent = new Agent({ name: "guide", model: openai({ model: "gpt-5-mini" }), tools: [weather] });
const { answer } = await agent.run("Do I need a coat in Paris?").result;
console.log(answer); // No coat: Paris has 21 degrees.
// #endregion

await server.close();
delete process.env["TROUPE_BASE_URL"];
