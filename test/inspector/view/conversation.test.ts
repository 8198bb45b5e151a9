import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Conversation } from "../../../src/inspector/view/conversation.ts";
import { outcomeAt } from "../../../src/inspector/view/run-outcome.ts";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import { spokenLine } from "../../../src/inspector/view/spoken.ts";
import type { RunEvent } from "../../../src/index.ts";
import { tries } from "../../long.ts";
import { disputedRun, type Line, runOfLines, verdicts } from "../page/company-run.ts";
import { changingSketch, eventsOfChangingRun, eventsOfRun, runSketch } from "./random-runs.ts";

function timelineOf(events: readonly RunEvent[]): RunTimeline {
  const timeline = new RunTimeline();
  timeline.add(events);
  expect(timeline.trouble).toBeUndefined();
  return timeline;
}

/** The turns of a run as `thread: ids of the messages`, with the outcomes of what they dispute. */
function turnsOf(events: readonly RunEvent[], shown = events.length): readonly string[] {
  const talk = new Conversation(timelineOf(events));
  return talk.at(shown).map(({ thread, sent, answers, points }) => {
    const ids = [sent, ...answers].map(({ message }) => message.id).join(" ");
    return `${thread}: ${ids}${points.map(({ outcome }) => ` ${outcome}`).join("")}`;
  });
}

function seqOf(events: readonly RunEvent[], id: string): number {
  return timelineOf(events).record.sentWithId(id)?.seq ?? -1;
}

describe("a conversation", () => {
  test("puts an answer into the thread of what it answers, and each word from outside into one of its own", () => {
    const events = runOfLines([
      { to: ["Ann"], content: "one" },
      { from: "Ann", to: ["Bob"], content: "for one" },
      { to: ["Ann"], content: "two", parents: [] },
      { from: "Bob", to: ["Ann"], content: "late, for one", parents: ["m1"] },
      { from: "Ann", to: ["Bob"], content: "for both", parents: ["m3", "m2"] },
      { from: "Ann", to: ["Bob"], content: "for nothing known", parents: ["elsewhere"] },
    ]);
    expect(turnsOf(events)).toEqual(["0: m0", "0: m1", "0: m3", "1: m2", "1: m4", "2: m5"]);
  });

  test("holds a dispute together with its answers, and says of each point whether it was corrected or stays", () => {
    expect(turnsOf(disputedRun())).toEqual([
      "0: m0",
      "0: m1",
      "0: m2 m3 corrected stays",
      "0: m4 m5 m6 corrected",
      "0: m7 open",
      "0: m8",
      "0: m9",
    ]);
  });

  test("shows a dispute as it was at each event (Conversation.C2)", () => {
    const events = disputedRun();
    const at = (id: string) => turnsOf(events, seqOf(events, id)).at(-1);
    expect([at("m2"), at("m3"), at("m4"), at("m5"), at("m6")]).toEqual([
      "0: m2 open open",
      "0: m2 m3 corrected stays",
      "0: m4 open",
      "0: m4 m5 open",
      "0: m4 m5 m6 corrected",
    ]);
  });

  test.each<[string, unknown, string]>([
    ["an answer without an order", { words: "No." }, "0: m1 m2 answered"],
    ["an order that corrects what is no list", { kind: "order", corrected: "A1" }, "0: m1 m2 stays"],
    ["an order that corrects another check", { kind: "order", corrected: ["A7"] }, "0: m1 m2 stays"],
  ])("decides a dispute by %s", (_, payload, expected) => {
    const events = runOfLines([
      { to: ["Ann"], content: "go" },
      { from: "Ann", to: ["Bob"], content: "no", payload: { status: "disputed", disputes: [{ criterion: "A1", why: "so" }] } },
      { from: "Bob", to: ["Ann"], content: "well", payload },
    ]);
    expect(turnsOf(events)[1]).toBe(expected);
  });

  test.each<[string, unknown]>([
    ["no list of disputes", { status: "disputed" }],
    ["disputes that are no objects", { status: "disputed", disputes: [1, null, "x"], summary: 7 }],
    ["disputes without words", { status: "disputed", disputes: [{ why: {}, criterion: [] }] }],
  ])("takes a report with %s as one open dispute", (_, payload) => {
    const events = runOfLines([
      { to: ["Ann"], content: "go" },
      { from: "Ann", to: ["Bob"], content: "no", payload },
    ]);
    expect(turnsOf(events)[1]).toBe("0: m1 open");
  });

  test("does not take words to somebody else as an answer to a dispute", () => {
    const lines: readonly Line[] = [
      { to: ["Ann"], content: "go" },
      { from: "Ann", to: ["Bob"], content: "no", payload: { status: "disputed", summary: "why" } },
      { from: "Bob", to: ["Cid"], content: "meanwhile", payload: { kind: "order" } },
    ];
    expect(turnsOf(runOfLines(lines))).toEqual(["0: m0", "0: m1 open", "0: m2"]);
  });

  test(
    "property: every message that was sent is shown once, whatever the run and the event (Conversation.C1)",
    { tags: "numbers" },
    async () => {
      const runs = fc.oneof(runSketch.map(eventsOfRun), changingSketch.map(eventsOfChangingRun));
      await fc.assert(
        fc.asyncProperty(runs, fc.nat(), fc.nat(), async (coming, a, b) => {
          const events = await coming;
          const [part, shown] = [a % events.length, b % events.length];
          const run = new RunTimeline();
          const grown = new Conversation(run);
          run.add(events.slice(0, part));
          grown.at(part);
          run.add(events);
          const ids = (talk: Conversation) => talk.at(shown).flatMap(({ sent, answers }) => [sent, ...answers].map(({ index }) => index));
          expect(ids(grown)).toEqual(ids(new Conversation(timelineOf(events))));
          const sent = run.record.sent.filter(({ seq }) => seq <= shown).map(({ index }) => index);
          expect(ids(grown).toSorted((x, y) => x - y)).toEqual(sent);
        }),
        { numRuns: tries(5, 150) },
      );
    },
  );
});

describe("the result of a run", () => {
  test("is the newest delivery, with the words of its criteria and what is still wrong", () => {
    const events = disputedRun();
    const { delivery } = outcomeAt(timelineOf(events), events.length) ?? {};
    expect(delivery).toEqual({
      name: "adder",
      isDone: false,
      isPast: false,
      reason: "The same failures stay.",
      verdicts: [
        {
          id: "A1",
          outcome: "proven",
          evidence: "exit code 0; stdout: 3 | ",
          words: "When two numbers are given, then their sum is printed.",
        },
        { id: "A2", outcome: "failed", evidence: "exit code 0", words: "When a word is given, then there is an error." },
      ],
      tests: ["javascript: 2 of 2 passed"],
      wrong: ["Objection R1 (unproven): It has no help."],
    });
    expect(outcomeAt(timelineOf(events), seqOf(events, "m9") - 1)?.delivery).toBeUndefined();
  });

  test("is past once a person has said more", () => {
    const done = { kind: "delivery", name: "adder", isDone: true, verification: { verdicts } };
    const events = runOfLines([
      { to: ["Ann"], content: "go" },
      { from: "Ann", to: [], content: "there", payload: done },
      { to: ["Ann"], content: "more", parents: [] },
    ]);
    const at = (id: string) => outcomeAt(timelineOf(events), seqOf(events, id))?.delivery?.isPast;
    expect([at("m0"), at("m1"), at("m2")]).toEqual([undefined, false, true]);
  });

  test("is what a run without a delivery gave out, and nothing before a role has spoken", () => {
    const events = runOfLines([
      { to: ["Ann"], content: "go" },
      { from: "Ann", to: [], content: "a poem" },
    ]);
    expect(outcomeAt(timelineOf(events), 1)).toBeUndefined();
    expect(outcomeAt(timelineOf(events), 99)?.message.content).toBe("a poem");
  });

  test.each<[string, object]>([
    ["lists that are none", { verification: { verdicts: 1, suites: {}, faults: "x" }, complaints: null, unmerged: 0 }],
    [
      "members of another kind",
      { name: [], isDone: "yes", verification: { verdicts: [null, { id: {} }], suites: [[]] }, complaints: [{}] },
    ],
    ["evidence of a megabyte", { verification: { verdicts: [{ id: "A1", evidence: " ".repeat(1_000_000) }] } }],
  ])("can be read in a delivery with %s", (_, payload) => {
    const events = runOfLines([
      { to: ["Ann"], content: "go" },
      { from: "Ann", to: [], content: "x", payload: { kind: "delivery", ...payload } },
    ]);
    expect(outcomeAt(timelineOf(events), 99)?.delivery?.isDone).toBe(false);
  });
});

test.each([
  ["a document", "# Requirements\n\n## Goals\n\n- **fast**\n- small", "Requirements. fast; small"],
  ["a text", "Done with `a.js`.\n\nMore.\n\n## Further\n\nOn.", "Done with a.js. More."],
  ["code alone", "```\ncode\n```", "Work"],
  ["nothing", "", "Work"],
])("the line of a message without speech has its first words, without marks: %s", (_, content, line) => {
  expect(spokenLine({ content, causeBy: "Work" })).toBe(line);
  expect(spokenLine({ content, causeBy: "Work", speech: "I **say** so." })).toBe("I **say** so.");
});
