import { describe, expect, it } from "vitest";
import type { ResultReport } from "../../../src/cli/report.ts";
import { checksText } from "../../../src/cli/delivery.ts";
import { type SummaryFacts, summaryLines } from "../../../src/cli/screen/summary.ts";
import { styleFor } from "../../../src/cli/screen/text.ts";
import { titled } from "../../titled.ts";

const report = {
  type: "result",
  by: "company",
  status: "finished",
  exitCode: 0,
  runId: "run",
  rounds: 9,
  out: "/home/me/workspace/2048",
  files: ["README.md", "docs/prd/game.md", "index.html", "src/game.js", "tests/game.test.mjs"],
  tests: { tests: "passed", total: 12, passed: 12, failed: 0 },
  usage: { inputTokens: 12_345, outputTokens: 6_789, cachedTokens: 0, estimated: false },
  cost: { known: 12_300, unpriced: 0, worstCase: 0, uncertain: 0, text: "$0.0123" },
  byRole: {},
  byModel: {},
  isScripted: false,
  deadLetters: 0,
  failures: [],
  store: "/home/me/.troupe/runs.db",
  questions: [],
} as unknown as ResultReport;
const facts: SummaryFacts = {
  style: styleFor(false),
  width: Infinity,
  folder: "workspace/2048",
  run: "mabc1234",
  roundLimit: 20,
  budget: 3_000_000,
  modelId: "gpt-5-mini",
  price: { input: 0.25, output: 2 },
  age: 42_000,
  warnings: new Map(),
  warningsIn: undefined,
};

function told(o: Partial<ResultReport> = {}, f: Partial<SummaryFacts> = {}): string {
  return summaryLines({ ...report, ...o }, { ...facts, ...f }).join("\n");
}

function row(label: string, o: Partial<ResultReport> = {}, f: Partial<SummaryFacts> = {}): string | undefined {
  return told(o, f)
    .split("\n")
    .find((line) => line.trimStart().startsWith(label))
    ?.trim();
}

describe("summaryLines", () => {
  it("says where the project is, how its tests went, what it cost, and what to do next", () => {
    expect(told()).toMatchInlineSnapshot(`
      "Done.

        Project  workspace/2048 (5 files)
        Tests    12 passed
        Cost     $0.0123
        Tokens   12,345 in, 6,789 out
        Rounds   9 of 20, in 0:42
        Run      mabc1234
        Open     workspace/2048/index.html
        Read     workspace/2048/README.md
        Test     cd workspace/2048 && node --test"
    `);
  });

  it("prints the distinct warnings that were not shown, five at most where the others are kept in a file", () => {
    const warnings = new Map(Array.from({ length: 7 }, (_, nth) => [`about ${nth}`, nth + 1]));
    expect(
      told({}, { warnings: new Map([["about\u001b[2J it", 2]]) })
        .split("\n")
        .at(-1),
    ).toBe("  about\\u{1b}[2J it (2 times)");
    expect(told({}, { warnings }).match(/about \d/g)).toHaveLength(7);
    const kept = told({}, { warnings, warningsIn: "/home/me/.troupe/runs.db-warnings/run.log" });
    expect(kept.match(/about \d/g)).toHaveLength(5);
    expect(kept).toContain("and 2 other warnings, see: /home/me/.troupe/runs.db-warnings/run.log");
  });

  it("names the project as its product manager does, and the folder where it has another name", () => {
    const named = { name: "number-game", out: "/home/me/workspace/2048" };
    expect(told(named).split("\n")[0]).toBe("number-game is done.");
    expect(row("Project", named)).toBe("Project  number-game, in workspace/2048 (5 files)");
    expect(row("Project", { ...named, name: "2048" })).toBe("Project  workspace/2048 (5 files)");
    expect(told({ ...named, exitCode: 6 }).split("\n")[0]).toBe("number-game is not done: the company did not come as far as a delivery.");
    expect(told({ ...named, name: "a\u001b[2J" })).not.toContain("\u001b");
  });

  it.each<[string, Partial<ResultReport>, string]>([
    ["known", {}, "Cost     $0.0123"],
    [
      "unknown",
      { cost: { known: 0, unpriced: 3, worstCase: 0, uncertain: 0, text: "$?" } },
      "Cost     $? (the price of gpt-5-mini is not known: --price in,out)",
    ],
    [
      "partly of calls that were cut short",
      { cost: { known: 12_300, unpriced: 0, worstCase: 300, uncertain: 0, text: "$0.0123" } },
      "Cost     $0.0123 at most: $0.0003 of it is for calls that were cut short and are counted in full",
    ],
    [
      "only of calls that were cut short",
      { cost: { known: 12_300, unpriced: 0, worstCase: 12_300, uncertain: 0, text: "$0.0123" } },
      "Cost     $0.0123 at most: all of it is for calls that were cut short and are counted in full",
    ],
  ])("tells a cost that is %s", (_what, o, line) => {
    expect(row("Cost", o)).toBe(line);
  });

  it.each(
    titled<[Partial<ResultReport>, string]>([
      [{ tests: null }, "Tests    not run: the company did not come that far"],
      [{ tests: { tests: "failed", total: 12, passed: 10, failed: 2 } }, "Tests    2 of 12 failed"],
      [
        { tests: { tests: "failed", total: 12, passed: 8, failed: 4, failures: ["a", "b\u001b[2J", "c", "d"].map((name) => ({ name })) } },
        "Tests    4 of 12 failed: a; b\\u{1b}[2J; c ...",
      ],
      [{ tests: { tests: "none", total: 0, passed: 0, failed: 0 } }, "Tests    there are none"],
      [
        { tests: { tests: "not run", total: 0, passed: 0, failed: 0, hint: "bubblewrap is not installed. Install it.\u001b[2J" } },
        "Tests    not run. bubblewrap is not installed. Install it.\\u{1b}[2J",
      ],
    ]),
  )("tells the tests of %s", (_case, o, line) => {
    expect(row("Tests", o)).toBe(line);
  });

  it.each(
    titled<[Partial<ResultReport>, string]>([
      [{}, "Done."],
      [{ tests: { tests: "failed", total: 2, passed: 1, failed: 1 } }, "The project is written, but its tests fail."],
      [
        { status: "rounds" },
        "Stopped after 20 rounds, before the company was through. What was written is kept. Give it more with --rounds.",
      ],
      [{ status: "budget" }, "Stopped before the budget of $3.00 would be passed. What was written is kept. Raise it with --budget."],
      [
        { status: "budget", cost: { known: 3_000_001, unpriced: 0, worstCase: 0, uncertain: 0, text: "$3.0000" } },
        "Stopped, for more than the budget of $3.00 is spent. What was written is kept. Raise it with --budget.",
      ],
      [{ status: "waiting" }, "A person must answer first. What was written is kept."],
      [
        { status: "stopped", error: { code: "ABORTED", message: "Stopped: Ctrl-C was pressed." } },
        "Stopped: Ctrl-C was pressed. What was written is kept.",
      ],
      [{ status: "stopped", files: [] }, "Stopped. Nothing was written yet."],
      [{ status: "failed" }, "Failed. What was written is kept."],
    ]),
  )("begins for %s", (_case, o, line) => {
    expect(told(o).split("\n")[0]).toBe(line);
  });

  it("tells how to open and test only what is there", () => {
    expect(row("Open", { files: ["app.mjs"] })).toBeUndefined();
    expect(row("Read", { files: ["app.mjs"] })).toBeUndefined();
    expect(row("Test ", { files: ["app.mjs"] })).toBeUndefined();
    expect(row("Open", { files: ["public/index.html"] })).toBe("Open     workspace/2048/public/index.html");
  });

  it("tells how the run goes on, and what it asks", () => {
    const question = { id: "abcd1234", role: "Bob", text: "Which\u001b[2J colour?", answer: 'troupe answer mabc1234 abcd "..."' };
    const lines = told({ status: "waiting", goOn: "troupe resume mabc1234", questions: [question] })
      .split("\n")
      .slice(-3);
    expect(lines.map((line) => line.trim())).toEqual([
      "Asks     Bob: Which\\u{1b}[2J colour?",
      'Answer   troupe answer mabc1234 abcd "..."',
      "Go on    troupe resume mabc1234",
    ]);
  });

  it("names the activations that failed, also of a run that finished, and no more than five", () => {
    const failed = (nth: number) => ({ role: "Ben", act: `Ben#${nth}~3`, attempt: 3, code: "ACTION_FAILED", message: "no\u001b[2J fish" });
    expect(row("Failed", { failures: [failed(0)] })).toBe(String.raw`Failed   Ben#0~3: no\u{1b}[2J fish (ACTION_FAILED), after 3 attempts`);
    const all = told({ failures: Array.from({ length: 7 }, (_, nth) => failed(nth)) });
    expect(all.match(/Ben#/g)).toHaveLength(5);
    expect(all).toContain("2 activations before these");
  });
});

describe("checksText", () => {
  const verdict = (id: string, outcome: string, evidence = "") => ({ id, priority: "P0", outcome, by: "command", evidence });

  it("is green only when all is proven, and says why nothing was run", () => {
    expect(checksText({ verdicts: [verdict("A1", "proven")], suites: [], faults: [] })).toEqual({ isGreen: true, text: "1 of 1 proven" });
    expect(checksText({ verdicts: [verdict("A1", "judged")], suites: [], faults: [] })?.isGreen).toBe(false);
    expect(checksText({ verdicts: [], suites: [], faults: [], notChecked: "no\u001b[2J sandbox" })).toEqual({
      isGreen: false,
      text: "not checked: no\\u{1b}[2J sandbox",
    });
  });

  it("says why tests were not run, which a run does before its first call", () => {
    const reason =
      "The sandbox has no pytest, which these tests need. Install it, on Debian and Ubuntu with: apt-get install python3-pytest";
    const suite = { language: "python", kind: "not run", total: 0, passed: 0, failed: 0, skipped: 0, reason };
    expect(checksText({ verdicts: [], suites: [suite], faults: [] })).toEqual({
      isGreen: false,
      text: `tests in python: not run, ${reason}`,
    });
  });
});
