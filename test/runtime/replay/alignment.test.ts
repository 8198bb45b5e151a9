import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineAction, defineRole, type RunEvent, Team } from "../../../src/index.ts";
import { createMessage } from "../../../src/message/message.ts";
import { EVENT_VERSION, type RunEventBody } from "../../../src/runtime/record/event.ts";

import { type AlignedPair, alignRuns } from "../../../src/runtime/replay/alignment.ts";

interface Said {
  readonly role: string;
  readonly text: string;
}

/** A run of one round in which roles say something in turn. */
function runOf(all: readonly Said[]): readonly RunEvent[] {
  const roles = ["Ann", "Bob", "Cleo"].map((name) => ({ name, fingerprint: "f", traits: {}, state: {} }));
  const counts = new Map<string, number>();
  const bodies: RunEventBody[] = [{ type: "run.started", team: "t", roles, seed: "s", scheduler: "eager" }];
  for (const [place, { role, text }] of all.entries()) {
    const n = counts.get(role) ?? 0;
    counts.set(role, n + 1);
    const act = `${role}#${n}~1`;
    const message = createMessage(text, { id: `id-${place}`, causeBy: "Say", sentFrom: role, timestamp: 0 });
    bodies.push({
      type: "act.ended",
      act,
      role,
      round: place,
      take: 1,
      said: [{ message, to: [] }],
      memory: [],
      working: [["+", message.id]],
    });
    bodies.push({ type: "round.ended", round: place });
  }
  bodies.push({ type: "run.ended", status: "finished" });
  return bodies.map((body, seq): RunEvent => ({ v: EVENT_VERSION, runId: "r", seq, time: seq, ...body }));
}

function kindsOf(pairs: readonly AlignedPair[]): readonly string[] {
  return pairs.map(({ kind }) => kind);
}

const anySaid = fc.record({ role: fc.constantFrom("Ann", "Bob", "Cleo"), text: fc.constantFrom("a", "b", "c", "d") });

describe("the alignment of two runs", () => {
  it("shows one more activation in the middle as one insertion", () => {
    const all = Array.from({ length: 12 }, (_, nth) => ({ role: ["Ann", "Bob", "Cleo"][nth % 3] as string, text: `text ${nth}` }));
    const more = all.toSpliced(5, 0, { role: "Bob", text: "and this" });
    const pairs = alignRuns(runOf(all), runOf(more));
    expect(kindsOf(pairs)).toEqual([...Array<string>(5).fill("same"), "right", ...Array<string>(7).fill("same")]);
    expect(pairs[5]).toMatchObject({ right: { role: "Bob", name: "Bob#2", said: [{ causeBy: "Say", content: "and this" }] } });
    expect(kindsOf(alignRuns(runOf(more), runOf(all)))[5]).toBe("left");
  });

  it("tells which parts of an activation differ, and keeps its neighbours", () => {
    const all = ["a", "b", "c"].map((text) => ({ role: "Ann", text }));
    const pairs = alignRuns(runOf(all), runOf(all.with(1, { role: "Ann", text: "x" })));
    expect(kindsOf(pairs)).toEqual(["same", "changed", "same"]);
    expect(pairs[1]).toMatchObject({ parts: ["said", "kept"], left: { name: "Ann#1" }, right: { name: "Ann#1" } });
  });

  it("never pairs activations of two roles", () => {
    const pairs = alignRuns(runOf([{ role: "Ann", text: "a" }]), runOf([{ role: "Bob", text: "a" }]));
    expect(kindsOf(pairs).toSorted()).toEqual(["left", "right"]);
  });

  it("has every activation of both runs once, in order, and equal runs are the same throughout", () => {
    fc.assert(
      fc.property(fc.array(anySaid, { maxLength: 12 }), fc.array(anySaid, { maxLength: 12 }), (one, other) => {
        const [left, right] = [runOf(one), runOf(other)];
        const pairs = alignRuns(left, right);
        const textsOf = (side: "left" | "right"): readonly (string | undefined)[] =>
          pairs.flatMap((pair) => {
            const { left: ofLeft, right: ofRight } = { left: undefined, right: undefined, ...pair };
            const entry = side === "left" ? ofLeft : ofRight;
            return entry === undefined ? [] : [entry.said[0]?.content];
          });
        expect(textsOf("left")).toEqual(one.map(({ text }) => text));
        expect(textsOf("right")).toEqual(other.map(({ text }) => text));
        expect(new Set(kindsOf(alignRuns(left, runOf(one))))).toEqual(new Set(one.length === 0 ? [] : ["same"]));
      }),
    );
  });

  it("pairs by numbers where the runs are too long for a table", { tags: ["numbers", "long"] }, () => {
    const long = (mark: string): readonly Said[] => Array.from({ length: 2_100 }, (_, nth) => ({ role: "Ann", text: `${mark} ${nth}` }));
    const pairs = alignRuns(runOf(long("x")), runOf([...long("y"), { role: "Bob", text: "more" }]));
    expect(pairs.filter(({ kind }) => kind === "changed")).toHaveLength(2_100);
    expect(pairs.at(-1)).toMatchObject({ kind: "right", right: { role: "Bob" } });
  });

  it("aligns two runs of teams of which one has a second thought: what Ann says reaches others", async () => {
    const run = async (isDoubtful: boolean): Promise<readonly RunEvent[]> => {
      const Think = defineAction({ name: "Think", run: ({ text }) => text.toUpperCase() });
      const Doubt = defineAction({ name: "Doubt", run: ({ text }) => (isDoubtful ? `${text}?` : undefined) });
      const Tell = defineAction({ name: "Tell", run: ({ text }) => `told: ${text.replace("?", "")}` });
      const roles = [
        defineRole({ name: "Ann", actions: [Think] }),
        defineRole({ name: "Bob", watch: [Think], actions: [Doubt] }),
        defineRole({ name: "Cleo", watch: isDoubtful ? [Doubt] : [Think], actions: [Tell] }),
      ];
      const team = new Team({ roles, model: undefined as never });
      const events: RunEvent[] = [];
      const going = team.run("go");
      await going.result;
      for await (const event of team.journal.read(going.id, 0)) events.push(event);
      return events;
    };
    const pairs = alignRuns(await run(false), await run(true));
    expect(pairs.map((pair) => [pair.kind, ("left" in pair ? pair.left : pair.right).name])).toEqual([
      ["same", "outside#1"],
      ["changed", "Ann#0"],
      ["changed", "Bob#0"],
      ["changed", "Cleo#0"],
    ]);
  });
});
