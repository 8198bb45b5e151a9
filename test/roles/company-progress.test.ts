import { beforeEach, describe, expect, it, vi } from "vitest";
import { continuedWork } from "../../roles/company/software-company.ts";
import { type Delivery, softwareCompany } from "../../roles/index.ts";
import type { Verifier } from "../../src/checks/index.ts";
import { type ChatRequest, memoryJournal, Team } from "../../src/index.ts";
import { type Clock, systemClock } from "../../src/kernel/clock.ts";
import type { ScriptedReply } from "../../src/testing/index.ts";
import { openWorkspace } from "../../src/workspace/index.ts";
import { someOf } from "../long.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { accepted, adding, brief, calling, criteria, RIGHT, roleIn, roleModel, test as written, WRONG } from "./adder.ts";
import { NO_ZERO, readAdder } from "./adder-reader.ts";
import { done, files, rest, sandbox, type Tried, whole, work as tried } from "./company-trial.ts";

const work: typeof tried = (script, options, ...more) => tried(script, { verify: readAdder, ...options }, ...more);
const of = ({ calls }: Tried, name: string): readonly ChatRequest[] => calls.filter((request) => roleIn(request) === name);
const lastIn = (request: ChatRequest | undefined): string => String(request?.messages.at(-1)?.content);
const writes = (body: string): ScriptedReply => calling(files(adding(body)), done);

const cut: ScriptedReply = { content: "I would", finishReason: "length" };
const unread: ScriptedReply = {
  content: "",
  toolCalls: [{ id: "c", type: "function", function: { name: "write_files", arguments: "{{" } }],
  finishReason: "tool_calls",
};
const absent = calling(["editor", { command: "view", path: "src/none.mjs" }]);
const slips: readonly ScriptedReply[] = ["I am done.", cut, unread, absent];

describe("the work of an engineer of a small product", () => {
  it("WorkLog.L1 is not ended by slips of form, nor by a number of steps", async () => {
    const bodies = [WRONG, "return 4;", "return a * b;", "return b - a;", "return 6;"];
    const red = bodies.flatMap((body, n): readonly ScriptedReply[] => [...slips, n === 0 ? calling(whole(body), done) : writes(body)]);
    const { delivery } = await work({ ...rest, Alex: [...red, writes(RIGHT)] });
    expect(delivery).toMatchObject({ isDone: true, round: 0 });
  });

  it("ends after ten slips in a row, and the delivery says why", async () => {
    const { result, delivery } = await work({ ...rest, Alex: [...slips, ...slips, ...slips].slice(0, 10) });
    expect(result.status).toBe("finished");
    expect(delivery).toMatchObject({ isDone: false, reason: expect.stringContaining("10 replies in a row") });
  });

  it("ends when the same failure comes a third time, after another approach was asked for", async () => {
    const alex = [calling(whole(WRONG), done), writes(`${WRONG} `), writes(`${WRONG}  `)];
    const trial = await work({ ...rest, Alex: alex });
    expect(lastIn(of(trial, "Alex")[2])).toContain("Change the strategy");
    expect(trial.delivery).toMatchObject({ isDone: false, reason: expect.stringMatching(/third time.*A1/) });
  });

  it("ends when nothing changes", async () => {
    const { delivery } = await work({ ...rest, Alex: [calling(whole(WRONG), done), calling(done), calling(done)] });
    expect(delivery).toMatchObject({ isDone: false, reason: expect.stringContaining("Nothing changed") });
  });

  it("ends at two million tokens where no budget binds", async () => {
    const costly = (reply: ScriptedReply, inputTokens: number): ScriptedReply => ({
      ...(reply as object),
      usage: { inputTokens, outputTokens: 0 },
    });
    const { delivery } = await work({
      ...rest,
      Alex: [costly(calling(whole(WRONG), done), 1_000_000), costly(writes("return 4;"), 1_000_000)],
    });
    expect(delivery).toMatchObject({ isDone: false, reason: expect.stringContaining("2000000 tokens") });
  });
});

describe("the work of a company without a budget", () => {
  it("ends after two hours of its clock, however much happens in them", async () => {
    const workspace = await openWorkspace({ root: scratchFolder(), git: false });
    let passed = 0;
    // No call is slow; the time passes between them.
    const clock: Clock = { now: () => passed, timer: (ms, fire) => systemClock.timer(ms, fire) };
    const Alex = [calling(whole(WRONG), done), writes("return 4;"), writes("return a * b;")];
    const model = roleModel({ ...rest, Alex }, (request) => (passed += roleIn(request) === "Alex" ? 3_000_000 : 0));
    const team = new Team({ roles: softwareCompany({ workspace, sandbox, verify: readAdder }), model, clock, journal: memoryJournal() });
    const { output } = await team.run("A command that adds two numbers").result;
    expect(output?.instructContent).toMatchObject({ isDone: false, reason: expect.stringContaining("150 minutes") });
  });
});

describe("a reply that hands back two checks", () => {
  const wrong = criteria.map((criterion) => ({
    ...criterion,
    check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: criterion.id === "A1" ? "6" : "7" } }] },
  }));
  const dispute = (criterion: string) => ["dispute_check", { criterion, why: `it expects what no one said of ${criterion}` }] as const;
  const answer = (at: number) => JSON.stringify({ reasons: "It is 5.", isWrong: true, check: criteria[at]?.check });
  const Alex = [calling(whole(RIGHT), done), calling(dispute("A1"), dispute("A2"), done)];

  it("WorkLog.L2 loses neither, and the work is not charged with them", async () => {
    const trial = await work({ ...rest, Alice: [brief("S", { criteria: wrong }), answer(0), answer(1)], Alex: [...Alex, calling(done)] });
    expect(trial.delivery).toMatchObject({ isDone: true, round: 0 });
    const decided = of(trial, "Alice")
      .map(lastIn)
      .filter((text) => text.includes("# Reconsider"));
    expect(decided).toEqual([expect.stringContaining("no one said of A1"), expect.stringContaining("no one said of A2")]);
  });

  it("shows again what failed, once there is an answer", async () => {
    const no = JSON.stringify({ reasons: "It stays.", isWrong: false });
    const gives = calling(["give_up", { why: "It expects 7." }]);
    const trial = await work({ ...rest, Alice: [brief("S", { criteria: wrong }), answer(0), no], Alex: [...Alex, gives] });
    const [, , third] = of(trial, "Alex");
    expect(String(third?.messages[1]?.content)).toMatch(/Your checks had found:\s+FAILED A1[^]*FAILED A2/);
    expect(trial.delivery).toMatchObject({ isDone: false, reason: "It expects 7." });
  });
});

describe("a call behind the one that ends the work", () => {
  it("is reported as not made, with the reason", async () => {
    const { result } = await work({ ...rest, Alex: [calling(whole(RIGHT), done, files(adding(WRONG)))] });
    const reports = result.messages.map(({ instructContent }) => instructContent as { readonly notRun?: readonly string[] } | undefined);
    expect(reports.flatMap((report) => report?.notRun ?? [])).toEqual([expect.stringMatching(/^write_files: .*ended the work/)]);
  });
});

const complaint = {
  text: "It fails on zero.",
  check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "0", "0"], stdout: { equals: "0" } }] },
};
const judged = { ...criteria[1], id: "A3", check: { kind: "judgement", reason: "taste" } };
const objecting = JSON.stringify({
  reasons: "Zero.",
  judgements: [{ id: "A3", reason: "it reads well", holds: true }],
  complaints: [complaint],
  accepts: false,
});

describe("an objection that is proven", () => {
  it("is repaired also after a check was corrected, and the opinions of the review survive", async () => {
    const wrong = {
      ...criteria[0],
      check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: "6" } }] },
    };
    const answer = JSON.stringify({ reasons: "It is 5.", isWrong: true, check: criteria[0]?.check });
    const dispute = calling(["dispute_check", { criterion: "A1", why: "2 and 3 are 5." }]);
    const { delivery } = await work({
      Alice: [brief("S", { criteria: [wrong, judged] }), answer],
      Alex: [calling(whole(NO_ZERO), done), dispute, calling(done), writes(RIGHT)],
      Vera: [objecting, accepted],
    });
    expect(delivery).toMatchObject({ isDone: true, round: 1 });
    expect(delivery.verification.verdicts.find(({ id }) => id === "A3")).toMatchObject({
      outcome: "judged",
      evidence: "It holds: it reads well",
    });
  });

  it("is not repaired more often than the user allows, and the delivery says so", async () => {
    const script = { ...rest, Alex: [calling(whole(NO_ZERO), done)], Vera: [objecting] };
    const { delivery } = await work(script, { rounds: { S: 0 } });
    expect(delivery).toMatchObject({ isDone: false, reason: expect.stringContaining("repair are used up: 0") });
  });
});

describe("a criterion without a check that runs", () => {
  beforeEach(() => {
    vi.stubEnv("CHROME_PATH", "/nowhere/chromium");
  });

  it("is refused as P0, with the reason", async () => {
    const must = { ...judged, priority: "P0" };
    const trial = await work({
      ...rest,
      Alice: [brief("S", { criteria: [criteria[0], must] }), brief("S")],
      Alex: [calling(whole(RIGHT), done)],
    });
    expect(trial.delivery.isDone).toBe(true);
    expect(lastIn(of(trial, "Alice")[1])).toContain("a judgement proves nothing");
  });

  /** The page of A1 cannot be opened, and the test of the adder has such a title. */
  const titled =
    (title: string): Verifier =>
    async (request) => {
      const found = await readAdder(request);
      const suites = found.suites.map((suite) => ({ ...suite, failures: suite.failures.map((failure) => ({ ...failure, name: title })) }));
      const verdicts = request.criteria.map(({ id, priority }) => ({
        ...{ id, priority, outcome: "not checked", by: "nothing", evidence: "There is no browser." },
      })) as Delivery["verification"]["verdicts"];
      return { ...found, suites, verdicts };
    };
  const page = { ...criteria[0], check: { kind: "page", steps: [{ do: "expect", at: "#sum", equals: "5" }] } };
  const script = { ...rest, Alice: [brief("S", { criteria: [page] })] };

  it("is proven by a test that has its id and was seen failing", async () => {
    const seen = [calling(whole(WRONG), done), writes(RIGHT)];
    const { delivery } = await work({ ...script, Alex: seen }, { verify: titled("A1: adds") });
    expect(delivery).toMatchObject({ isDone: true, verification: { verdicts: [{ id: "A1", outcome: "proven", by: "test" }] } });
  });

  const unproven: readonly (readonly [title: string, engineer: readonly ScriptedReply[]])[] = [
    ["A1: adds", [calling(whole(RIGHT), done)]],
    ["A11: adds", [calling(whole(WRONG), done), writes(RIGHT)]],
    ["A1: is gone", [calling(whole(WRONG), done), writes(RIGHT)]],
  ];

  it.each(someOf(unproven, 1))(
    "is not proven by a test that never failed, is of another criterion, or is gone: %s",
    async (title, Alex) => {
      const { delivery } = await work({ ...script, Alex }, { verify: titled(title) });
      expect(delivery).toMatchObject({ isDone: false, verification: { verdicts: [{ outcome: "not checked" }] } });
      expect(written.content).not.toContain("A1: is gone");
    },
  );
});

describe("a run that has ended without success", () => {
  it("continues with what was found, as if no round had been spent", async () => {
    const alex = [calling(whole(WRONG), done), writes(`${WRONG} `), writes(`${WRONG}  `), writes(RIGHT)];
    const { team, result, delivery, model } = await work({ ...rest, Alex: alex, Vera: [accepted] });
    expect(delivery.isDone).toBe(false);
    const open = continuedWork(result.messages);
    const next = await team.resume("run", { add: open === undefined ? [] : [open] }).result;
    expect(next.output?.instructContent).toMatchObject({ isDone: true });
    expect(continuedWork(next.messages)).toBeUndefined();
    const [, , , fourth] = model.calls.filter((request) => roleIn(request) === "Alex");
    expect(String(fourth?.messages[1]?.content)).toMatch(/From the user\nThe user wants the work to continue[^]*FAILED A1/);
  });
});
