// Fallback of models: if the first model is overloaded, the second answers.
import { Agent, fallback, openai } from "troupe";
import { openaiStub } from "troupe/testing";

// #region given
const server = await openaiStub({
  handler: ({ model }) => (model === "gpt-5" ? { fault: "rate-limit" } : "Hello from the small one."),
});
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const agent = new Agent({ name: "host", model: fallback([openai({ model: "gpt-5" }), openai({ model: "gpt-5-mini" })]) });
console.log((await agent.run("Hello?").result).answer);
// #endregion

await server.close();
