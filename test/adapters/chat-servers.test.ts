import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent, defineTool } from "../../src/agent/index.ts";
import { ChatMessage } from "../../src/model/chat-message.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { doors, failureOf, streamed } from "./chat-doors.ts";
import { type ChatServer, modelAt, type Said, SERVERS } from "./chat-servers.ts";

const hello: ChatRequest = { messages: [ChatMessage.system("Be brief."), ChatMessage.user("Hello")], maxTokens: 16_384 };
const schema = z.toJSONSchema(z.object({ n: z.number() })) as unknown as JsonObject;

/** An agent that adds twice at once, says the sum, and thinks before each. */
async function adds(server: ChatServer, key: string, stream = true) {
  const ran: unknown[] = [];
  const add = defineTool({
    name: "add",
    description: "Adds.",
    parameters: z.object({ a: z.number(), b: z.number() }),
    effect: "read",
    execute: (args) => {
      ran.push(args);
      return String(args.a + args.b);
    },
  });
  const calls = [
    ["add", { a: 1, b: 2 }],
    ["add", { a: 3, b: 4 }],
  ] as const;
  const say = ({ messages }: { readonly messages?: unknown }): Said =>
    JSON.stringify(messages).includes('"tool"') ? { text: "3 and 7" } : { thought: "I add.", calls };
  const { model, requests, refused } = modelAt(server, key, say, stream);
  const result = await new Agent({ name: "adder", model, tools: [add] }).run("What are 1 + 2 and 3 + 4?").result;
  return { result, ran, requests, refused };
}

describe.each(SERVERS.map((server) => [server.name, server] as const))("openai() at %s", (name, server) => {
  describe.each(doors)("%s", (door, ask) => {
    const at = (what: string, say: Parameters<typeof modelAt>[2]) => modelAt(server, `${name}-${door}-${what}`.replaceAll(" ", "-"), say);

    it("answers with text, usage and cached tokens", async () => {
      const { model, requests, refused } = at("text", () => ({ text: "Hi there" }));
      const { content, finishReason, usage } = await ask(model, hello);
      expect([content, finishReason]).toEqual(["Hi there", "stop"]);
      const { cached = 7, output = 5 } = server;
      const cachedTokens = "cached" in server ? {} : { cachedTokens: cached };
      expect(usage).toEqual({ inputTokens: 20, outputTokens: output, ...cachedTokens });
      expect([requests.length, refused.length <= 1]).toEqual([1, true]);
      await ask(model, hello);
      expect([requests.length, refused.length <= 1]).toEqual([2, true]);
    });

    it("keeps to a schema", async () => {
      const { model, requests } = at("schema", () => ({ text: '{"n":1}' }));
      const reply = await ask(model, { ...hello, schema: { type: "schema", name: "Number", schema } });
      expect(reply.content).toBe('{"n":1}');
      expect(requests).toHaveLength(1);
      const type = server.formats?.includes("json_schema") === false ? "json_object" : "json_schema";
      expect(requests[0]?.body).toMatchObject({ response_format: { type } });
      expect(JSON.stringify(requests[0]?.body)).toMatch(/"n\\?":/);
    });

    it("sees pictures", async () => {
      const { model, requests } = at("image", () => ({ text: "A cat" }));
      const image = { mediaType: "image/png", data: "iVBORw0KGgo=" };
      await ask(model, { messages: [ChatMessage.user("What is it?", { images: [image] })] });
      expect(JSON.stringify(requests[0]?.body)).toContain("data:image/png;base64,iVBORw0KGgo=");
    });

    it.each(server.complaints)("complains by %s %i", async (code, status, body) => {
      expect((await failureOf(ask(at("complaint", () => [code, status, body]).model, hello))).code).toBe(code);
    });
  });

  it.each([true, false])("calls tools, and takes their results back in the form it wants, streamed %s", async (stream) => {
    const { result, ran, requests, refused } = await adds(server, `${name}-tools-${stream}`.replaceAll(" ", "-"), stream);
    expect([result.error?.message, result.answer]).toEqual([undefined, "3 and 7"]);
    expect(ran).toEqual([
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ]);
    expect([requests.length, refused.length]).toEqual([2, name === "Mistral" && stream ? 1 : 0]);
    const sent = JSON.stringify(requests[1]?.body);
    expect(sent.includes("I add.")).toBe(server.thoughts === "reasoning_content" || server.thoughts === "reasoning_details");
  });
});

describe.each(doors)("%s", (_door, ask) => {
  it.each(SERVERS.filter(({ thoughts }) => thoughts))("$name thinks beside its answer", async (server) => {
    const { content, reasoning } = await ask(modelAt(server, "thoughts", () => ({ thought: "Greet back.", text: "Hi" })).model, hello);
    expect([content, reasoning?.text]).toEqual(["Hi", "Greet back."]);
  });
});

it.each(SERVERS.filter(({ inStream }) => inStream))("$name complains inside a stream", async (server) => {
  for (const [code, lines] of server.inStream ?? [])
    expect((await failureOf(streamed(modelAt(server, "in-stream", () => ({ lines })).model, hello))).code).toBe(code);
});

it("Azure gets its version with each request", async () => {
  const azure = SERVERS.find(({ name }) => name === "Azure") as ChatServer;
  const { requests } = await adds(azure, "version");
  for (const { url } of requests)
    expect(url).toBe("https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21");
});

/** A row of the guide's table. */
function row({ name, formats, thoughts, ...server }: ChatServer): string {
  const format = formats?.includes("json_schema") === false ? "in the prompt" : "accepted";
  const fields = { parts: "parts of the content", none: "not given" };
  const where = thoughts === "parts" || thoughts === undefined ? fields[thoughts ?? "none"] : `\`${thoughts}\``;
  const isBack = thoughts === "reasoning_content" || thoughts === "reasoning_details";
  const cached = "cached" in server ? "not reported" : "counted";
  const errors = server.complaints.length + (server.inStream?.length ?? 0);
  return `| ${name} | ${format} | ${where} | ${isBack ? "yes" : "no"} | ${cached} | ${errors} |`;
}

it("the table of the guide says what was run", () => {
  const guide = readFileSync(new URL("../../docs/guides/models.md", import.meta.url), "utf8");
  const head =
    "| server | JSON Schema | reasoning is in | sent back with calls | cached tokens | kinds of errors |\n|---|---|---|---|---|---|";
  expect(guide).toContain([head, ...SERVERS.map(row), ""].join("\n"));
});
