/* A server of the protocol's own package over standard input and output. It tells in which era of the protocol it was called. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(({ era }) => {
  const server = new McpServer({ name: "eras", version: "1" }, { capabilities: { tools: {} } });
  server.registerTool("era", { description: "Tells the era." }, () => ({ content: [{ type: "text", text: era }] }));
  return server;
});
