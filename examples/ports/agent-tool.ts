// An agent as a tool: a host asks a poet for a line, and answers with it.
import { Agent, asTool, openai } from "troupe";
import { openaiStub } from "troupe/testing";

// #region given
const server = await openaiStub({
  replies: [
    { text: "", toolCalls: [{ name: "poet", arguments: '{"task":"the sea"}' }] },
    "The sea is wide.",
    "Here it is: The sea is wide.",
  ],
});
process.env["OPENAI_BASE_URL"] = server.url;
// #endregion

// #region program
const model = openai({ model: "gpt-5-mini" });
const poet = new Agent({ name: "poet", description: "Writes a line of verse.", systemPrompt: "You write one line of verse.", model });
const host = new Agent({ name: "host", systemPrompt: "You help guests.", model, tools: [asTool(poet)] });
console.log((await host.run("A line about the sea?").result).answer);
// #endregion

await server.close();
