import { describe, expect, it } from "vitest";
import { nextSteps, type ReportFacts, resultReport } from "../../src/cli/report.ts";
import { BudgetError, ModelError, WaitingError } from "../../src/kernel/errors.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { word } from "./recorded-run.ts";

const result: RunResult = {
  runId: "run",
  status: "finished",
  rounds: 7,
  messages: [],
  output: undefined,
  outputs: [],
  deadLetters: [],
  failures: [],
  dropped: 0,
  unread: 0,
  tick: 0,
  usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 0, estimated: false },
  cost: { known: 1_234 as MicroUsd, unpriced: 0 },
  byRole: {
    Alice: {
      usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 0, estimated: false },
      cost: { known: 1_234 as MicroUsd, unpriced: 0 },
    },
  },
  byModel: {},
  uncertain: 0,
  questions: [],
};
const facts: ReportFacts = {
  out: "/project",
  files: ["a.js"],
  isScripted: false,
  by: "company",
  worstCase: 0,
  proves: false,
  interruption: undefined,
  describe: (error) => ({ code: (error as ModelError).code, message: "told" }),
  store: "/home/me/.troupe/runs.db",
  next: { answers: [] },
};
const verdict = { tests: "passed", round: 0, total: 3, passed: 3, failed: 0, failures: [] };

describe("resultReport", () => {
  it("is plain JSON that says what came of the run", () => {
    const report = resultReport({ ...result, messages: [word("RunTests", verdict)] }, facts);
    expect(JSON.parse(JSON.stringify(report))).toEqual({
      type: "result",
      status: "finished",
      by: "company",
      exitCode: 0,
      runId: "run",
      rounds: 7,
      out: "/project",
      files: ["a.js"],
      tests: verdict,
      usage: result.usage,
      cost: { known: 1_234, unpriced: 0, worstCase: 0, uncertain: 0, text: "$0.0012" },
      byRole: result.byRole,
      byModel: {},
      isScripted: false,
      deadLetters: 0,
      failures: [],
      store: "/home/me/.troupe/runs.db",
      questions: [],
    });
  });

  it("carries the error in safe words, and facts a program needs", () => {
    const error = new WaitingError({ questionId: "q", question: "Which colour?", role: "Bob" });
    expect(resultReport({ ...result, status: "waiting", error }, facts)).toMatchObject({
      exitCode: 5,
      error: { code: "WAITING", message: "told", data: { questionId: "q", question: "Which colour?" } },
    });
    const budget = new BudgetError({ needed: 3, left: 1, budget: 2 });
    expect(resultReport({ ...result, status: "budget", error: budget }, facts)).toMatchObject({
      exitCode: 3,
      error: { data: { needed: 3 } },
    });
  });

  it("keeps what an error was made of to itself otherwise: it may hold a whole reply", () => {
    const error = new ModelError("MODEL_AUTH", "x", { data: { text: "secret reply" } });
    expect(resultReport({ ...result, status: "failed", error }, facts)).toMatchObject({
      exitCode: 7,
      error: { code: "MODEL_AUTH", message: "told" },
    });
    expect(JSON.stringify(resultReport({ ...result, status: "failed", error }, facts))).not.toContain("secret reply");
  });

  it("takes no delivery for an answer to what a user said after it", () => {
    const verification = { verdicts: [], suites: [], faults: [] };
    const base = { kind: "delivery", name: "adder", size: "S", stack: "node", isDone: true, verification };
    const delivery = { ...base, complaints: [], assumptions: [], summary: "An adder.", round: 0 };
    const told = { ...word("Verify", delivery), sentFrom: "Vera" };
    const proving = { ...facts, proves: true };
    expect(resultReport({ ...result, messages: [word("UserRequirement"), told] }, proving)).toMatchObject({ exitCode: 0, delivery });
    const later = resultReport({ ...result, messages: [word("UserRequirement"), told, word("UserFeedback")] }, proving);
    expect([later.exitCode, later.delivery]).toEqual([6, undefined]);
  });
});

const asked = { short: "mabc1234", store: { option: "" }, budget: 3_000_000, isForced: false };
const questions = [
  { id: "abcdef01", role: "Bob", text: "?" },
  { id: "abcdef99", role: "Eve", text: "?" },
];

describe("nextSteps", () => {
  it("of any other go on with it, where and how it was begun", () => {
    expect(nextSteps({ status: "rounds", questions: [] }, asked).goOn).toBe("troupe resume mabc1234");
    expect(nextSteps({ status: "stopped", questions: [] }, { ...asked, isForced: true }).goOn).toBe("troupe resume mabc1234 --force");
    expect(nextSteps({ status: "failed", questions: [] }, { ...asked, store: { option: " --store x.db" } }).goOn).toBe(
      "troupe resume mabc1234 --store x.db",
    );
    expect(nextSteps({ status: "stopped", questions: [] }, { ...asked, short: "a b" }).goOn).toBe("troupe resume 'a b'");
  });

  it("of one that waits answer each question by letters that no other has", () => {
    expect(nextSteps({ status: "waiting", questions }, asked).answers).toEqual([
      'troupe answer mabc1234 abcdef0 "..."',
      'troupe answer mabc1234 abcdef9 "..."',
    ]);
    expect(nextSteps({ status: "waiting", questions: questions.slice(0, 1) }, asked).answers).toEqual([
      'troupe answer mabc1234 abcd "..."',
    ]);
  });
});
