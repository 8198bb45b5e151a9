import { expect, it } from "vitest";
import { toolsOf } from "../../src/adapters/mcp-tool.ts";
import type { McpConnection } from "../../src/adapters/mcp-connection.ts";

async function outputOf(text: string, data: object): Promise<string> {
  const answer = { content: [{ type: "text", text }], structuredContent: data };
  const connection = { use: () => Promise.resolve(answer) } as unknown as McpConnection;
  const settings = { server: "s", trust: false, timeout: 1_000, mask: (said: string) => said, warn: () => {} };
  const [tool] = toolsOf([{ name: "look", inputSchema: { type: "object" } }], connection, settings);
  const result = await tool?.execute({}, { signal: new AbortController().signal, progress: () => {} } as never);
  return String((result as { output?: string } | undefined)?.output);
}

it("data are said beside the texts, unless a text is their JSON", async () => {
  const data = { city: "Bern", days: [3, 1, 2] };
  expect(await outputOf(JSON.stringify(data, null, 2), data)).not.toContain('"days":[3,1,2]');
  expect(await outputOf("1, 2, 3 in Bern", data)).toContain('"days":[3,1,2]');
});
