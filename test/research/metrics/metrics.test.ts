import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMessage, defineRole, Environment, type Message, type RunEvent } from "../../../src/index.ts";
import {
  agentReporter,
  agreement,
  coordinationMetrics,
  csvTable,
  edgeReporter,
  entropy,
  errorAmplification,
  experiment,
  gini,
  idleShare,
  jsonLinesTable,
  messageRows,
  modelReporter,
  overhead,
  parquetTable,
  runExperiment,
  timeToConsensus,
} from "../../../src/research/index.ts";

function said(
  id: string,
  from: string,
  to: readonly string[],
  parents: readonly string[] = [],
  content: string = `words of ${id}`,
): Message {
  return createMessage(content, { id, sentFrom: from, sendTo: to, parents, timestamp: 0 });
}

/** Ann asks three, each answers, Ann closes. */
const fan = [
  said("ask", "Ann", ["B", "C", "D"]),
  ...["B", "C", "D"].map((name) => said(name, name, ["Ann"], ["ask"])),
  said("end", "Ann", ["B"], ["B", "C", "D"]),
];

const state = z.object({ n: z.number().default(0) });

/** A world of step roles: Ann tells the number on, Ben and Cem add it up, Dora hears nothing. */
function world(): { readonly world: Environment; readonly events: readonly RunEvent[] } {
  const ann = defineRole({
    name: "Ann",
    state,
    watch: ["UserRequirement"],
    step: ({ n }, message, out) => {
      if (n < 3) out.say(`number ${n}`, { sendTo: ["Ben", "Cem", "Ann"], parents: [message.id] });
      return { n: n + 1 };
    },
  });
  const others = ["Ben", "Cem", "Dora"].map((name) => defineRole({ name, state, step: ({ n }) => ({ n: n + 1 }) }));
  const made = new Environment({ seed: 1 }).addRoles([ann, ...others]);
  const events: RunEvent[] = [];
  for (const type of ["run.started", "message", "act.ended", "round.ended"] as const) made.on(type, (event) => void events.push(event));
  return { world: made, events };
}

describe("gini, entropy, agreement", () => {
  it("have their known values", () => {
    // (n - 1) / n for one owner; 1 / 3 for 1, 2, 3 ... in the limit: (n - 1) / 3 n.
    expect(gini([0, 0, 0, 0, 5])).toBeCloseTo(0.8, 12);
    expect(gini(Array.from({ length: 100 }, (_, place) => place))).toBeCloseTo((100 + 1) / (3 * 100), 12);
    expect(gini([7])).toBe(0);
    expect(entropy(["a", "b", "c", "d", "e", "f", "g", "h"])).toBe(3);
    expect(entropy([true, true, true])).toBe(0);
    expect(entropy(["a", "a", "a", "b"])).toBeCloseTo(0.8112781244591328, 12);
    expect([agreement(["a", "a"]), agreement(["a", "b"]), agreement([5])]).toEqual([1, 0, 1]);
    expect(agreement([1, 1, 1, 2, 2])).toBeCloseTo((3 * 2 + 2) / 20, 12);
    // A number and its text are different opinions.
    expect(agreement([1, "1"])).toBe(0);
  });

  it("keep their bounds, and gini its scale, also for huge numbers", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 30 }), (values) => {
        fc.pre(values.some((value) => value > 0));
        const value = gini(values);
        expect(value).toBeGreaterThanOrEqual(-1e-12);
        expect(value).toBeLessThanOrEqual((values.length - 1) / values.length + 1e-12);
        expect(gini(values.map((one) => one * 1e300))).toBeCloseTo(value, 9);
        expect(entropy(values)).toBeLessThanOrEqual(Math.log2(values.length) + 1e-12);
        expect(agreement(values)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 50 },
    );
  });

  it("refuse what has no such number", () => {
    for (const values of [[], [-1, 2], [0, 0], [Number.NaN]])
      expect(() => gini(values)).toThrow(expect.objectContaining({ code: "SAMPLE_INVALID" }) as Error);
    for (const opinions of [[], [Number.NaN], [{}], [undefined]])
      expect(() => entropy(opinions as never)).toThrow(expect.objectContaining({ code: "OPINIONS_INVALID" }) as Error);
  });
});

describe("timeToConsensus", () => {
  it("is the round from which all agree until the end", () => {
    expect(
      timeToConsensus([
        ["a", "b"],
        ["b", "b"],
        ["b", "b"],
      ]),
    ).toBe(1);
    expect(
      timeToConsensus([
        ["b", "b"],
        ["a", "b"],
        ["a", "a"],
      ]),
    ).toBe(2);
    expect(
      timeToConsensus([
        ["b", "b"],
        ["a", "b"],
      ]),
    ).toBeUndefined();
    expect(timeToConsensus([])).toBeUndefined();
    expect(
      timeToConsensus(
        [
          ["a", "b", "b"],
          ["b", "b", "b"],
        ],
        { share: 0.6 },
      ),
    ).toBe(0);
    expect(timeToConsensus([Array.from({ length: 200_000 }, (_, n) => n)])).toBeUndefined();
    expect(() => timeToConsensus([["a"]], { share: 0.5 })).toThrow(/no consensus/);
    expect(() => timeToConsensus([[]])).toThrow(/at least one/);
  });
});

describe("overhead and errorAmplification", () => {
  it("compare a team with one agent", () => {
    expect([overhead(200, 100), overhead(50, 100), overhead(0, 5)]).toEqual([1, -0.5, -1]);
    expect(errorAmplification(0.5, 0.25)).toBe(2);
    for (const call of [
      () => overhead(1, 0),
      () => overhead(Number.NaN, 1),
      () => errorAmplification(0.1, 0),
      () => errorAmplification(1.1, 0.5),
    ])
      expect(call).toThrow(expect.objectContaining({ code: "SAMPLE_INVALID" }) as Error);
  });
});

describe("coordinationMetrics", () => {
  it("counts the fan of five messages by hand", () => {
    expect(coordinationMetrics(fan, { tasks: 2, cost: () => 10, roles: ["E"] })).toEqual({
      messages: 5,
      messagesPerTask: 2.5,
      edges: 6,
      density: 6 / 20,
      cost: 50,
      costPerEdge: 70 / 6,
      redundancy: 0,
      criticalPath: 3,
      parallelism: 5 / 3,
      unheard: 0,
    });
  });

  it("counts no message from outside, and one that comes twice once", () => {
    expect(coordinationMetrics([createMessage("go"), ...fan, ...fan]).messages).toBe(5);
    expect(coordinationMetrics([])).toMatchObject({ messages: 0, density: 0, redundancy: 0, criticalPath: 0, parallelism: 0, unheard: 0 });
  });

  it("follows parents in any order, and is not caught in a circle of them", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(fan, { minLength: 5 }), (messages) => {
        expect(coordinationMetrics(messages).criticalPath).toBe(3);
      }),
      { numRuns: 20 },
    );
    const circle = [said("1", "A", ["B"], ["3"]), said("2", "B", ["A"], ["1"]), said("3", "A", ["B"], ["2", "3", "gone"])];
    expect(coordinationMetrics(circle).criticalPath).toBe(3);
    const chain = Array.from({ length: 3_000 }, (_, place) => said(`${place}`, "A", ["B"], [`${place - 1}`], "x"));
    expect(coordinationMetrics(chain.toReversed()).criticalPath).toBe(3_000);
  });

  it("finds contents that nearly repeat an earlier one, whatever their case and signs", () => {
    const long =
      "the committee met on monday and agreed to build the bridge over the river before the winter comes to the valley with ice and snow";
    const contents = [
      "Yes.",
      "yes",
      "No",
      long,
      `${long.toUpperCase()}!`,
      long.replace("valley", "town"),
      "the committee met",
      "",
      "",
      "!",
    ];
    const messages = contents.map((content, place) => said(`${place}`, "A", ["B"], [], content));
    // "yes", the long one in capitals, and the second text without words; one changed word of 26 changes 3 of 24 shingles: 21 / 27 are shared.
    expect(coordinationMetrics(messages).redundancy).toBeCloseTo(3 / 10, 12);
    expect(coordinationMetrics(messages, { likeness: 0.75 }).redundancy).toBeCloseTo(4 / 10, 12);
  });

  it("takes the recipients of broadcasts from events", async () => {
    const { world: made, events } = world();
    made.publishMessage("go");
    const { messages } = await made.run();
    const metrics = coordinationMetrics(events, { roles: made.roleNames });
    expect(metrics).toMatchObject({ messages: 3, edges: 2, density: 2 / 12, criticalPath: 3, parallelism: 1 });
    expect(coordinationMetrics(messages, { roles: made.roleNames })).toEqual(metrics);
  });

  it("refuses options that have no meaning", () => {
    for (const o of [{ tasks: 0 }, { likeness: 0 }, { cost: () => Number.NaN }])
      expect(() => coordinationMetrics(fan, o as never)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }) as Error);
    expect(() => coordinationMetrics([5] as never)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }) as Error);
  });
});

describe("idleShare", () => {
  it("is the share of turns without an activation", async () => {
    const { world: made, events } = world();
    made.publishMessage("go");
    const { rounds } = await made.run();
    // All hear "go" in the first round; then Ann, Ben and Cem act in three more.
    expect(rounds).toBe(4);
    expect(idleShare(events)).toBeCloseTo(1 - (4 + 3 * 3) / 16, 12);
    expect(idleShare([])).toBeUndefined();
  });
});

describe("reporters", () => {
  it("give an experiment a value each period, and null between", async () => {
    const agents = ["Ann", "Ben", "Cem", "Dora"];
    const { series } = await runExperiment(
      experiment({
        params: [{ n: 4 }],
        world: () => {
          const { world: made } = world();
          made.publishMessage("go");
          return made;
        },
        collect: {
          seen: modelReporter({ value: ({ messages }) => messages.length }),
          gini: agentReporter({ every: 2, agents, value: ({ n }) => Number(n) + 1, summary: gini }),
          edges: edgeReporter({
            every: 4,
            summary: (edges) => edges.map(({ from, to, messages }) => `${from}>${to}:${messages}`).join(" "),
          }),
        },
      }),
    );
    expect(series.map(({ gini: value }) => value)).toEqual([gini([1, 1, 1, 1]), null, gini([3, 3, 3, 2]), null, gini([5, 5, 5, 2])]);
    expect(series.at(-1)).toMatchObject({ seen: 4, edges: "<outside>><all>:1 Ann>Ben:3 Ann>Cem:3 Ann>Ann:3" });
  });

  it("refuse an invalid period, and unknown agents", async () => {
    expect(() => modelReporter({ every: 0, value: () => 1 })).toThrow(/every of modelReporter/);
    expect(() => agentReporter({ agents: [5] as never, value: () => 1, summary: () => 1 })).toThrow(/agents of agentReporter/);
    const strange = agentReporter({ agents: ["Zoe"], value: () => 1, summary: () => 1 });
    const { world: made } = world();
    made.publishMessage("go");
    const { error } = await made.run({ stopWhen: (progress) => strange(progress) === 1 }).catch((thrown: unknown) => ({ error: thrown }));
    expect(error).toMatchObject({ code: "AGENT_UNKNOWN" });
  });
});

describe("tables of messages", () => {
  const hostile = [
    said("1", "Ann", ["Ben", "Cem"], [], 'a "quoted", text\r\nwith lines'),
    said("2", "Ben", ["<none>"], ["1"], ""),
    createMessage("=1+1", { id: "3", sentFrom: "Ünï,", sendTo: ["A"], instructContent: { a: [1, "\u0000"] }, timestamp: 1.5 }),
  ];

  it("refuse columns that would be hidden by those of a message", () => {
    expect(() => messageRows([], { columns: { role: "buyer" } })).toThrow(/other columns of messageRows.*"role"/);
  });

  it("have a row for each message, or for each recipient", () => {
    expect(messageRows(hostile, { columns: { seed: 7 } })[0]).toEqual({
      seed: 7,
      place: 0,
      id: "1",
      timestamp: 0,
      sender: "Ann",
      recipient: '["Ben","Cem"]',
      recipients: 2,
      addresses: '["Ben","Cem"]',
      cause: "UserRequirement",
      role: "user",
      parents: "[]",
      content: 'a "quoted", text\r\nwith lines',
      characters: 28,
      payload: null,
      metadata: "{}",
    });
    expect(messageRows(hostile, { per: "recipient" }).map(({ place, recipient }) => [place, recipient])).toEqual([
      [0, "Ben"],
      [0, "Cem"],
      [1, null],
      [2, "A"],
    ]);
    expect(() => messageRows(hostile, { per: "edge" as never })).toThrow(/"recipient"/);
  });

  it("are read back by Python as they were", { tags: ["science", "long"] }, () => {
    const rows = messageRows(hostile);
    const script =
      "import csv,io,json,sys; sys.stdout.write(json.dumps(list(csv.DictReader(io.StringIO(sys.stdin.buffer.read().decode(), newline='')))))";
    const { stdout, stderr, status } = spawnSync("python3", ["-I", "-c", script], { input: csvTable(rows), encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const asText = (row: object): object =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? "" : String(value)]));
    expect(JSON.parse(stdout)).toEqual(rows.map(asText));
    const lines = jsonLinesTable(rows).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows);
  });

  it("are a Parquet file with the same values", async () => {
    const { parquetReadObjects } = await import("hyparquet");
    const rows = [...messageRows(hostile).map((row) => ({ ...row, isLast: row.place === 2, mixed: row.place === 0 ? 1 : "two" }))];
    const file = await parquetTable(rows);
    const read = await parquetReadObjects({ file: file.buffer as ArrayBuffer });
    expect(read).toEqual(rows.map((row) => ({ ...row, mixed: String(row.mixed) })));
    await expect(parquetTable([])).rejects.toMatchObject({ code: "TABLE_INVALID" });
    expect(() => csvTable([{ a: [] as never }])).toThrow(/in the column "a"/);
  });
});
