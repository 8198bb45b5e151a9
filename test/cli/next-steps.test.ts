import { describe, expect, it } from "vitest";
import { nextSteps } from "../../src/cli/report.ts";

const facts = { short: "mabc1234", store: { option: "" }, budget: 3_000_000, isForced: false };
const questions = [
  { id: "abcdef01", role: "Bob", text: "?" },
  { id: "abcdef99", role: "Eve", text: "?" },
];

describe("nextSteps", () => {
  it("of a run that is finished are none", () => {
    expect(nextSteps({ status: "finished", questions: [] }, facts)).toEqual({ answers: [] });
  });

  it("of any other go on with it, where and how it was begun", () => {
    expect(nextSteps({ status: "rounds", questions: [] }, facts).goOn).toBe("troupe resume mabc1234");
    expect(nextSteps({ status: "stopped", questions: [] }, { ...facts, isForced: true }).goOn).toBe("troupe resume mabc1234 --force");
    expect(nextSteps({ status: "failed", questions: [] }, { ...facts, store: { option: " --store x.db" } }).goOn).toBe(
      "troupe resume mabc1234 --store x.db",
    );
    expect(nextSteps({ status: "stopped", questions: [] }, { ...facts, short: "a b" }).goOn).toBe("troupe resume 'a b'");
  });

  it("of one that ran out of money raise its budget", () => {
    expect(nextSteps({ status: "budget", questions: [] }, facts).goOn).toBe("troupe resume mabc1234 --budget 6");
    expect(nextSteps({ status: "budget", questions: [] }, { ...facts, budget: 50_000 }).goOn).toBe("troupe resume mabc1234 --budget 0.1");
    expect(nextSteps({ status: "budget", questions: [] }, { ...facts, budget: undefined }).goOn).toBe("troupe resume mabc1234");
  });

  it("of one that waits answer each question by letters that no other has", () => {
    expect(nextSteps({ status: "waiting", questions }, facts).answers).toEqual([
      'troupe answer mabc1234 abcdef0 "..."',
      'troupe answer mabc1234 abcdef9 "..."',
    ]);
    expect(nextSteps({ status: "waiting", questions: questions.slice(0, 1) }, facts).answers).toEqual([
      'troupe answer mabc1234 abcd "..."',
    ]);
  });
});
