import { describe, expect, it } from "vitest";
import { eventLine } from "../../../src/cli/commands/runs-events.ts";
import type { Observed, RunEvent } from "../../../src/runtime/record/event.ts";
import { answered, asks, does, fails, recorded, says, started, word } from "../recorded-run.ts";

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
      { type: "run.resumed", uncertain: [{ act: "Bob#0~1", key: "k", hold: 5 }] },
      { type: "run.ended", status: "waiting", error: { name: "E", code: "WAITING", message: "Bob waits." } },
    ]).filter(isEvent);
    expect(events.map((event) => eventLine({ ...event, time: 61_000 * event.seq }, 0))).toMatchInlineSnapshot(`
      [
        "     0  +0:00     run.started   software company, 3 roles, rounds, seed s",
        "     1  +1:01     message       outside to Alice, UserRequirement: content",
        "     2  +2:02     act.started   Alice#0~1 takes 1",
        "     3  +3:03     step.started  Alice#0~1 model gpt-5-mini WritePrd, try 2",
        "     4  +4:04     step.ended    Alice#0~1 failed, to be tried again: Expected an answer, got 503., 500 micro-dollars",
        "     5  +5:05     step.ended    Alice#0~1 answered, 1,200 micro-dollars",
        "     6  +6:06     step.started  Alice#0~1 step write file docs/prd.md",
        "     7  +7:07     act.ended     Alice#0~1 says WritePrd",
        "     8  +8:08     act.failed    Bob#0~1 stop: It broke.",
        "     9  +9:09     act.resumed   Bob#0~1",
        "    10  +10:10    round.ended   0",
        "    11  +11:11    run.resumed   1 step in flight before",
        "    12  +12:12    run.ended     waiting: Bob waits.",
      ]
    `);
  });

  it("shows what a terminal would obey", () => {
    const hostile = "\u001b]0;owned\u0007\u009b2J\u202e";
    const bodies = [
      { ...started(), team: hostile, seed: hostile, scheduler: hostile } as const,
      asks(hostile, hostile),
      does(hostile, hostile, { path: hostile }, hostile),
      says(hostile, { ...word(hostile), content: hostile, sentFrom: hostile }),
      fails(hostile, hostile),
      { type: "act.resumed", act: hostile },
      { type: "run.ended", status: "failed", error: { name: hostile, code: hostile, message: hostile } },
    ] as const;
    for (const event of recorded(bodies as Parameters<typeof recorded>[0]).filter(isEvent)) {
      expect(eventLine(event, 0)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  });
});
