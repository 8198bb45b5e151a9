import { describe, expect, it } from "vitest";
import { carryOut, Unanswered } from "../../src/adapters/openai-server.ts";
import { errorOf } from "../model/call-setup.ts";

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): typeof fetch =>
  () =>
    Promise.resolve(new Response(body, { status, headers }));

const said = async (body: string, status = 400): Promise<unknown> => {
  const text = await (await carryOut(answering(status, body), "http://x")).text();
  return text.startsWith("{") ? (JSON.parse(text) as unknown) : text;
};

describe("carryOut", () => {
  it("lets answers pass as they are", async () => {
    const response = new Response("body", { status: 200 });
    expect(await carryOut(() => Promise.resolve(response), "http://x")).toBe(response);
  });

  it.each<[string, string, unknown]>([
    ["under error, where the client looks", '{"error":{"message":"m"}}', { error: { message: "m" } }],
    ["at the top, as older vLLM", '{"object":"error","message":"m","code":400}', { error: { object: "error", message: "m", code: 400 } }],
    ["under detail, as FastAPI", '{"detail":"m"}', { error: { detail: "m", message: "m" } }],
    ["under detail, in a list", '{"detail":[{"msg":"m"}]}', { error: { detail: [{ msg: "m" }], message: '[{"msg":"m"}]' } }],
    ["anywhere else", '{"oops":1}', { error: { oops: 1, message: '{"oops":1}' } }],
    ["as a page", "<html>", "<html>"],
    ["as a bare string", '"m"', '"m"'],
    ["nowhere", "", ""],
  ])("finds the complaint %s", async (_where, body, expected) => {
    expect(await said(body)).toEqual(expected);
  });

  it("keeps status and headers, but not those that described the bytes", async () => {
    const response = await carryOut(
      answering(429, "{}", { "retry-after": "7", "content-encoding": "gzip", "content-length": "99", "x-request-id": "r" }),
      "http://x",
    );
    expect(response.status).toBe(429);
    expect(["retry-after", "x-request-id", "content-encoding", "content-length"].map((name) => response.headers.get(name))).toEqual([
      "7",
      "r",
      null,
      null,
    ]);
  });

  it("a body that breaks is an empty one: the status still counts", async () => {
    const broken = new ReadableStream({
      start(controller) {
        controller.error(new TypeError("terminated"));
      },
    });
    const response = await carryOut(() => Promise.resolve(new Response(broken, { status: 503 })), "http://x");
    expect([response.status, await response.text()]).toEqual([503, ""]);
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
