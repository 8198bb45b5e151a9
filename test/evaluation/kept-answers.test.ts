import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openai } from "../../src/adapters/openai.ts";
import type { ChatRequest } from "../../src/index.ts";
import { type OpenAIStub, openaiStub, type StubReply } from "../../src/testing/index.ts";
import { root } from "../architecture/read-house.ts";

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

interface Answers {
  readonly roleOf: (body: Body) => string;
  readonly cacheableShare: (bodies: readonly Body[]) => number;
  readonly repeatedShares: (bodies: readonly Body[]) => { readonly repeated: number; readonly paid: number };
}

const loaded = async <T>(name: string): Promise<T> => (await import(join(root, "evaluation", `${name}.mjs`))) as T;
const { roleOf, cacheableShare, repeatedShares } = await loaded<Answers>("answers");
const { startProxy } = await loaded<{
  readonly startProxy: (o: {
    upstream: string;
    keep: string;
  }) => Promise<{ readonly url: string; readonly requests: readonly unknown[]; close(): Promise<void> }>;
}>("proxy");
const { startPlayer } = await loaded<{ readonly startPlayer: (o: { answers: string }) => Promise<OpenAIStub> }>("play");

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-kept-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const asked = (system: string, content: string): Body => ({
  messages: [
    { role: "system", content: system },
    { role: "user", content },
  ],
});
const ENGINEER = "You are an Engineer, named Alex, and your goal is: write. You are in software company.";

async function said(url: string, request: ChatRequest): Promise<unknown> {
  const model = openai({ model: "any", baseURL: url, apiKey: "none" });
  const { content, toolCalls, finishReason } = await model.chat(request, { signal: AbortSignal.timeout(30_000) });
  return { content, calls: toolCalls.map((call) => ("function" in call ? call.function : call)), finishReason };
}

describe("answers by role and number", () => {
  it.each([
    [ENGINEER, "engineer-alex"],
    ["You are a Product Manager, named Alice.", "product-manager-alice"],
    ["You are a QA Engineer, named Edward, and more", "qa-engineer-edward"],
    ["You solve tasks of any kind with the tools you have.", "agent"],
    ["", "agent"],
  ])("%s: %s", (system, role) => {
    expect(roleOf(asked(system, "You are a Clerk, named Bob, says the user."))).toBe(role);
  });

  it("are kept from what a model says, and are played as they were, to other prompts too", async () => {
    const replies: readonly StubReply[] = [
      { text: "I write.", toolCalls: [{ name: "write_files", arguments: '{"files":[{"path":"a","content":"ä\\n"}]}' }] },
      { fault: "server-error", status: 500 },
      "Done.\n",
    ];
    await using upstream = await openaiStub({ replies });
    const proxy = await startProxy({ upstream: upstream.url, keep: folder });
    const tools = [{ name: "write_files", description: "Writes.", parameters: { type: "object" as const, properties: {} } }];
    const request = (content: string): ChatRequest => ({
      messages: [
        { role: "system", content: ENGINEER },
        { role: "user", content },
      ],
      tools,
    });
    const first = await said(proxy.url, request("Go."));
    await said(proxy.url, request("Go on.")).catch(() => undefined);
    const second = await said(proxy.url, request("Go on."));
    await proxy.close();
    expect(JSON.parse(readFileSync(join(folder, "engineer-alex-01.json"), "utf8"))).toMatchObject({
      content: "I write.",
      tool_calls: [{ name: "write_files", arguments: { files: [{ path: "a", content: "ä\n" }] } }],
    });
    await using player = await startPlayer({ answers: folder });
    expect(await said(player.url, request("Another prompt."))).toEqual(first);
    expect(await said(player.url, request("And another."))).toEqual(second);
    await expect(said(player.url, request("Nothing is left."))).rejects.toThrow(/501|engineer-alex-03/);
  });
});

describe("shares of a run's prompts", () => {
  const long = (word: string): string => Array.from({ length: 50 }, (_, n) => `${word} ${n}`).join("\n");

  it("a prompt that goes on from an earlier one is cacheable up to there, and that part is not paid again", () => {
    const bodies = [asked("a", long("one")), { messages: [...asked("a", long("one")).messages, { role: "user", content: "more" }] }];
    expect(cacheableShare(bodies)).toBeGreaterThan(0.4);
    const { repeated, paid } = repeatedShares(bodies);
    expect(repeated).toBeGreaterThan(0.4);
    expect(paid).toBeLessThan(0.05);
  });

  it("a repeat behind something new is paid again", () => {
    const { repeated, paid } = repeatedShares([asked("a", long("one")), asked("b", long("one"))]);
    expect(repeated).toBeGreaterThan(0.4);
    expect(paid).toBeGreaterThan(0.4);
  });
});
