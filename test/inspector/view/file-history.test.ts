import { describe, expect, test } from "vitest";
import { contentBefore, filesAt } from "../../../src/inspector/view/file-history.ts";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import { createMessage } from "../../../src/message/message.ts";
import type { RunEventBody } from "../../../src/runtime/record/event.ts";
import { REMOVE_STEP, WRITE_STEP } from "../../../src/workspace/recorded-files.ts";

const act = "Ann#0~1";
const order = createMessage("Write it", { id: "m0", timestamp: 0 });
const report = createMessage("Done", { id: "Ann#0.0", sentFrom: "Ann", parents: ["m0"], timestamp: 0 });

/** A step of Ann that changes a file, and its end. */
function change(
  key: string,
  name: string,
  request: { readonly path: string; readonly content?: string; readonly fork?: string },
  ok = true,
): RunEventBody[] {
  const both = { act, key, try: 1 } as const;
  return [
    { type: "step.started", ...both, kind: "step", name, asked: Number(key), hold: 0, request },
    { type: "step.ended", ...both, ok, cost: 0, basis: "none", at: 0 },
  ];
}

const bodies: RunEventBody[] = [
  { type: "run.started", team: "T", roles: [{ name: "Ann", fingerprint: "f", traits: {}, state: {} }], seed: "s", scheduler: "eager" },
  { type: "message", message: order, to: ["Ann"] },
  { type: "act.started", act, role: "Ann", n: 0, attempt: 1, take: 1, at: 0 },
  ...change("0", WRITE_STEP, { path: "b.txt", content: "one\n" }),
  ...change("1", WRITE_STEP, { path: "b.txt", content: "never\n" }, false),
  ...change("2", WRITE_STEP, { path: "b.txt", content: "two\n" }),
  ...change("3", WRITE_STEP, { path: "a.txt", content: "fork", fork: "left" }),
  ...change("4", REMOVE_STEP, { path: "b.txt" }),
  { type: "act.ended", act, role: "Ann", round: 0, take: 1, said: [{ message: report, to: [] }], memory: [], working: [] },
];

describe("filesAt", () => {
  const timeline = new RunTimeline();
  timeline.add(bodies.map((body, seq) => ({ v: 1, runId: "run", seq, time: seq, ...body })));

  test("has every recorded change with its outcome and its author, files of a fork apart", () => {
    expect(timeline.trouble).toBeUndefined();
    const [a, b] = filesAt(timeline, Infinity);
    expect(a).toMatchObject({ path: "a.txt", fork: "left", isThere: true });
    expect(b?.versions.map(({ outcome, content }) => [outcome, content])).toEqual([
      ["written", "one\n"],
      ["failed", "never\n"],
      ["written", "two\n"],
      ["removed", undefined],
    ]);
    expect(b?.isThere).toBe(false);
    const [first] = b?.versions ?? [];
    expect([first?.activation.act, first?.took[0]?.message.id, first?.said[0]?.message.id]).toEqual([act, "m0", "Ann#0.0"]);
  });

  test("compares a version with the last one that took effect", () => {
    const file = filesAt(timeline, Infinity)[1];
    expect(file && [1, 2, 3, 4].map((number) => contentBefore(file, number))).toEqual(["", "one\n", "one\n", "two\n"]);
  });

  test("knows nothing of what comes after the shown event", () => {
    expect(filesAt(timeline, 2)).toEqual([]);
    expect(filesAt(timeline, 3)[0]?.versions).toMatchObject([{ outcome: "under way", said: [] }]);
    expect(filesAt(timeline, 4)[0]).toMatchObject({ isThere: true, versions: [{ outcome: "written" }] });
  });
});
