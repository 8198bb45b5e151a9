import { beforeAll, describe, expect, test } from "vitest";
import { defineAction } from "../../../src/role/action.ts";
import { JournalError } from "../../../src/kernel/errors.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import { hiredRole } from "../../../src/runtime/hired-roles.ts";
import { retry } from "../../../src/role/failure-policy.ts";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import { apply, fold } from "../../../src/runtime/record/apply.ts";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "../../../src/runtime/record/event.ts";
import type { RoleState } from "../../../src/runtime/record/role-state.ts";
import { RunState } from "../../../src/runtime/record/run-state.ts";
import { stepsInFlight } from "../../../src/runtime/record/apply-steps.ts";
import { scriptedModel } from "../../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../../src/testing/simulated-clock.ts";
import { answering, listener } from "../town.ts";
import { fresh } from "../../team/recorded.ts";
import { projection } from "../state-projection.ts";

/** A company small enough to be read, with a bit of everything. */
function roles(): Role[] {
  let tries = 0;
  const Ask = defineAction({ name: "Ask", prompt: (ctx) => ctx.text });
  const flaky = answering(
    "Flaky",
    async (rc) => {
      await rc.step("good", {}, () => Promise.resolve("good"));
      tries += 1;
      await rc.step("shaky", { tries }, () => (tries === 1 ? Promise.reject(new Error("shaky")) : Promise.resolve(1)));
      rc.state["tries"] = tries;
      rc.plan.appendTask({ id: "t", instruction: "i" });
      return rc.message("to nobody", { sendTo: ["Nobody", "Ear"] });
    },
    { onFailure: retry(1) },
  );
  const asker = defineRole({ name: "Asker", actions: [Ask], memoryLimit: 2 });
  const bad = answering("Bad", () => Promise.reject(new Error("bad")), { onFailure: "skip" });
  const Tell = defineAction({ name: "Tell", run: ({ text }) => `${text}: ${SECRET}` });
  const teller = defineRole({ name: "Teller", actions: [Tell] });
  return [asker, flaky, bad, listener("Ear", { watch: [Ask, Tell] }), teller];
}

const SECRET = "the-secret";

interface Lived {
  readonly events: RunEvent[];
  readonly pictures: unknown[];
  readonly state: RunState;
}

/** Lives a whole run on a state that can be looked at and, where somebody listens, takes a picture of it after every event. */
async function lived(scheduler: "rounds" | "eager", listens: boolean = true): Promise<Lived> {
  const state = new RunState("r");
  state.scheduler = scheduler;
  const model = scriptedModel(["an answer"], { price: { input: 1, output: 1 } });
  const clock = simulatedClock(5);
  const environment = new Environment({ seed: "s", model, clock, secrets: [SECRET] }, { state });
  const events: RunEvent[] = [];
  const pictures: unknown[] = [];
  const types: RunEvent["type"][] = [
    "run.started",
    "message",
    "act.started",
    "step.started",
    "step.ended",
    "act.ended",
    "act.failed",
    "round.ended",
    "run.ended",
  ];
  for (const type of listens ? types : []) {
    environment.on(type, (event) => {
      events.push(fresh(event));
      pictures.push(projection(state));
    });
  }
  const hired = roles();
  environment.log.record({
    type: "run.started",
    team: "t",
    roles: hired.map((role) => hiredRole(role, role.name)),
    seed: "s",
    scheduler,
    budget: 1_000_000,
  });
  environment.addRoles(hired);
  environment.publishMessage("go");
  const end = await environment.drive({ roundsLeft: () => 10 - state.round, checkpoint: undefined, signal: undefined });
  await environment.finish(end);
  return { events, pictures, state };
}

describe("fold", () => {
  test.each(["rounds", "eager"] as const)("%s: folding the events gives the live state, at every event", async (scheduler) => {
    const { events, pictures } = await lived(scheduler);
    expect(events.length).toBeGreaterThan(15);
    const state = new RunState("");
    for (const [place, event] of events.entries()) {
      apply(state, event);
      expect(projection(state)).toEqual(pictures[place]);
      expect(projection(fold(events.slice(0, place + 1)))).toEqual(pictures[place]);
    }
    expect(new Set(events.map((event) => event.type)).size).toBe(scheduler === "rounds" ? 9 : 8);
  });
});

test.each(["rounds", "eager"] as const)(
  "%s: a run that nobody listens to leads to the same state, and keeps no secret",
  async (scheduler) => {
    const { state } = await lived(scheduler, false);
    // Without rounds, how many messages a role finds is a matter of latency.
    if (scheduler === "rounds") expect(projection(state)).toEqual(projection(fold((await lived(scheduler)).events)));
    const told = state.history.getByRole("assistant").find(({ sentFrom }) => sentFrom === "Teller");
    expect(told?.content).toBe("go: [secret]");
    expect(state.roles.get("Teller")?.memory.getByPosition(-1)).toBe(told);
    expect(JSON.stringify(projection(state))).not.toContain(SECRET);
  },
);

describe("RunState.S1 RunState.S2 RunState.S3 RunState.S4 hold after every event", () => {
  test.each(["rounds", "eager"] as const)("%s", async (scheduler) => {
    const { events } = await lived(scheduler);
    const state = new RunState("");
    for (const event of events) {
      apply(state, event);
      const withMail = [...state.roles.values()].filter((role) => !role.mailbox.isEmpty).map((role) => role.name);
      expect([...state.ready].map(({ name }) => name).toSorted()).toEqual(withMail.toSorted());
      expect([...state.open].toSorted()).toEqual(
        [...state.roles.values()]
          .filter((role) => role.open !== undefined)
          .map((role) => role.name)
          .toSorted(),
      );
      const holds = stepsInFlight(state).map(({ record }) => record.started.hold);
      expect(state.ledger.held).toBe(holds.reduce((sum, hold) => sum + hold, 0));
    }
  });
});

describe("a record that cannot be", () => {
  let events: RunEvent[] = [];
  /** A place where Flaky is open with one step answered and one under way. */
  let open: RunEvent[] = [];

  beforeAll(async () => {
    ({ events } = await lived("rounds"));
    const place = events.findIndex((event) => event.type === "step.started" && event.name === "shaky");
    open = events.slice(0, place + 1);
  });

  function refusal(prefix: readonly RunEvent[], body: object): string {
    const state: RunState = fold(prefix);
    const event = { v: EVENT_VERSION, runId: "r", seq: state.seq, time: 0, ...body } as unknown as RunEvent;
    const before = state.seq;
    try {
      apply(state, event);
    } catch (error) {
      expect(state.seq).toBe(before);
      return error instanceof JournalError ? error.code : `no JournalError: ${String(error)}`;
    }
    return "accepted";
  }

  test("of a newer version is refused, and of one that never was", () => {
    expect(refusal([], { ...events[0], v: EVENT_VERSION + 1 })).toBe("EVENT_NEWER");
    expect(refusal([], { ...events[0], v: undefined })).toBe("JOURNAL_DAMAGED");
  });

  test("with a gap, or with an event twice", () => {
    expect(refusal(open, { ...open[0], seq: open.length + 1 })).toBe("JOURNAL_GAP");
    expect(refusal(open, { ...open.at(-1), seq: open.length - 1 })).toBe("JOURNAL_GAP");
    expect(() => fold([...open, ...open])).toThrow(expect.objectContaining({ code: "JOURNAL_GAP" }));
  });

  test("of another run", () => {
    expect(refusal(open, { runId: "other", type: "round.ended", round: 0 })).toBe("JOURNAL_DAMAGED");
  });

  const act = "Flaky#0~1";
  const none = { said: [], memory: [], working: [] };
  const wrong: [string, RunEventBody | object][] = [
    ["a second start", { type: "run.started", team: "t", roles: [], seed: "s", scheduler: "rounds" }],
    ["a message to a role that was never hired", { type: "message", message: { id: "m", content: "", sendTo: [] }, to: ["Zoe"] }],
    [
      "an activation of a role that was never hired",
      { type: "act.started", act: "Zoe#0~1", role: "Zoe", n: 0, attempt: 1, take: 1, at: 0 },
    ],
    [
      "a second activation of a role that has one open",
      { type: "act.started", act: "Flaky#1~1", role: "Flaky", n: 1, attempt: 1, take: 1, at: 0 },
    ],
    ["an activation that skips one", { type: "act.started", act: "Ear#1~1", role: "Ear", n: 1, attempt: 1, take: 0, at: 0 }],
    ["an activation that takes more than there is", { type: "act.started", act: "Ear#0~1", role: "Ear", n: 0, attempt: 1, take: 1, at: 0 }],
    [
      "a step of an activation that is not open",
      { type: "step.started", act: "Flaky#7~1", key: "k", kind: "step", name: "n", asked: 0, try: 1, hold: 0, request: null },
    ],
    [
      "a step of a role that was never hired",
      { type: "step.started", act: "Zoe#0~1", key: "k", kind: "step", name: "n", asked: 0, try: 1, hold: 0, request: null },
    ],
    [
      "a hold of less than nothing",
      { type: "step.started", act, key: "k", kind: "step", name: "n", asked: 0, try: 1, hold: -5, request: null },
    ],
    ["an end of a step that had not begun", { type: "step.ended", act, key: "unknown.0", try: 1, ok: true, cost: 0, basis: "none", at: 0 }],
    ["an end of an activation that is not open", { type: "act.ended", act: "Flaky#7~1", role: "Flaky", round: 0, take: 1, ...none }],
    ["an end that consumes more than there was", { type: "act.ended", act, role: "Flaky", round: 0, take: 99, ...none }],
    ["an end of another role's activation", { type: "act.ended", act, role: "Ear", round: 0, take: 0, ...none }],
    [
      "an end that remembers a message nobody knows",
      { type: "act.ended", act, role: "Flaky", round: 0, take: 1, ...none, memory: [["+", "unknown"]] },
    ],
    ["an end with a plan that is none", { type: "act.ended", act, role: "Flaky", round: 0, take: 1, ...none, plan: { goal: 5 } }],
    [
      "a failure of an activation that is not open",
      { type: "act.failed", act: "Flaky#7~1", role: "Flaky", round: 0, take: 1, error: {}, stepFailed: false, then: "stop" },
    ],
    ["the end of another round", { type: "round.ended", round: 5 }],
  ];

  test.each(wrong)("%s", (_what, body) => {
    expect(refusal(open, body)).toBe("JOURNAL_DAMAGED");
  });

  test("an end that consumes more than there was takes nothing, and both numbers are told", () => {
    const state = fold(open);
    const role = state.roles.get("Flaky") as RoleState;
    const { waiting } = role;
    const end = {
      v: EVENT_VERSION,
      runId: "r",
      seq: state.seq,
      time: 0,
      type: "act.ended",
      act,
      role: "Flaky",
      round: 0,
      take: 99,
      ...none,
    };
    expect(() => apply(state, end as RunEvent)).toThrow(`Flaky consumed 99 messages but had ${waiting}`);
    expect([waiting, role.waiting]).toEqual([1, 1]);
  });

  test("Tries.Y2 a step that is answered twice, or tried after its answer", () => {
    const started = open.findLast((event) => event.type === "step.started" && event.name === "good");
    const ended = open.findLast((event) => event.type === "step.ended" && event.act === act);
    expect(refusal(open, { ...ended, seq: open.length })).toBe("JOURNAL_DAMAGED");
    expect(refusal(open, { ...started, try: 2, seq: open.length })).toBe("JOURNAL_DAMAGED");
  });

  test("Tries.Y3 a try that ends under another number, or ends twice without an answer", () => {
    const shaky = open.at(-1);
    const end = {
      type: "step.ended",
      act,
      key: shaky?.type === "step.started" ? shaky.key : "",
      ok: false,
      retry: true,
      cost: 0,
      basis: "none",
      at: 0,
    };
    expect(refusal(open, { ...end, try: 9 })).toBe("JOURNAL_DAMAGED");
    const once = [...open, { v: EVENT_VERSION, runId: "r", seq: open.length, time: 0, ...end, try: 1 } as unknown as RunEvent];
    expect(refusal(once, { ...end, try: 1 })).toBe("JOURNAL_DAMAGED");
  });

  test("the error says what contradicts what", () => {
    expect(() => fold([...open, { v: EVENT_VERSION, runId: "r", seq: open.length, time: 0, type: "round.ended", round: 5 }])).toThrow(
      /round 5 ended in round 0/,
    );
  });
});

const hired = { fingerprint: "", traits: {}, state: {} };
const said = (id: string) => ({ message: createMessage(id, { id, sentFrom: "Ann" }), to: ["Bob"] });
const ended = (n: number, ids: readonly string[], more: object = {}) => ({
  ...{ type: "act.ended", act: `Ann#${n}~1`, role: "Ann", round: 0, take: 0, said: ids.map(said), memory: [], working: [] },
  ...more,
});

function folded(...bodies: readonly object[]): RunState {
  const team = ["Ann", "Bob"].map((name) => ({ name, ...hired }));
  const opening = { type: "run.started", team: "t", roles: team, seed: "s", scheduler: "eager" };
  const events = [opening, ...bodies].map((body, seq) => ({ v: EVENT_VERSION, runId: "r", seq, time: 0, ...body }) as unknown as RunEvent);
  return fold(events);
}

describe("deaths of the process", () => {
  const begun = { type: "act.started", act: "Ann#0~1", role: "Ann", n: 0, attempt: 1, take: 0, at: 0 };
  const resumed = { type: "run.resumed", uncertain: [] };
  const crashes = (state: RunState): readonly unknown[] => [state.stalled, [...state.suspects], state.roles.get("Ann")?.open?.crashes];

  test("are counted, until an activation takes effect: then nothing is suspicious any more", () => {
    expect(crashes(folded(begun, resumed, resumed))).toEqual([2, ["Ann"], 1]);
    const another = { ...ended(0, []), act: "Bob#0~1", role: "Bob" };
    expect(crashes(folded(begun, resumed, resumed, another))).toEqual([0, [], 0]);
  });
});

describe("a step whose end was never recorded", () => {
  test("Tries.Y1 is settled at its hold when the run goes on, and told as uncertain", async () => {
    const { events } = await lived("rounds");
    const place = events.findIndex((event) => event.type === "step.started" && event.kind === "model");
    const cut = events.slice(0, place + 1);
    const state = fold(cut);
    const { hold } = cut.at(-1) as { hold: number };
    expect(hold).toBeGreaterThan(0);
    expect(state.ledger).toMatchObject({ held: hold, spent: 0 });
    apply(state, { v: EVENT_VERSION, runId: "r", seq: state.seq, time: 0, type: "run.resumed", uncertain: [] });
    expect(state.ledger).toMatchObject({ held: 0, spent: hold });
    expect(state.uncertain).toBe(hold);
    expect(stepsInFlight(state)).toEqual([]);
  });
});
