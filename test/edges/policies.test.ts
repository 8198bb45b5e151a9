import type { EdgeFault } from "../../src/runtime/record/event.ts";
import { describe, expect, test } from "vitest";
import { byzantine, corrupt, crash, delay, drop, duplicate, edge, partition, reorder } from "../../src/edges/index.ts";
import type { Edge } from "../../src/edges/edge.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineRole } from "../../src/role/role.ts";
import { Edges } from "../../src/runtime/edges/edges.ts";
import type { EdgePolicy } from "../../src/runtime/edges/edge-policy.ts";
import { tries } from "../long.ts";
import { town } from "../runtime/town.ts";

interface Sketch {
  readonly from?: string;
  readonly to?: string;
  readonly tick?: number;
  readonly content?: string;
  readonly payload?: unknown;
  readonly due?: number;
}

/** Returns the decision of a policy about message number `nth` of a role. */
function fateOf(
  policies: readonly EdgePolicy[],
  nth: number,
  { from = "p1", to = "p2", tick = 0, content = "text", payload, due }: Sketch = {},
): EdgeFault | undefined {
  const message = createMessage(content, {
    id: `${from}#${nth}.0`,
    sentFrom: from,
    sendTo: [to],
    ...(payload === undefined ? {} : { instructContent: payload }),
  });
  const [sent] = new Edges(policies, { state: { seed: "seven", clock: "rounds", bounds: {} }, messageLimit: 1_000_000 }).pass(
    [{ message, to: [to], ...(due === undefined ? {} : { due }) }],
    from,
    tick,
  );
  return sent?.faults?.[0];
}

const MANY = tries(3_000, 20_000);

/** Five standard deviations of how many of them meet what happens with a probability. */
const far = (p: number): number => 5 * Math.sqrt(MANY * p * (1 - p));

function struck(policy: EdgePolicy, sketch: Sketch = {}): ReadonlySet<number> {
  return new Set(Array.from({ length: MANY }, (_, nth) => nth).filter((nth) => fateOf([policy], nth, sketch) !== undefined));
}

describe.each<readonly [string, (rate: number) => Edge]>([
  ["drop", drop],
  ["reorder", reorder],
  ["duplicate", duplicate],
  ["corrupt", corrupt],
])("%s", (_name, policyOf) => {
  test("strikes with its rate, and a higher rate strikes what a lower one strikes", { tags: "numbers" }, () => {
    const few = struck(policyOf(0.1));
    const many = struck(policyOf(0.3));
    expect(Math.abs(few.size - 0.1 * MANY)).toBeLessThan(far(0.1));
    expect(Math.abs(many.size - 0.3 * MANY)).toBeLessThan(far(0.3));
    expect([...few].filter((nth) => !many.has(nth))).toEqual([]);
    expect([fateOf([policyOf(0)], 1), fateOf([policyOf(1)], 1)?.by]).toEqual([undefined, [policyOf(1).name]]);
  });

  test.each([-0.1, 1.1, Number.NaN, "0.5", undefined])("refuses the rate %s", (rate) => {
    expect(() => policyOf(rate as number)).toThrow(expect.objectContaining({ code: "EDGE_INVALID" }));
  });
});

describe("delay", () => {
  const dueOf = (policy: EdgePolicy, nth: number, sketch?: Sketch): number | undefined => fateOf([policy], nth, sketch)?.arrives[0]?.due;

  test("adds its ticks to those that the message takes anyhow", () => {
    expect(dueOf(delay(2), 1, { tick: 5 })).toBe(8);
    expect(dueOf(delay(2), 1, { tick: 5, due: 9 })).toBe(11);
    expect(fateOf([delay(0)], 1)).toBeUndefined();
  });

  test("draws evenly between its bounds", { tags: "numbers" }, () => {
    const counts = [0, 0, 0, 0];
    for (let nth = 0; nth < MANY; nth += 1) counts[(dueOf(delay(1, 4), nth) ?? 0) - 2]! += 1;
    for (const count of counts) expect(Math.abs(count - MANY / 4)).toBeLessThan(far(1 / 4));
  });

  test("of reorder is 1 to its limit", () => {
    const ticks = new Set(Array.from({ length: 100 }, (_, nth) => dueOf(reorder(1, 2), nth)));
    expect(ticks).toEqual(new Set([2, 3]));
  });
});

describe("duplicate", () => {
  test("Edges.G4 makes at most 1,000 copies of a message, over all policies", () => {
    expect(fateOf([duplicate(1, 1_000)], 1)?.arrives).toHaveLength(1_001);
    expect(fateOf([duplicate(1, 1), duplicate(1, 499)], 1)?.arrives).toHaveLength(1_000);
    expect(() => fateOf([duplicate(1, 1_000), duplicate(1, 1)], 1)).toThrow(
      expect.objectContaining({
        code: "EDGE_FAILED",
        message: expect.stringMatching(/would have 1001 copies, more than 1000 over all policies\. Begin a new run/) as string,
      }),
    );
  });
});

describe("corrupt", () => {
  test("changes one value of the content or the payload, whichever it is", () => {
    const payload = { bid: 3, open: true, tags: ["red", null] };
    const places = new Set<string>();
    for (let nth = 0; nth < 200; nth += 1) {
      const reads = fateOf([corrupt(1)], nth, { payload })?.arrives[0]?.reads;
      const { bid, open, tags } = (reads?.instructContent ?? payload) as unknown as typeof payload;
      const changed = [
        reads?.content === "text" ? "" : "content",
        bid === 3 ? "" : "bid",
        open === true ? "" : "open",
        tags[0] === "red" ? "" : "tag",
        tags[1] === null ? "" : "null",
      ].filter((place) => place !== "");
      expect(changed).toHaveLength(1);
      places.add(changed.join());
    }
    expect([...places].toSorted()).toEqual(["bid", "content", "null", "open", "tag"]);
  });

  test("reads what a function of one's own makes of the message", () => {
    const shout = corrupt(1, ({ message }) => ({ content: message.content.toUpperCase() }));
    expect(fateOf([shout], 1)?.arrives).toEqual([{ reads: { content: "TEXT" } }]);
    expect(() => corrupt(1, "x" as never)).toThrow(expect.objectContaining({ code: "EDGE_INVALID" }));
  });
});

describe("during and on", () => {
  test("limit a policy to ticks and pairs, and are recorded", () => {
    const limited = drop(1).on("p1->*").during(2, 4);
    expect([1, 2, 3, 4].map((tick) => fateOf([limited], 1, { tick })?.arrives)).toEqual([undefined, [], [], undefined]);
    expect(fateOf([limited], 1, { tick: 2, from: "p2", to: "p1" })).toBeUndefined();
    expect([limited.pairs, limited.parameters]).toEqual([["p1->*"], { rate: 1, during: { from: 2, to: 4 } }]);
    expect(fateOf([drop(1).during(2)], 1, { tick: 99 })?.arrives).toEqual([]);
  });

  test("limit a policy of one's own", () => {
    const own = edge({ name: "own", decide: () => ({ kind: "drop" }) })
      .on("*->p2")
      .during(1, 2);
    expect([0, 1].map((tick) => fateOf([own], 1, { tick })?.by)).toEqual([undefined, ["own"]]);
    expect(() => edge({ name: "own" } as never)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    expect(() => edge({ name: "own", pairs: ["p1"], decide: () => undefined })).toThrow(expect.objectContaining({ code: "EDGE_INVALID" }));
  });
});

describe("crash", () => {
  /** Two roles that answer each other, and one that tells itself the round. */
  async function actsOf(edges: readonly EdgePolicy[]): Promise<Readonly<Record<string, readonly number[]>>> {
    const rounds: Record<string, number[]> = { p1: [], p2: [], p3: [] };
    const roles = Object.keys(rounds).map((name) =>
      defineRole({
        name,
        watch: ["UserRequirement"],
        step: (_state, _message, out) => void out.say("x", { sendTo: { p1: "p2", p2: "p1", p3: "p3" }[name] as string }),
      }),
    );
    const environment = town(roles, { edges });
    environment.on("act.ended", ({ role, round }) => void rounds[role]?.push(round));
    environment.publishMessage("go");
    await environment.run({ rounds: 8 });
    return rounds;
  }

  test("keeps a role from acting while it lasts: what comes meanwhile is lost, and what it told itself comes later", async () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 7];
    expect(await actsOf([])).toEqual({ p1: all, p2: all, p3: all });
    expect(await actsOf([crash("p3").during(2, 5)])).toEqual({ p1: all, p2: all, p3: [0, 1, 5, 6, 7] });
    expect(await actsOf([crash(["p2"]).during(2, 5)])).toEqual({ p1: [0, 1, 2], p2: [0, 1], p3: all });
    expect(await actsOf([crash("p3")])).toEqual({ p1: all, p2: all, p3: [0] });
  });

  test("keeps what a role told itself until it recovers, also where that arrives between two rounds", () => {
    expect(fateOf([crash("p1").during(1, 4)], 1, { from: "p1", to: "p1", due: 2.5 })?.arrives).toEqual([{ due: 4 }]);
  });

  test.each([[[]], [""], [1], [[1]]])("refuses %j for the names of roles", (roles) => {
    for (const make of [crash, byzantine]) expect(() => make(roles as never)).toThrow(expect.objectContaining({ code: "EDGE_INVALID" }));
  });
});

describe("partition", () => {
  const parted = (policy: EdgePolicy): readonly string[] => {
    const names = ["a", "b", "c", "d"];
    const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => ({ from, to })));
    return pairs.filter((pair) => fateOf([policy], 1, pair) !== undefined).map(({ from, to }) => from + to);
  };

  test("loses messages between groups, and the roles without one are a group", () => {
    expect(parted(partition(["a", "b"]))).toEqual(["ac", "ad", "bc", "bd", "ca", "cb", "da", "db"]);
    expect(parted(partition(["a*"], ["*b", "ab"]))).toEqual(parted(partition(["a"], ["b"])));
    expect(parted(partition(["a"], ["*"]))).toEqual(["ab", "ac", "ad", "ba", "ca", "da"]);
    expect(parted(partition(["a"], ["b"]))).toEqual(["ab", "ac", "ad", "ba", "bc", "bd", "ca", "cb", "da", "db"]);
  });
});

describe("byzantine", () => {
  test("lets a role tell each of its recipients something else", () => {
    const liar = byzantine("p1", ({ to }) => ({ kind: "rewrite", content: `for ${to}` }));
    expect(["p2", "p3"].map((to) => fateOf([liar], 1, { to })?.arrives[0]?.reads?.content)).toEqual(["for p2", "for p3"]);
    expect(fateOf([liar], 1, { from: "p2", to: "p1" })).toBeUndefined();
    const reads = ["p2", "p3"].map((to) => fateOf([byzantine("p1")], 1, { to, content: "a long enough text" })?.arrives[0]?.reads?.content);
    expect(new Set([...reads, "a long enough text"]).size).toBe(3);
  });
});
