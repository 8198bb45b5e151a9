import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { Environment } from "../../../src/runtime/environment.ts";
import { createMessage } from "../../../src/message/message.ts";
import { ROUTE_TO_SELF, UserRequirement } from "../../../src/message/address.ts";
import type { Role } from "../../../src/role/role.ts";
import type { Journal } from "../../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { Team } from "../../../src/team/team.ts";
import { eventsOf, journalWith } from "../../team/recorded.ts";
import { answering, contents, listener, remembered, town } from "../town.ts";

/** Tells how many were under way at most. */
function crowd(count: number): { roles: Role[]; most: () => number } {
  let running = 0;
  let most = 0;
  const roles = Array.from({ length: count }, (_, i) =>
    answering(`p${i}`, async (rc) => {
      running += 1;
      most = Math.max(most, running);
      for (let k = 0; k < 4; k += 1) await rc.step(`wait ${k}`, {}, () => Promise.resolve(k));
      running -= 1;
    }),
  );
  return { roles, most: () => most };
}

describe("rounds", () => {
  test("every role with mail runs once, and what they say is delivered at the end of the round in hire order", async () => {
    const log: string[] = [];
    const quick = answering("Quick", (rc) => {
      log.push("quick acts");
      return rc.message("quick", { sendTo: "Ear" });
    });
    const slow = answering("Slow", async (rc) => {
      for (let i = 0; i < 5; i += 1) await rc.step(`s${i}`, {}, () => Promise.resolve(i));
      log.push("slow acts");
      return rc.message("slow", { sendTo: "Ear" });
    });
    const environment = town([slow, quick, listener("Ear", { watch: [] })]);
    environment.on("act.ended", () => log.push(`ear has ${environment.getRole("Ear")?.inbox.length}`));
    environment.on("round.ended", ({ round }) => log.push(`round ${round} ended`));
    environment.publishMessage("go");
    await environment.run();
    expect(log).toEqual(["quick acts", "ear has 0", "slow acts", "ear has 0", "round 0 ended", "ear has 0", "round 1 ended"]);
    expect(remembered(environment, "Ear")).toEqual(["slow", "quick"]);
  });

  test("a stop that is asked for as a round ends by itself is heard before that end is told", async () => {
    const journal = memoryJournal();
    let stop = (): void => {};
    const ann = answering("Ann", (rc) => {
      queueMicrotask(() => stop());
      return rc.message("again", { sendTo: ROUTE_TO_SELF });
    });
    const team = new Team({ seed: "s", journal, roles: [ann] });
    const handle = team.run("go", { id: "run" });
    stop = () => handle.stop();
    const { status, rounds } = await handle.result;
    expect({ status, rounds }).toEqual({ status: "stopped", rounds: 0 });
    expect((await eventsOf(journal, "run")).map(({ type }) => type)).toEqual(["run.started", "message", "act.ended", "run.ended"]);
  });

  test("a message that is published when the last round has ended is delivered in the same run", async () => {
    const environment = town([listener("Ear", { watch: [] })]);
    const next = ["two", "three"];
    const publishNext = (): void => {
      const text = next.shift();
      if (text !== undefined) environment.publishMessage(createMessage(text, { sendTo: "Ear" }));
    };
    environment.on("round.ended", () => void Promise.resolve().then(publishNext));
    environment.publishMessage(createMessage("one", { sendTo: "Ear" }));
    const { status, rounds } = await environment.run();
    expect({ status, rounds, heard: remembered(environment, "Ear") }).toEqual({
      status: "finished",
      rounds: 3,
      heard: ["one", "two", "three"],
    });
  });

  test.each([
    ["starts nobody else", 300],
    ["does not end, where all had their turn", 128],
  ])("a round that is interrupted while turns breathe %s", async (_what, roles) => {
    const stop = new AbortController();
    let acted = 0;
    const one = answering("One", () => {
      if (acted === 0) setImmediate(() => stop.abort());
      acted += 1;
    });
    const environment = new Environment({ concurrency: 1 });
    for (let place = 0; place < roles; place += 1) environment.addRole(one, { name: `p${place}` });
    environment.publishMessage("go");
    expect((await environment.run({ signal: stop.signal })).status).toBe("stopped");
    expect([acted, environment.state.round]).toEqual([128, 0]);
  });
});

describe("Engine.E1 ScheduledRun.S2 quiescence is counted", () => {
  test("an answer to nobody is not waited for", async () => {
    const environment = town([answering("Ann", (rc) => rc.message("out"))]);
    environment.publishMessage("go");
    expect(await environment.run()).toMatchObject({ status: "finished", rounds: 1 });
  });
});

describe("the limit of rounds", () => {
  const endless = (): Role => answering("Ann", (rc) => rc.message("again", { sendTo: ROUTE_TO_SELF }));

  test("ends a run that would not end, with what it has", async () => {
    const environment = town([endless()]);
    environment.publishMessage("go");
    const result = await environment.run({ rounds: 3 });
    expect(result).toMatchObject({ status: "rounds", rounds: 3 });
    expect(result.error).toBeUndefined();
    expect(contents(result.messages)).toEqual(["go", "again", "again", "again"]);
  });

  test("is 100 unless said otherwise, and 0 lets nobody run", async () => {
    const environment = town([endless()]);
    environment.publishMessage("go");
    expect(await environment.run({ rounds: 0 })).toMatchObject({ status: "rounds", rounds: 0 });
    expect(await environment.run()).toMatchObject({ status: "rounds", rounds: 100 });
  });

  test.each([-1, 1.5, Number.NaN, "3" as unknown as number])("%s rounds are refused", async (rounds) => {
    await expect(town([]).run({ rounds })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("concurrency", () => {
  test.each([1, 2, 5, 16])("at most %s activations at once, and as many when there is work", async (concurrency) => {
    const { roles, most } = crowd(20);
    const environment = town(roles, { concurrency });
    environment.publishMessage("go");
    await environment.run();
    expect(most()).toBe(concurrency);
  });
});

describe("publishing while it runs", () => {
  test("comes at the end of the round, after what the roles said", async () => {
    const speaker = answering("Ann", async (rc) => {
      if (rc.news.some((news) => news.content !== "go")) return undefined;
      const receipt = environment.publishMessage("from outside");
      expect(receipt.recipients).toEqual(["Ann", "Ear"]);
      await rc.step("wait", {}, () => Promise.resolve(1));
      return rc.message("from Ann", { causeBy: UserRequirement });
    });
    const environment = town([speaker, listener("Ear", { watch: [UserRequirement] })]);
    environment.publishMessage("go");
    const result = await environment.run();
    expect(contents(result.messages)).toEqual(["go", "from Ann", "from outside"]);
    expect(remembered(environment, "Ear")).toEqual(["go", "from Ann", "from outside"]);
  });

  test("by a listener at the end of a round: for the next round", async () => {
    const environment = town([listener("Ann")]);
    let more = 2;
    environment.on("round.ended", () => {
      if (more > 0) environment.publishMessage(`more ${(more -= 1)}`);
    });
    environment.publishMessage("go");
    const result = await environment.run();
    expect([result.status, result.rounds]).toEqual(["finished", 3]);
    expect(remembered(environment, "Ann")).toEqual(["go", "more 1", "more 0"]);
  });

  test("a message that waits for the end of a failed round is in the result, and is delivered on resume", async () => {
    let isDown = true;
    const ann = answering("Ann", () => {
      environment.publishMessage("from outside");
      if (isDown) throw new Error("down");
    });
    const bob = answering("Bob", (rc) => (rc.news[0]?.content === "go" ? rc.message("Bob's") : undefined));
    const environment = town([ann, bob]);
    environment.publishMessage("go");
    expect(contents((await environment.run()).messages)).toEqual(["go", "Bob's", "from outside"]);
    isDown = false;
    await environment.run({ rounds: 1 });
    expect(remembered(environment, "Bob")).toEqual(["go"]);
    expect(contents(environment.getRole("Bob")?.inbox ?? [])).toEqual(["from outside", "from outside"]);
  });

  test("Environment.E1 running it twice at once is refused", async () => {
    const environment = town([listener("Ann")]);
    environment.publishMessage("go");
    const first = environment.run();
    await expect(environment.run()).rejects.toMatchObject({ code: "RUN_TWICE" });
    expect((await first).status).toBe("finished");
    expect((await environment.run()).status).toBe("finished");
  });
});

describe.each(["eager", "rounds"] as const)("Engine.E3 under %s, the signal that may stop a run", (scheduler) => {
  test("has no listener before it and after it", async () => {
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, "abort").length;
    const seen: number[] = [];
    const environment = new Environment({ scheduler });
    environment.addRole(answering("Ann", () => void seen.push(listeners())));
    for (let run = 0; run < 3; run += 1) {
      environment.publishMessage("go");
      expect(listeners()).toBe(0);
      expect((await environment.run({ signal })).status).toBe("finished");
      expect(listeners()).toBe(0);
    }
    expect(seen).toEqual([1, 1, 1]);
  });

  test("stops it too when it aborted between two runs", async () => {
    const stop = new AbortController();
    let acted = 0;
    const environment = new Environment({ scheduler });
    environment.addRole(answering("Ann", () => void (acted += 1)));
    environment.publishMessage("go");
    await environment.run({ signal: stop.signal });
    stop.abort();
    environment.publishMessage("again");
    expect((await environment.run({ signal: stop.signal })).status).toBe("stopped");
    expect(acted).toBe(1);
  });
});

test("a role acts once in a round, also with mail left, and in the order of hiring whatever the order of mail", async () => {
  const acted: string[] = [];
  const bad = answering(
    "Bad",
    (rc) => {
      if (rc.inbox.some(({ content }) => content === "fail")) throw new Error("no");
      acted.push("Bad");
    },
    { onFailure: "skip" },
  );
  const other = answering("Other", () => void acted.push("Other"));
  const environment = town([bad, other]);
  environment.on("act.failed", ({ role, round, then }) => acted.push(`${role} ${round} ${then}`));
  environment.on("round.ended", ({ round }) => acted.push(`end of ${round}`));
  for (const content of ["fail", "well", "fail"]) environment.publishMessage(createMessage(content, { sendTo: "Bad" }));
  environment.publishMessage(createMessage("go", { sendTo: "Other" }));
  expect((await environment.run()).status).toBe("finished");
  const first = ["Bad 0 isolate", "Bad 0 dead", "Other", "end of 0"];
  expect(acted).toEqual([...first, "Bad", "end of 1", "Bad 2 dead", "end of 2"]);
  for (const sendTo of ["Other", "Bad"]) environment.publishMessage(createMessage("again", { sendTo }));
  await environment.run();
  expect(acted.slice(-3)).toEqual(["Bad", "Other", "end of 3"]);
});

test("a role that acted in a round before the process died does not act in it again, though it has mail left", async () => {
  const bad = answering(
    "Bad",
    (rc) => {
      if (rc.inbox.some(({ content }) => content === "fail")) throw new Error("no");
    },
    { onFailure: "skip", watch: [] },
  );
  const slow = answering("Slow", async (rc) => void (await rc.step("slow", {}, async () => 1)), { watch: [] });
  const teller = answering("Teller", (rc) => {
    const words = ["fail", "well", "well"].map((content) => rc.message(content, { sendTo: "Bad" }));
    return [rc.message("go", { sendTo: "Slow" }), ...words];
  });
  const team = (journal: Journal): Team => new Team({ seed: "s", journal, roles: [slow, bad, teller] });
  const endsOf = async (journal: Journal): Promise<string[]> =>
    (await eventsOf(journal, "r")).flatMap((event) =>
      event.type === "act.ended" || event.type === "act.failed" ? [`${event.role} ${event.round} ${event.type}`] : [],
    );
  const whole = memoryJournal();
  await team(whole).run("go", { id: "r" }).result;
  const events = await eventsOf(whole, "r");
  const died = events.findIndex((event) => event.type === "act.failed" && event.then === "dead");
  const journal = await journalWith("r", events.slice(0, died + 1));
  expect((await team(journal).resume("r").result).status).toBe("finished");
  expect((await endsOf(journal)).slice(-3)).toEqual(["Slow 1 act.ended", "Bad 2 act.ended", "Bad 3 act.ended"]);
  expect(await endsOf(journal)).toEqual(await endsOf(whole));
});

test("a message of a stopped round is delivered before one that comes after the stop", async () => {
  const heard: string[] = [];
  let fails = true;
  const ann = answering("Ann", () => {
    if (!fails) return;
    environment.publishMessage(createMessage("first", { sendTo: "Bob" }));
    throw new Error("no");
  });
  const bob = answering("Bob", (rc) => void heard.push(...rc.inbox.map(({ content }) => content)));
  const environment = town([ann, bob], { onFailure: "stop" });
  environment.publishMessage(createMessage("go", { sendTo: "Ann" }));
  expect((await environment.run()).status).toBe("failed");
  environment.publishMessage(createMessage("second", { sendTo: "Bob" }));
  fails = false;
  await environment.run();
  expect(heard).toEqual(["first", "second"]);
});
