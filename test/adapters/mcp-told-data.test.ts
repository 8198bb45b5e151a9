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

it("data that a text has in full are not said twice", async () => {
  const data = { city: "Bern", days: [3, 1, 2] };
  expect(await outputOf(JSON.stringify(data, null, 2), data)).not.toContain('"days":[3,1,2]');
  expect(await outputOf("1, 2, 3 in Bern", data)).not.toContain('"days":[3,1,2]');
});

it("data of which a text lacks some, or has many in another order, are said too", async () => {
  expect(await outputOf("Bern", { city: "Bern", days: [3] })).toContain('"days":[3]');
  const values = Array.from({ length: 100 }, (_, nth) => `value-${String(nth).padStart(3, "0")}`);
  expect(await outputOf(values.toReversed().join(), { values })).toContain('["value-000"');
});
