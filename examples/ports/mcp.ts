// An MCP client: an agent with the tools of a server that runs as a process.
import { createRequire } from "node:module";
import { Agent, openai } from "troupe";
import { mcpServer } from "troupe/mcp";
import { openaiStub } from "troupe/testing";

// #region given
const server = await openaiStub({
  replies: [{ text: "", toolCalls: [{ name: "demo_get-sum", arguments: '{"a":2,"b":40}' }] }, "It is 42."],
});
process.env["OPENAI_BASE_URL"] = server.url;
const script = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
// #endregion

// #region program
const demo = await mcpServer({ name: "demo", server: { command: "node", args: [script, "stdio"] } });
const agent = new Agent({ name: "adder", model: openai({ model: "gpt-5-mini" }), tools: demo.tools, permissions: { default: "allow" } });
console.log((await agent.run("Add 2 and 40.").result).answer);
await demo.close();
// #endregion

await server.close();
