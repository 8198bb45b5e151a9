import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openai } from "../../src/adapters/openai.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { root } from "../architecture/read-house.ts";

interface Slip {
  readonly made: readonly string[];
}

const loaded = async <T>(name: string): Promise<T> => (await import(join(root, "evaluation", `${name}.mjs`))) as T;
const { slipped, Slips } = await loaded<{
  readonly slipped: (text: string, path: string, seed: string) => string;
  readonly Slips: new (seed: string) => Slip;
}>("slips");
const { startProxy } = await loaded<{
  readonly startProxy: (o: { upstream: string; keep: string; slips: Slip }) => Promise<{ readonly url: string; close(): Promise<void> }>;
}>("proxy");

const CODE = Array.from({ length: 60 }, (_, n) => `  if (count <= ${n}) return total + 1;`).join("\n");

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-slips-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("slips of a model", () => {
  it("change some lines of code by the seed, and neither tests nor texts", () => {
    const once = slipped(CODE, "src/a.mjs", "2");
    expect(slipped(CODE, "src/a.mjs", "2")).toBe(once);
    expect(slipped(CODE, "src/a.mjs", "9")).not.toBe(once);
    const changed = once.split("\n").filter((line, at) => line !== CODE.split("\n")[at]);
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.length).toBeLessThan(20);
    for (const line of changed) expect(line).toMatch(/count < \d+|total \+ 2/);
  });

  it("reach the product in the first version of a file, and are told", async () => {
    const write = (path: string, content: string): { name: string; arguments: string } => ({
      name: "write_files",
      arguments: JSON.stringify({ files: [{ path, content }] }),
    });
    const files = [write("src/a.mjs", CODE), write("tests/a.test.mjs", CODE), write("README.md", CODE), write("src/a.mjs", CODE)];
    await using upstream = await openaiStub({ replies: [{ text: "I write.", toolCalls: files }] });
    const slips = new Slips("2");
    const proxy = await startProxy({ upstream: upstream.url, keep: folder, slips });
    const model = openai({ model: "any", baseURL: proxy.url, apiKey: "none" });
    const tools = [{ name: "write_files", description: "Writes.", parameters: { type: "object" as const, properties: {} } }];
    const request = { messages: [{ role: "user" as const, content: "Go." }], tools };
    const reply = await model.chat(request, { signal: AbortSignal.timeout(30_000) });
    await proxy.close();
    const written = reply.toolCalls.map((call) => call.function.arguments);
    const contents = written.map((text) => (JSON.parse(String(text)) as { files: { content: string }[] }).files[0]?.content);
    expect(contents).toEqual([slipped(CODE, "src/a.mjs", "2"), CODE, CODE, CODE]);
    expect(reply.content).toBe("I write.");
    expect(slips.made.length).toBeGreaterThan(0);
  });
});
