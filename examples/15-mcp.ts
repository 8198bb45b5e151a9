// Tools of a server that speaks the Model Context Protocol, here the reference server over standard input and output.
import { createRequire } from "node:module";
import { Agent } from "troupe";
import { mcpServer } from "troupe/mcp";
import { scriptedModel } from "troupe/testing";

// #region mcp
const script = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");

const server = await mcpServer({ name: "demo", server: { command: process.execPath, args: [script, "stdio"] } });
const model = scriptedModel([
  { toolCalls: [{ id: "call_1", type: "function", function: { name: "demo_get-sum", arguments: '{"a": 2, "b": 40}' } }] },
  // The text of a server comes between two marks, under a line that names its source.
  ({ messages }) => `The server says: ${messages.at(-1)?.content?.split("\n").at(-2)}`,
]);
const agent = new Agent({
  name: "adder",
  model,
  tools: server.tools, // each call needs consent, unless a rule says otherwise
  permissions: { rules: [{ tool: "demo_get-*", decide: "allow" }] },
});
console.log((await agent.run("Add 2 and 40.").result).answer); // The server says: The sum of 2 and 40 is 42.
await server.close();
// #endregion
