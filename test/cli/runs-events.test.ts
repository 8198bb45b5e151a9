import { describe, expect, it } from "vitest";
import { eventLine } from "../../src/cli/commands/runs-events.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import type { MessageFlow } from "../../src/inspector/message-flow.ts";
import type { Observed, RunEvent } from "../../src/runtime/record/event.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { command, expectRefusal, linesIn, storeWith } from "./kept-run.ts";
import { answered, asks, does, fails, recorded, says, started, word } from "./recorded-run.ts";

const HOSTILE = '\u001b[2J\u202e"];\nclick n0 "javascript:x"';

/** A folder with one run of two roles, one of which is called as nobody should be. */
const kept = storeWith(async (journal) => {
  const [ask, reply] = [defineAction({ name: "Ask", prompt: () => "?" }), defineAction({ name: HOSTILE, prompt: () => "!" })];
  const roles = [defineRole({ name: "Ann", actions: [ask] }), defineRole({ name: HOSTILE, actions: [reply], watch: [ask] })];
  await new Team({ roles, model: scriptedModel(["a", "b"]), journal }).run("go", { id: "run-1" }).result;
});

describe("troupe runs flow", () => {
  it("draws who spoke to whom, for Mermaid", async () => {
    const { code, stdout, stderr } = await command(await kept, ["runs", "flow", "run"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines.slice(0, 3)).toEqual(["flowchart LR", '  n0(["(outside)"])', '  n1["Ann"]']);
    expect(lines).toContain('  n0 -.->|"1 UserRequirement"| n1');
    expect(lines).toContain('  n1 -.->|"1 Ask"| n2');
    expect(stdout).not.toMatch(/javascript:|[\u001b\u202e]/);
  });

  it("prints the graph as one line of JSON", async () => {
    const [flow] = linesIn((await command(await kept, ["runs", "flow", "run-1", "--json"])).stdout);
    expect(flow).toMatchObject({ type: "flow", runId: "run-1" });
    expect((flow as MessageFlow).nodes.map(({ name }) => name)).toEqual(["", "Ann", HOSTILE, ""]);
  });

  it("refuses other formats and unknown runs with 2", async () => {
    await expectRefusal(await kept, ["runs", "flow", "run-1", "--format", "toString"], "OPTION_INVALID");
    expect((await command(await kept, ["runs", "flow", "nothing"])).stderr).toContain("(RUN_UNKNOWN)");
  });
});

const ACT = { act: "Alice#0~1", role: "Alice", round: 0, take: 1 };

const isEvent = (observed: Observed): observed is RunEvent => "seq" in observed;

describe("eventLine", () => {
  it("tells of every event in a line", () => {
    const events = recorded([
      started(),
      { type: "message", message: word("UserRequirement"), to: ["Alice"] },
      { type: "act.started", act: "Alice#0~1", role: "Alice", n: 0, attempt: 1, take: 1, at: 0 },
      asks("Alice", "WritePrd", { try: 2 }),
      answered("Alice", { retry: true, cost: 500 }),
      answered("Alice"),
      does("Alice", "write file", { path: "docs/prd.md" }),
      says("Alice", word("WritePrd")),
      fails("Bob", "It broke."),
      { type: "act.resumed", act: "Bob#0~1" },
      { type: "round.ended", round: 0 },
      { type: "run.resumed", cause: "died", uncertain: [{ act: "Bob#0~1", key: "k", hold: 5 }] },
      { type: "run.ended", status: "waiting", error: { name: "E", code: "WAITING", message: "Bob waits." } },
    ]).filter(isEvent);
    expect(events.map((event) => eventLine({ ...event, time: 61_000 * event.seq }, 0))).toMatchInlineSnapshot(`
      [
        "     0  +0:00     run.started     software company, 3 roles, rounds, seed s",
        "     1  +1:01     message         outside to Alice, UserRequirement: content",
        "     2  +2:02     act.started     Alice#0~1 takes 1",
        "     3  +3:03     step.started    Alice#0~1 model gpt-5-mini WritePrd, try 2",
        "     4  +4:04     step.ended      Alice#0~1 failed, to be tried again: Expected an answer, got 503., 500 micro-dollars",
        "     5  +5:05     step.ended      Alice#0~1 answered, 1,200 micro-dollars",
        "     6  +6:06     step.started    Alice#0~1 step write file docs/prd.md",
        "     7  +7:07     act.ended       Alice#0~1 says WritePrd",
        "     8  +8:08     act.failed      Bob#0~1 stop: It broke.",
        "     9  +9:09     act.resumed     Bob#0~1",
        "    10  +10:10    round.ended     0",
        "    11  +11:11    run.resumed     its process had died, 1 step in flight before",
        "    12  +12:12    run.ended       waiting: Bob waits.",
      ]
    `);
  });

  it("names the scheduler, the edges, ticks and delays", () => {
    const [start, ...rest] = recorded([
      started(),
      { type: "message", message: word("UserRequirement"), to: ["Ann"], due: 2 / 3 },
      { type: "clock.advanced", tick: 2 / 3, role: "Ann" },
      { type: "run.resumed", forked: true, uncertain: [] },
    ]).filter(isEvent);
    if (start?.type !== "run.started") throw new Error("Expected the start of a run.");
    const edges = [{ name: "drop", parameters: { rate: 0.1 }, pairs: ["Ann->*"] }];
    const events = [{ ...start, scheduler: "poisson", parameters: { rate: 2 }, edges }, ...rest];
    expect(events.map((event) => eventLine(event, event.time).slice(18))).toEqual([
      "run.started     software company, 3 roles, poisson, rate 2, seed s, edges: drop, rate 0.1, on Ann->*",
      "message         outside to Ann at 0.6667, UserRequirement: content",
      "clock.advanced  0.6667, Ann acts",
      "run.resumed     a fork begins here",
    ]);
  });

  it("tells what happened to messages on their way", () => {
    const sent = { message: word("WritePrd"), to: ["Bob", "Cid"] };
    const faults = ["Bob", "\u001b[2J"].map((to) => ({ to, by: ["drop", "delay"], arrives: [] }));
    const [event] = recorded([{ type: "act.ended", ...ACT, said: [{ ...sent, faults }], memory: [], working: [] }]).filter(isEvent);
    expect(event && eventLine(event, 0)).toContain("says WritePrd, on the way: drop and delay to Bob, drop and delay to ");
    expect(event && eventLine(event, 0)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
