import { describe, expect, test } from "vitest";
import { delay, drop, duplicate } from "../../../src/edges/index.ts";
import { createMessage, type Message } from "../../../src/message/message.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import type { EdgeDecision, EdgePolicy, EdgePassage } from "../../../src/runtime/edges/edge-policy.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import type { ObservedOf, RunEvent } from "../../../src/runtime/record/event.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { Team } from "../../../src/team/team.ts";
import type { TeamOptions } from "../../../src/team/team-options.ts";
import { eventsOf } from "../../team/recorded.ts";
import { answering, contents, town } from "../town.ts";

type Decide = (passage: EdgePassage) => EdgeDecision | undefined;

const policy = (decide: Decide, name = "test"): EdgePolicy => ({ name, decide });

/** Ann tells Bob and Cid; each of them says what it has read, with the id of what it answers. */
const kinds: Readonly<Record<string, () => Role[]>> = {
  "step roles": () => [
    defineRole({
      name: "Ann",
      step: (_state, message, out) => void out.say(message.content, { sendTo: ["Bob", "Cid"], instructContent: 7 }),
    }),
    ...["Bob", "Cid"].map((name) =>
      defineRole({
        name,
        watch: [],
        step: (_state, { content, instructContent }, out) => void out.say(`${name}: ${content} ${String(instructContent)}`),
      }),
    ),
  ],
  roles: () => [
    answering("Ann", (rc) => rc.message(rc.news[0]?.content ?? "", { sendTo: ["Bob", "Cid"], instructContent: 7 }), {
      watch: ["UserRequirement"],
    }),
    ...["Bob", "Cid"].map((name) =>
      answering(
        name,
        (rc) => rc.news.map((news) => rc.message(`${name}: ${news.content} ${String(news.instructContent)}`, { parents: [news.id] })),
        { watch: [] },
      ),
    ),
  ],
};

const toBob = (decision: EdgeDecision): EdgePolicy => policy(({ to }) => (to === "Bob" ? decision : undefined));

async function told(roles: Role[], edges: readonly EdgePolicy[]) {
  const environment = town(roles, { edges });
  const faults: ObservedOf<"message.fault">[] = [];
  const events: RunEvent[] = [];
  const warnings: string[] = [];
  environment.on("message.fault", (fault) => void faults.push(fault));
  environment.on("act.ended", (event) => void events.push(event));
  environment.on("warning", ({ text }) => void warnings.push(text));
  environment.publishMessage("go");
  const result = await environment.run();
  return { environment, faults, events, warnings, result };
}

const parentsOf = (outputs: readonly Message[]): readonly string[] => outputs.map(({ parents }) => parents.join());

describe.each(Object.entries(kinds))("messages of %s", (_kind, rolesOf) => {
  test("that are lost on the way to one recipient are kept, told and counted, and the other one gets them", async () => {
    const { faults, result } = await told(rolesOf(), [toBob({ kind: "drop" })]);
    expect(contents(result.outputs)).toEqual(["Cid: go 7"]);
    expect(contents(result.messages)).toEqual(["go", "go", "Cid: go 7"]);
    expect(faults).toMatchObject([{ message: { id: "Ann#0.0" }, fault: { to: "Bob", by: ["test"], arrives: [] } }]);
    expect(result.faults).toEqual({ lost: 1, delayed: 0, copied: 0, rewritten: 0 });
    expect(result.deadLetters).toEqual([]);
  });

  test("Arrivals.R1 that are rewritten keep their id, and the history what was sent", async () => {
    const { environment, result } = await told(rolesOf(), [toBob({ kind: "rewrite", content: "stop" })]);
    expect(contents(result.outputs)).toEqual(["Bob: stop undefined", "Cid: go 7"]);
    expect(parentsOf(result.outputs)).toEqual(["Ann#0.0", "Ann#0.0"]);
    expect(environment.history.get().find(({ id }) => id === "Ann#0.0")).toMatchObject({ content: "go", instructContent: 7 });
    expect(result.faults).toMatchObject({ rewritten: 1 });
  });

  test("Arrivals.R1 that are copied come with ids of their own", async () => {
    const { result } = await told(rolesOf(), [toBob({ kind: "copy", copies: 2 })]);
    expect(parentsOf(result.outputs.filter(({ sentFrom }) => sentFrom === "Bob"))).toEqual(["Ann#0.0", "Ann#0.0*1", "Ann#0.0*2"]);
    expect(contents(result.messages).filter((content) => content === "go")).toHaveLength(2);
    expect(result.faults).toMatchObject({ copied: 2 });
  });

  test("that are delayed come in a later round", async () => {
    const { environment, result } = await told(rolesOf(), [toBob({ kind: "delay", ticks: 3 })]);
    expect(contents(result.outputs)).toEqual(["Cid: go 7", "Bob: go 7"]);
    // Sent in round 0, it would be read in round 1.
    expect(environment.state.round).toBe(5);
    expect(result.faults).toMatchObject({ delayed: 1 });
  });

  test("that are copied and delayed stand in the history once, as they were sent, at every moment", async () => {
    const edges = [toBob({ kind: "copy", copies: 1 }), toBob({ kind: "delay", ticks: 2 }), toBob({ kind: "rewrite", content: "stop" })];
    const environment = town(rolesOf(), { edges: edges.map((edge, nth) => ({ ...edge, name: `p${nth}` })) });
    environment.publishMessage("go");
    const saidByAnn = ({ messages }: { readonly messages: readonly Message[] }): readonly string[] =>
      messages.filter(({ sentFrom }) => sentFrom === "Ann").map(({ id, content }) => `${id} ${content}`);
    expect(saidByAnn(await environment.run({ rounds: 1 }))).toEqual(["Ann#0.0 go"]);
    const result = await environment.run();
    expect(saidByAnn(result)).toEqual(["Ann#0.0 go"]);
    expect(environment.state.deliveries.filter(({ sentFrom }) => sentFrom === "Ann")).toHaveLength(1);
    expect(contents(result.outputs)).toEqual(["Cid: go 7", "Bob: stop undefined", "Bob: stop undefined"]);
  });

  test("pass one policy after the other, which decide on each copy", async () => {
    const second = policy(
      ({ message }) => (message.id.endsWith("*1") ? { kind: "rewrite", content: message.content.toUpperCase() } : undefined),
      "second",
    );
    const { faults, result } = await told(rolesOf(), [toBob({ kind: "copy", copies: 1 }), second]);
    expect(contents(result.outputs)).toEqual(["Bob: go 7", "Bob: GO undefined", "Cid: go 7"]);
    expect(faults.map(({ fault }) => fault.by)).toEqual([["test", "second"]]);
  });

  test.each<readonly [string, () => unknown, string]>([
    [
      "throws",
      () => {
        throw new Error("no idea");
      },
      "but it threw: no idea",
    ],
    ["answers a text", () => "drop", 'but it answered "drop", which is no decision'],
    ["answers another kind", () => ({ kind: "eat" }), 'it answered {"kind":"eat"}'],
    ["answers a promise", () => Promise.reject(new Error("late")), "it answered a promise"],
    ["delays into the past", () => ({ kind: "delay", ticks: -1 }), "which is no decision"],
    ["delays by nothing", () => ({ kind: "delay" }), "which is no decision"],
    ["makes too many copies", () => ({ kind: "copy", copies: 1_001 }), "which is no decision"],
    ["writes what is no text", () => ({ kind: "rewrite", content: 1 }), "which is no decision"],
    ["writes what is no JSON", () => ({ kind: "rewrite", instructContent: Number.NaN }), "but it threw: Expected a JSON value"],
  ])("Edges.G3 a policy that %s fails the run and loses nothing, whatever the failure policy", async (_what, decide, text) => {
    const journal = memoryJournal();
    let isBad = true;
    const edges = [policy((passage) => (isBad ? (decide() as EdgeDecision) : toBob({ kind: "drop" }).decide(passage)))];
    const options: TeamOptions = { journal, seed: 1, edges, onFailure: "skip" };
    const failed = await new Team({ ...options, roles: rolesOf() }).run("go", { id: "r" }).result;
    expect(failed).toMatchObject({ status: "failed", error: { message: expect.stringContaining(text) as string } });
    expect(failed.error?.message).toContain("policy test of the edges");
    expect(failed.error?.message).toContain("message Ann#0.0 from Ann to Bob");
    expect([failed.deadLetters, contents(failed.messages)]).toEqual([[], ["go"]]);
    isBad = false;
    const { outputs } = await new Team({ ...options, roles: rolesOf() }).resume("r").result;
    expect(contents(outputs)).toEqual(["Cid: go 7"]);
    const replay = new Team({ journal, roles: rolesOf() }).replay("r");
    const again: RunEvent[] = [];
    for await (const event of replay) again.push(event);
    expect((await replay.result).error).toBeUndefined();
    expect(canonical(again)).toBe(canonical(await eventsOf(journal, "r")));
  });
});

describe("Edges.G2 a policy that never does anything", () => {
  test.each<readonly [string, EdgePolicy]>([
    ["undefined", policy(() => undefined)],
    ["deliver", policy(() => ({ kind: "deliver" }))],
    ["no delay", policy(() => ({ kind: "delay", ticks: 0 }))],
    ["no copies", policy(() => ({ kind: "copy", copies: 0 }))],
    ["the same contents", policy(({ message: { content } }) => ({ kind: "rewrite", content }))],
    ["a rate of 0", drop(0)],
  ])("by answering %s leaves the canonical log as it is without one", async (_what, edge) => {
    const recorded = async (edges: readonly EdgePolicy[]): Promise<readonly RunEvent[]> => {
      const journal = memoryJournal();
      await new Team({ journal, seed: 1, roles: kinds["roles"]?.() ?? [], edges }).run(createMessage("go", { id: "i" }), { id: "r" })
        .result;
      return eventsOf(journal, "r");
    };
    const events = await recorded([edge]);
    expect(canonical(events)).toBe(canonical(await recorded([])));
    expect(events.filter((event) => JSON.stringify(event).includes("faults"))).toEqual([]);
  });
});

test("the canonical log tells what happened on the way, although nothing follows from it", async () => {
  const { events } = await told(kinds["step roles"]?.() ?? [], [
    policy(({ to }) => (to === "Cid" ? { kind: "delay", ticks: 1 } : undefined)),
  ]);
  const plain = await told(kinds["step roles"]?.() ?? [], []);
  const [delayed, prompt] = [events, plain.events].map(([event]) => canonical(event === undefined ? [] : [event]));
  expect(delayed).toContain('"faults":[{"arrives":[{"due":2}],"by":["test"],"to":"Cid"}]');
  expect(prompt).not.toContain("faults");
});

test("a policy writes no longer message than a role may", async () => {
  const environment = town(kinds["roles"]?.() ?? [], { edges: [toBob({ kind: "rewrite", content: "x".repeat(101) })], messageLimit: 100 });
  environment.publishMessage("go");
  const { error } = await environment.run();
  expect(error?.message).toContain("but it wrote 101 characters, more than the 100 of one message");
});

describe("Edges.G1 the stream of a decision", () => {
  const drawn = async (...before: readonly EdgePolicy[]): Promise<readonly number[]> => {
    const numbers: number[] = [];
    const draws = policy(({ random }) => void numbers.push(random()));
    await told(kinds["step roles"]?.() ?? [], [...before, draws]);
    return numbers;
  };

  test("is not changed by policies of other names, and is another one for a second policy of the same name", async () => {
    const alone = await drawn();
    expect(new Set(alone).size).toBe(2);
    expect(await drawn(policy(({ random }) => void random(), "other"))).toEqual(alone);
    expect(await drawn(policy(() => undefined))).not.toEqual(alone);
  });
});

test("a stop condition counts each message once, also one that is delayed or comes more than once on its way to many", async () => {
  const ann = defineRole({ name: "Ann", react: (rc) => rc.message("said", { sendTo: ["Bob", "Cid", "Dan"] }) });
  const heard = ["Bob", "Cid", "Dan"].map((name) => defineRole({ name, watch: [], react: () => undefined }));
  const environment = new Environment({ seed: 1, edges: [delay(3), duplicate(1)] });
  for (const role of [ann, ...heard]) environment.addRole(role);
  environment.publishMessage("go");
  const counts: number[] = [];
  const { messages } = await environment.run({ rounds: 10, stopWhen: ({ delivered }) => counts.push(delivered) < 0 });
  expect([messages.length, counts.at(-1)]).toEqual([2, 2]);
});

describe("the policies of a run", () => {
  const teamOf = (options: TeamOptions): Team => new Team({ seed: 1, roles: kinds["roles"]?.() ?? [], ...options });

  test("are recorded, and a run is gone on with or forked only with equal ones", async () => {
    const journal = memoryJournal();
    await teamOf({ journal, edges: [drop(0.1).on("Ann->*").during(2, 5)] }).run("go", { id: "r", rounds: 1 }).result;
    const [started] = await eventsOf(journal, "r");
    const recorded = [{ name: "drop", parameters: { rate: 0.1, during: { from: 2, to: 5 } }, pairs: ["Ann->*"] }];
    expect(started).toMatchObject({ edges: recorded });
    for (const options of [{}, { edges: [drop(0.2).on("Ann->*").during(2, 5)] }, { edges: [drop(0.1).during(2, 5)] }]) {
      expect((await teamOf({ journal, ...options }).resume("r").result).error).toMatchObject({ code: "EDGES_DIFFER" });
      expect((await teamOf({ journal, ...options }).fork("r").result).error).toMatchObject({ code: "EDGES_DIFFER" });
    }
    const many = Array.from({ length: 1_000 }, (_, nth) => drop(0.1).on(`Ann->Bob${nth}`));
    const refused = (await teamOf({ journal, edges: many }).resume("r").result).error;
    expect([refused?.code, (refused?.message.length ?? 0) < 1_000]).toEqual(["EDGES_DIFFER", true]);
    const { status } = await teamOf({ journal, edges: [drop(0.1).on("Ann->*").during(2, 5)] }).resume("r", { rounds: 9 }).result;
    expect(status).toBe("finished");
  });

  test("are warned of where they name a role that is not there", async () => {
    const { warnings } = await told(kinds["roles"]?.() ?? [], [drop(1).on("Ann->Ghost", "A*->*", "G*->*")]);
    expect(warnings).toEqual([
      "A policy of the edges names Ghost, and no role has that name.",
      "A policy of the edges names G*, and no role has a name of that form.",
    ]);
  });

  test.each<readonly [unknown]>([
    ["drop"],
    [["drop"]],
    [[{ name: "x" }]],
    [[{ name: "", decide: () => undefined }]],
    [[{ name: "x", decide: () => undefined, pairs: ["Ann"] }]],
    [[{ name: "x", decide: () => undefined, pairs: "Ann->Bob" }]],
    [[{ name: "x", decide: () => undefined, parameters: 1 }]],
  ])("are refused: %j", (edges) => {
    expect(() => town([], { edges: edges as never })).toThrow(expect.objectContaining({ code: "EDGE_INVALID" }));
    expect(() => new Team({ edges: edges as never })).toThrow(expect.objectContaining({ code: "EDGE_INVALID" }));
  });

  test("write no secret into the record", async () => {
    const journal = memoryJournal();
    const edges = [toBob({ kind: "rewrite", content: "the word is swordfish", instructContent: ["swordfish"] })];
    const { outputs } = await teamOf({ journal, edges, secrets: ["swordfish"] }).run("go", { id: "r" }).result;
    expect(JSON.stringify([outputs, await eventsOf(journal, "r")])).not.toContain("swordfish");
  });
});

describe("copies and the bounds of mailboxes", () => {
  const copies = policy(({ to }) => (to === "Bob" ? { kind: "copy", copies: 3 } : undefined));

  test("a mailbox that refuses more fails the run, and one that drops keeps the newest", async () => {
    const run = async (overflow: "refuse" | "drop-oldest") => {
      const environment = town(kinds["step roles"]?.() ?? [], { edges: [copies], mailbox: { limit: 3, overflow } });
      environment.publishMessage("go");
      return environment.run();
    };
    expect(await run("refuse")).toMatchObject({ status: "failed", error: { code: "MAILBOX_FULL" } });
    const { outputs, dropped } = await run("drop-oldest");
    expect(dropped).toBe(1);
    expect(parentsOf(outputs.filter(({ sentFrom }) => sentFrom === "Bob"))).toEqual(["Ann#0.0*1", "Ann#0.0*2", "Ann#0.0*3"]);
  });
});

test("Replay.P6 a failure for want of room for copies is replayed without the policy that made them", async () => {
  const copies = policy(({ to }) => (to === "Bob" ? { kind: "copy", copies: 3 } : undefined));
  const journal = memoryJournal();
  const options = {
    journal,
    seed: 1,
    roles: kinds["step roles"]?.() ?? [],
    mailbox: { limit: 3 },
    onFailure: "skip",
    scheduler: "eager",
  } as const;
  await new Team({ ...options, edges: [copies] }).run("go", { id: "r" }).result;
  expect(await eventsOf(journal, "r")).toContainEqual(expect.objectContaining({ type: "act.failed", then: "dead" }));
  expect((await new Team(options).replay("r").result).error).toBeUndefined();
});

describe("a fork that changes a message with faults", () => {
  test("drops what was rewritten of the old contents, and changes what nobody can have read", async () => {
    const journal = memoryJournal();
    const edges = [toBob({ kind: "rewrite", content: "stop" })];
    const team = new Team({ journal, seed: 1, roles: kinds["roles"]?.() ?? [], edges });
    await team.run("go", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    const seq = events.findIndex((event) => event.type === "act.ended");
    const { outputs, error } = await team.fork("r", { id: "f", change: [{ seq, content: "turn" }] }).result;
    expect([error, contents(outputs)]).toEqual([undefined, ["Bob: turn undefined", "Cid: turn undefined"]]);
    const late = events.findLastIndex((event) => event.type === "act.ended");
    expect((await team.fork("r", { change: [{ seq, content: "turn" }], at: late }).result).error).toMatchObject({ code: "FORK_CHANGE" });
  });
});
