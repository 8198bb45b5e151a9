import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readPageRecord } from "../../src/checks/page-record.ts";
import { tries } from "../long.ts";

const NONCE = "0123456789abcdef0123456789abcdef";
const told = (...events: object[]): string => events.map((event) => `${NONCE} ${JSON.stringify(event)}\n`).join("");
const result = { kind: "result", id: "A1", outcome: "proven", evidence: "1 steps: open" };

describe("readPageRecord", () => {
  it("reads what the driver told, and which criterion it was at", () => {
    const record = readPageRecord(
      told({ kind: "started", means: "x" }, { kind: "begun", id: "A1" }, result, { kind: "begun", id: "A2" }),
      NONCE,
    );
    expect(record).toMatchObject({
      means: "x",
      begun: "A2",
      isDone: false,
      results: [{ id: "A1", outcome: "proven", errors: [], notes: [] }],
    });
    expect(readPageRecord(told(result, { kind: "done" }), NONCE)).toMatchObject({ begun: undefined, isDone: true });
  });

  it("reads no line without the nonce, and none of another form", () => {
    const lines = [
      JSON.stringify(result),
      ` ${NONCE} ${JSON.stringify(result)}`,
      `${"f".repeat(32)} ${JSON.stringify(result)}`,
      `${NONCE} ${JSON.stringify({ ...result, outcome: "judged" })}`,
      `${NONCE} ${JSON.stringify({ ...result, evidence: "x".repeat(5000) })}`,
      `${NONCE} {`,
    ];
    expect(readPageRecord(lines.join("\n"), NONCE).results).toEqual([]);
  });

  it("never throws, and takes nothing from a page that does not know the nonce", { tags: "numbers" }, () => {
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constant(JSON.stringify(result)),
      fc.constant(`${"f".repeat(32)} ${JSON.stringify(result)}`),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        fc.pre(!lines.join("\n").includes(NONCE));
        expect(readPageRecord(lines.join("\n"), NONCE)).toMatchObject({ results: [], isDone: false, opened: undefined });
      }),
      { numRuns: tries(100, 2_000) },
    );
  });
});
