import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTestReport } from "../../src/workspace/test-report.ts";

const lines = (...entries: readonly object[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

describe("readTestReport", () => {
  it("trusts the end for the counts", () => {
    const report = readTestReport(lines({ type: "passed" }, { type: "end", passed: 7, failed: 0, skipped: 2 }));
    expect(report).toMatchObject({ isComplete: true, passed: 7, failed: 0, skipped: 2 });
  });

  it("counts what was heard when the end is missing", () => {
    const failure = { name: "adds", file: "a.test.mjs", message: "1 != 2" };
    const report = readTestReport(lines({ type: "passed" }, { type: "skipped" }, { type: "failed", ...failure }, { type: "passed" }));
    expect(report).toMatchObject({ isComplete: false, passed: 2, failed: 1, skipped: 1, failures: [failure] });
  });

  it("counts a file without tests as failed", () => {
    const report = readTestReport(lines({ type: "empty", file: "a.test.mjs" }, { type: "end", passed: 1, failed: 0, skipped: 0 }));
    expect(report).toMatchObject({ passed: 1, failed: 1, failures: [{ name: "a.test.mjs", file: "a.test.mjs" }] });
  });

  it("takes TAP, prose and cut lines for nothing", () => {
    const report = readTestReport(`TAP version 13\nok 1 - all\n1..1\n# pass 1\n${lines({ type: "passed" })}{"type":"end","pas`);
    expect(report).toMatchObject({ isComplete: false, passed: 1, failed: 0 });
  });

  it("takes colours and control characters out, and keeps line breaks", () => {
    const report = readTestReport(
      lines({ type: "failed", name: "\u001b[31mred\u0007", file: "a", message: "\u001b[31m- 1\u001b[0m\n\t+ 2\u0000" }),
    );
    expect(report.failures).toEqual([{ name: "\\u{1b}[31mred\\u{7}", file: "a", message: "- 1\n\t+ 2" }]);
  });

  it("stays within its bounds", () => {
    const many = Array.from({ length: 500 }, () => ({ type: "failed", name: "n", file: "f", message: "m" }));
    const report = readTestReport(lines(...many, ...Array.from({ length: 20 }, () => ({ type: "output", text: "x".repeat(4000) }))));
    expect(report.failures.length).toBe(100);
    expect(report.failed).toBe(500);
    expect(report.output.length).toBe(16_000);
  });

  it("reads any text without failing", () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.json().map((json) => `{"type":${json}}`),
    );
    fc.assert(
      fc.property(fc.array(anything), (texts) => {
        const report = readTestReport(texts.join("\n"));
        expect(report.passed).toBeGreaterThanOrEqual(0);
        expect(report.output).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });
});
