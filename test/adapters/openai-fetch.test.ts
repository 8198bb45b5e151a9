import { describe, expect, it } from "vitest";
import { carryOut, saidIn, Unanswered } from "../../src/adapters/openai-server.ts";
import { errorOf } from "../model/call-setup.ts";

/** What a server said, as its refusal is read. */
async function heard(status: number, body: string | ReadableStream, headers: Record<string, string> = {}): Promise<unknown> {
  const refusal = await errorOf(carryOut(() => Promise.resolve(new Response(body, { status, headers })), "http://x"));
  return saidIn(refusal, { model: "m", mask: (text) => text, now: 0, began: false, hasSchema: false });
}

describe("carryOut", () => {
  it("lets answers pass as they are", async () => {
    const response = new Response("body", { status: 200 });
    expect(await carryOut(() => Promise.resolve(response), "http://x")).toBe(response);
  });

  it.each<[string, string, string]>([
    ["under error", '{"error":{"message":"m"}}', "m"],
    ["as a string under error", '{"error":"m"}', "m"],
    ["at the top, as older vLLM", '{"object":"error","message":"m","code":400}', "m"],
    ["under detail, as FastAPI", '{"detail":"m"}', "m"],
    ["under detail, in a list", '{"detail":[{"loc":["body","stop"],"msg":"m"}]}', "body.stop: m"],
    ["in a list of one, as Gemini", '[{"error":{"message":"m"}}]', "m"],
    ["anywhere else", '{"oops":1}', '{"oops":1}'],
    ["as a page", "<html>", "<html>"],
    ["as a bare string", '"m"', "m"],
    ["nowhere", "", "no explanation"],
  ])("finds the complaint %s", async (_where, body, message) => {
    expect(await heard(400, body)).toMatchObject({ status: 400, message });
  });

  it("keeps the status, the request and the time to wait", async () => {
    expect(await heard(429, "{}", { "retry-after": "7", "x-request-id": "r" })).toMatchObject({
      status: 429,
      retryAfterMs: 7_000,
      requestId: "r",
    });
  });

  it("a body that breaks is an empty one: the status still counts", async () => {
    const broken = new ReadableStream({ start: (controller) => controller.error(new TypeError("terminated")) });
    expect(await heard(503, broken)).toMatchObject({ status: 503, message: "no explanation" });
  });

  it("hides why fetch failed from the client, but not an abort", async () => {
    const reason = new TypeError("fetch failed", { cause: new Error("Connect Timeout Error") });
    const failing: typeof fetch = () => Promise.reject(reason);
    const hidden = await errorOf(carryOut(failing, "http://x"));
    expect(hidden).toBeInstanceOf(Unanswered);
    expect((hidden as unknown as Unanswered).reason).toBe(reason);
    expect(String(hidden)).not.toMatch(/time ?out/i);
    expect(await errorOf(carryOut(failing, "http://x", { signal: AbortSignal.abort() }))).toBe(reason);
  });
});
