import { describe, expect, test } from "vitest";
import { withTimeout } from "../../src/kernel/abort.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { Json } from "../../src/kernel/json.ts";
import { UserFeedback } from "../../src/message/address.ts";
import { createMessage } from "../../src/message/message.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { simulatedProcesses, type SimulatedProcess } from "../simulated-processes.ts";
import { Team } from "../../src/team/team.ts";
import { answering, listener } from "../runtime/town.ts";
import { appendingBy, eventsOf } from "./recorded.ts";

/** A role whose one step lasts until it is let go. */
function working(): { role: Role; begun: Promise<void>; letGo: (word: string) => void } {
  let letGo: (word: string) => void = () => undefined;
  const word = new Promise<string>((resolve) => (letGo = resolve));
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const effect = (): Promise<string> => {
    begin();
    return word;
  };
  const action = defineAction({ name: "Work", run: (ctx) => ctx.step("work", {}, effect) });
  return { role: defineRole({ name: "Ann", actions: [action] }), begun, letGo };
}

function opening(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

interface World {
  readonly shared: Journal;
  readonly first: SimulatedProcess;
  readonly second: SimulatedProcess;
}

function world(): World {
  const shared = memoryJournal();
  const host = simulatedProcesses(shared);
  return { shared, first: host.start(), second: host.start() };
}

async function ownedElsewhere({ first, second }: World, others: readonly Role[] = []) {
  const work = working();
  const roles = [work.role, ...others];
  const owner = new Team({ journal: first.journal, roles });
  const owned = owner.run("go", { id: "r" });
  await work.begun;
  const team = new Team({ journal: second.journal, roles });
  return { ...work, owned, team };
}

const typesOf = (events: readonly RunEvent[]): string[] => events.map(({ type }) => type);

describe("a run that another living process owns", () => {
  test("Follower.F1 is followed: events, observers and the result are those of the record", async () => {
    const there = world();
    const { team, letGo, owned } = await ownedElsewhere(there);
    const run = team.run("go", { id: "r" });
    const [iterated, observed]: [string[], string[]] = [[], []];
    run.on("act.ended", ({ act }) => observed.push(act));
    const iteration = (async () => {
      for await (const { type } of run) iterated.push(type);
    })();
    await run.started;
    letGo("well");
    const [mine, theirs] = await Promise.all([run.result, owned.result]);
    await iteration;
    expect([mine.status, mine.output?.content, mine.messages.length]).toEqual(["finished", "well", theirs.messages.length]);
    expect(observed).toEqual(["Ann#0~1"]);
    expect(iterated).toEqual(typesOf(await eventsOf(there.shared, "r")));
    expect(iterated.filter((type) => type === "run.resumed")).toEqual([]);
  });

  test("Follower.F2 is stopped there as soon as it is known here, and stays stopped", async () => {
    const there = world();
    const { team, owned } = await ownedElsewhere(there);
    const run = team.run("go", { id: "r" });
    void run.started.then(() => run.stop());
    expect([(await run.result).status, (await owned.result).status]).toEqual(["stopped", "stopped"]);
    expect(typesOf(await eventsOf(there.shared, "r"))).not.toContain("run.resumed");
  });

  test("is followed by polling where the journal has no watch", async () => {
    const there = world();
    const { letGo, role } = await ownedElsewhere(there);
    const { watch: _watch, ...polled } = there.second.journal;
    const clock = simulatedClock();
    const run = new Team({ journal: polled, roles: [role], clock }).run("go", { id: "r" });
    await run.started;
    letGo("well");
    const result = run.result.then(({ status }) => status);
    let status: string | undefined;
    void result.then((known) => (status = known));
    while (status === undefined) {
      await clock.advance(500);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect(status).toBe("finished");
  });

  test("is stopped, paused and continued there", async () => {
    const there = world();
    const { team, owned, letGo } = await ownedElsewhere(there);
    const run = team.resume("r");
    await run.started;
    run.pause();
    run.proceed();
    run.stop("enough");
    const [mine, theirs] = await Promise.all([run.result, owned.result]);
    expect([mine.status, mine.error?.code, theirs.status]).toEqual(["stopped", "ABORTED", "stopped"]);
    expect(theirs.error?.message).toContain("enough");
    letGo("too late");
  });

  test("gets what is published here, once for one id, with its cause left open or not", async () => {
    const there = world();
    const hearer = listener("Bob", { watch: [UserFeedback] });
    const { team, owned, letGo } = await ownedElsewhere(there, [hearer]);
    const run = team.run("go", { id: "r" });
    await run.started;
    const note = createMessage("once", { id: "note" });
    const receipts = [await run.publish(note), await run.publish(note), await team.send("r", "a text")];
    expect(receipts.map(({ message: { content, causeBy }, recipients, waits }) => ({ content, causeBy, recipients, waits }))).toEqual([
      { content: "once", causeBy: "UserFeedback", recipients: ["Bob"], waits: false },
      { content: "once", causeBy: "UserFeedback", recipients: ["Bob"], waits: false },
      { content: "a text", causeBy: "UserFeedback", recipients: ["Bob"], waits: false },
    ]);
    await expect(run.publish(createMessage("another", { id: "note" }))).rejects.toMatchObject({
      name: "UsageError",
      code: "MESSAGE_KNOWN",
    });
    letGo("well");
    await owned.result;
    expect((await eventsOf(there.shared, "r")).filter(({ type }) => type === "message").length).toBe(3);
  });

  test.each(["publish", "send"] as const)("gets what its former owner was to %s when the run was taken from it", async (by) => {
    const { first, second, shared } = world();
    const [work, later, hearer] = [working(), working(), listener("Bob", { watch: [UserFeedback] })];
    const taker = new Team({ journal: second.journal, roles: [later.role, hearer] });
    const taken = opening();
    const { command, watch } = first.journal;
    const journal: Journal = {
      ...appendingBy(first.journal, async (id, epoch, seq, events) => {
        if (JSON.stringify(events).includes("late")) await taken.opened;
        await first.journal.append(id, epoch, seq, events);
      }),
      ...(command && { command }),
      ...(watch && { watch }),
    };
    const owner = new Team({ journal, roles: [work.role, hearer] });
    const owned = owner.run("go", { id: "r" });
    await work.begun;
    const told = by === "publish" ? owned.publish("late") : owner.send("r", "late");
    const run = taker.resume("r", { onOwned: "take" });
    await later.begun;
    taken.open();
    expect((await owned.result).status).toBe("moved");
    expect(await told).toMatchObject({ recipients: ["Bob"], waits: false });
    later.letGo("well");
    expect((await run.result).status).toBe("finished");
    expect((await eventsOf(shared, "r")).filter((event) => JSON.stringify(event).includes("late")).length).toBe(1);
  });

  test("is waited for no longer than commandTimeout", async () => {
    const there = world();
    const { letGo, owned, role } = await ownedElsewhere(there);
    const { journal } = there.second;
    const silent: Journal = {
      ...journal,
      command: (id, _command, { timeout = 0 } = {}) =>
        withTimeout(
          systemClock,
          timeout,
          `an answer of the owner of run ${id}`,
          new AbortController().signal,
          () => new Promise<Json>(() => {}),
        ),
    };
    const team = new Team({ journal: silent, roles: [role], commandTimeout: 5 });
    await expect(team.send("r", "a text")).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(() => new Team({ commandTimeout: 0 })).toThrowError("commandTimeout");
    letGo("well");
    await owned.result;
  });

  test("gets the messages of a resume here", async () => {
    const there = world();
    const { team, letGo } = await ownedElsewhere(there, [listener("Bob", { watch: [UserFeedback] })]);
    const run = team.resume("r", { add: ["one", createMessage("two", { id: "two" })] });
    await run.started;
    letGo("well");
    const { messages } = await run.result;
    expect(messages.map(({ content }) => content)).toEqual(["go", "well", "one", "two"]);
  });

  test("a secret of this process is in no command", async () => {
    const there = world();
    const { letGo, owned, role } = await ownedElsewhere(there);
    const given: Json[] = [];
    const { journal } = there.second;
    const telling: Journal = {
      ...journal,
      command: (id, command, o) => (given.push(command), journal.command?.(id, command, o) ?? Promise.resolve(null)),
    };
    const team = new Team({ journal: telling, roles: [role], secrets: ["hunter2"] });
    await team.send("r", createMessage("it is hunter2"));
    await expect(team.answer("r", "q", "hunter2")).rejects.toMatchObject({ code: "QUESTION_UNKNOWN" });
    const run = team.resume("r");
    await run.started;
    run.stop("because of hunter2");
    await owned.result;
    expect(given.length).toBe(3);
    expect(JSON.stringify(given)).not.toContain("hunter2");
    letGo("too late");
  });

  test("changes its team there: a role is found by its definition's name, and one without a definition is refused", async () => {
    const there = world();
    const spare = answering("Spare", (rc) => rc.message("x"));
    const work = working();
    const owned = new Team({ journal: there.first.journal, roles: [work.role], reserve: [spare] }).run("go", { id: "r" });
    await work.begun;
    const team = new Team({ journal: there.second.journal, roles: [work.role] });
    const run = team.run("go", { id: "r" });
    await run.started;
    await run.hire(spare, { name: "Sue" });
    await expect(run.hire(listener("Stranger"))).rejects.toMatchObject({ code: "ROLE_UNKNOWN" });
    await team.takeRole("r", "Sue", { by: "Cleo" });
    await run.giveBackRole("Sue");
    await team.retireFrom("r", "Sue");
    await expect(run.retire("Sue")).rejects.toMatchObject({ code: "ROLE_UNKNOWN" });
    work.letGo("well");
    await owned.result;
    expect(typesOf(await eventsOf(there.shared, "r")).filter((type) => type.startsWith("role."))).toEqual([
      "role.hired",
      "role.taken",
      "role.taken",
      "role.retired",
    ]);
  });

  test("continues here when its owner dies", async () => {
    const there = world();
    const { team, letGo } = await ownedElsewhere(there);
    const clock = simulatedClock();
    const here = new Team({ journal: there.second.journal, roles: [answering("Ann", () => undefined)], clock });
    expect(team.name).toBe(here.name);
    const run = here.run("go", { id: "r", onTeamChange: "continue" });
    await run.started;
    there.first.kill();
    letGo("nobody hears it");
    let status: string | undefined;
    void run.result.then((result) => (status = result.status));
    while (status === undefined) {
      await clock.advance(500);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    const resumed = (await eventsOf(there.shared, "r")).find(({ type }) => type === "run.resumed");
    expect([status, resumed]).toMatchObject(["finished", { cause: "died" }]);
  });

  /** A run whose owner has died: it is claimed here, and its record is not read before it is let go. */
  async function takenOver(there: World) {
    await ownedElsewhere(there);
    const clock = simulatedClock();
    let isClaimed = false;
    let proceed = (): void => {};
    const held = new Promise<void>((resolve) => (proceed = resolve));
    const { journal } = there.second;
    const slow: Journal = {
      ...journal,
      async claim(...given) {
        const claim = await journal.claim(...given);
        isClaimed = true;
        return claim;
      },
      async *read(...given) {
        if (isClaimed) await held;
        yield* journal.read(...given);
      },
    };
    const run = new Team({ journal: slow, roles: [answering("Ann", () => undefined)], clock }).run("go", {
      id: "r",
      onTeamChange: "continue",
    });
    await run.started;
    there.first.kill();
    for (let turns = 0; !isClaimed && turns < 1_000; turns += 1) {
      await clock.advance(500);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect(isClaimed).toBe(true);
    return { run, proceed };
  }

  test("Run.H3 takes a message in that comes while it passes to this process, before its end", async () => {
    const there = world();
    const { run, proceed } = await takenOver(there);
    const published = run.publish("and this");
    await new Promise((resolve) => void setImmediate(resolve));
    proceed();
    expect((await published).waits).toBe(false);
    expect((await run.result).status).toBe("finished");
    const types = typesOf(await eventsOf(there.shared, "r"));
    expect(types.lastIndexOf("message")).toBeLessThan(types.lastIndexOf("run.ended"));
  });

  /** A run that has ended, while another process adds a message to it. */
  async function toldElsewhere(there: World) {
    const roles = [defineRole({ name: "Ann", actions: [defineAction({ name: "Shout", run: (ctx) => `${ctx.text}!` })] })];
    await new Team({ journal: there.first.journal, roles }).run("go", { id: "r" }).result;
    let proceed = (): void => {};
    const held = new Promise<void>((resolve) => (proceed = resolve));
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const slow: Journal = {
      ...there.first.journal,
      async append(...given) {
        begin();
        await held;
        await there.first.journal.append(...given);
      },
    };
    const sent = new Team({ journal: slow, roles }).send("r", "more");
    await begun;
    return { roles, sent, proceed };
  }

  test("Follower.F2 gives no older result when its owner only adds a message: the run continues here", async () => {
    const there = world();
    const { roles, sent, proceed } = await toldElsewhere(there);
    const clock = simulatedClock();
    const run = new Team({ journal: there.second.journal, roles, clock }).resume("r");
    await run.started;
    proceed();
    await sent;
    let status: string | undefined;
    void run.result.then((result) => (status = result.status));
    while (status === undefined) {
      await clock.advance(500);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect((await run.result).messages.map(({ content }) => content)).toContain("more!");
  });

  test("with another idea is refused, and its owner continues", async () => {
    const there = world();
    const { team, owned, letGo } = await ownedElsewhere(there);
    expect(await team.run("another", { id: "r" }).result).toMatchObject({ status: "failed", error: { code: "RUN_IDEA_DIFFERS" } });
    letGo("well");
    expect((await owned.result).status).toBe("finished");
  });

  test("is refused on demand, and where the journal has no command", async () => {
    const there = world();
    const { team, role } = await ownedElsewhere(there);
    expect((await team.resume("r", { onOwned: "refuse" }).result).error?.code).toBe("RUN_OWNED");
    const { journal } = there.second;
    const plain = appendingBy(journal, (...given) => journal.append(...given));
    const other = new Team({ journal: plain, roles: [role] });
    expect((await other.resume("r").result).error?.code).toBe("RUN_OWNED");
    await expect(other.send("r", "x")).rejects.toMatchObject({ code: "RUN_OWNED" });
  });

  test.each<[string, Json]>([
    ["no object", "stop"],
    ["an unknown one", { do: "erase" }],
    ["one with more than belongs to it", { do: "pause", for: 5 }],
    ["a message that is none", { do: "publish", message: { content: 7 } }],
    ["a reason without end", { do: "stop", reason: "x".repeat(20_000) }],
  ])("takes no command that is %s", async (_what, command) => {
    const there = world();
    const { owned, letGo } = await ownedElsewhere(there);
    const answer = await there.second.journal.command?.("r", command);
    expect(answer).toMatchObject({ error: { name: "UsageError" } });
    letGo("well");
    expect((await owned.result).status).toBe("finished");
  });
});
