import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answerOf, BROKEN_TEXT, piecesOf, refusalOf, type StubFault, textOf } from "../../src/testing/stub-reply.ts";

const request = { model: "m", authorization: "Bearer key" };

/** Every fault there is, once. */
const faults: StubFault[] = [
  { fault: "cut" },
  { fault: "stall" },
  { fault: "reset" },
  { fault: "stream-error" },
  { fault: "rate-limit" },
  { fault: "quota" },
  { fault: "unauthorized" },
  { fault: "not-found" },
  { fault: "context-overflow" },
  { fault: "format-unsupported" },
  { fault: "server-error" },
  { fault: "status", status: 418 },
  { fault: "bad-json" },
  { fault: "wrong-shape" },
  { fault: "empty-choices" },
  { fault: "no-usage" },
  { fault: "length" },
  { fault: "refusal" },
  { fault: "content-filter" },
  { fault: "empty" },
  { fault: "duplicate-chunk" },
  { fault: "text-after-end" },
];

describe("a stub's reply", () => {
  it.each(faults)("$fault is told by an answer, by a refusal, or by how the answer breaks: never by two of them", (fault) => {
    const ways = [answerOf(fault), refusalOf(fault, request)].filter((way) => way !== undefined);
    expect(ways.length).toBeLessThanOrEqual(1);
  });

  it("property: the pieces of an answer are its text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => {
        expect(piecesOf({ text }).join("")).toBe(text);
      }),
    );
  });

  it("property: given pieces are the text of a whole reply too", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (chunks) => {
        expect(textOf({ chunks })).toBe(chunks.join(""));
        expect(piecesOf({ chunks, text: "something else" })).toBe(chunks);
      }),
    );
  });

  it("a string is an answer", () => {
    expect(answerOf("Hi")).toEqual({ text: "Hi" });
    const given = { text: "Hi", usage: null };
    expect(answerOf(given)).toBe(given);
  });

  it("a fault breaks the text it is given, or one that was going well", () => {
    expect(answerOf({ fault: "length" })).toEqual({ text: BROKEN_TEXT, finishReason: "length" });
    expect(answerOf({ fault: "length", text: "mine" })).toEqual({ text: "mine", finishReason: "length" });
  });

  it("a refusal is JSON as the real server sends it, unless it is told otherwise", () => {
    for (const fault of faults) {
      const refused = refusalOf(fault, request);
      if (refused === undefined || fault.fault === "status") continue;
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(JSON.parse(refused.body)).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } });
    }
    expect(refusalOf({ fault: "status", status: 200, body: "<html>", headers: { "content-type": "text/html" } }, request)).toEqual({
      status: 200,
      headers: { "content-type": "text/html" },
      body: "<html>",
    });
  });

  it("asks to wait in the words it is given", () => {
    const refused = refusalOf({ fault: "rate-limit", retryAfter: "7", retryAfterMs: "50", date: "Fri, 20 Nov 2026 10:00:00 GMT" }, request);
    expect(refused?.headers).toMatchObject({ "retry-after": "7", "retry-after-ms": "50", date: "Fri, 20 Nov 2026 10:00:00 GMT" });
    expect(refusalOf({ fault: "rate-limit" }, request)?.headers).not.toHaveProperty("retry-after");
  });
});
