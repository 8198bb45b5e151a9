import { describe, expect, test } from "vitest";
import { Environment } from "../../../src/runtime/environment.ts";
import type { Mailbox } from "../../../src/message/mailbox.ts";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import { type RunEvent, EVENT_TYPES } from "../../../src/runtime/record/event.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { Team } from "../../../src/team/team.ts";
import { eventsOf } from "../../team/recorded.ts";
import { answering, contents, listener, remembered, town } from "../town.ts";

/** Says so many messages to Ear when it hears something. */
function speaker(name: string, count: number, macrotasks = 0): Role {
  return answering(name, async (rc) => {
    if (macrotasks > 0)
      await rc.step("wait", {}, async () => {
        for (let k = 0; k < macrotasks; k += 1) await new Promise(setImmediate);
        return 0;
      });
    return Array.from({ length: count }, (_, k) => rc.message(`${name} ${k}`, { sendTo: "Ear" }));
  });
}

function plain(name: string, count: number): Role {
  return defineRole({
    name,
    step: (_state, _message, out) => {
      for (let k = 0; k < count; k += 1) out.say(`${name} ${k}`, { sendTo: "Ear" });
    },
  });
}

const ear = listener("Ear", { watch: [] });
const toEar = (content: string) => createMessage(content, { sendTo: "Ear", id: content });
const regimes = ["rounds", "eager"] as const;

function withMailbox(roles: readonly Role[], mailbox: Mailbox, scheduler: "rounds" | "eager" = "rounds"): Environment {
  return town(roles, { mailbox, scheduler });
}

describe("a full mailbox that refuses", () => {
  test("an outside sender gets the error at once, and nothing is published", () => {
    const environment = withMailbox([ear], { limit: 2 });
    environment.publishMessage(toEar("a"));
    environment.publishMessage(toEar("b"));
    expect(() => environment.publishMessage(toEar("c"))).toThrow(expect.objectContaining({ code: "MAILBOX_FULL", name: "QueueFullError" }));
    expect(contents(environment.getRole("Ear")?.inbox ?? [])).toEqual(["a", "b"]);
    expect(contents(environment.history)).toEqual(["a", "b"]);
  });

  test.each(
    regimes.flatMap(
      (regime) =>
        [
          [regime, speaker("Ann", 3)],
          [regime, plain("Ann", 3)],
        ] as const,
    ),
  )("%s: the activation that says more fails", async (scheduler, ann) => {
    const environment = withMailbox([ann, ear], { limit: 2 }, scheduler);
    environment.publishMessage("go");
    expect(await environment.run()).toMatchObject({ status: "failed", error: { code: "MAILBOX_FULL" } });
    expect(remembered(environment, "Ear")).toEqual([]);
  });

  test.each(regimes)("%s: as many as there is room for are heard", async (scheduler) => {
    const environment = withMailbox([speaker("Ann", 2), ear], { limit: 2 }, scheduler);
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(remembered(environment, "Ear")).toEqual(["Ann 0", "Ann 1"]);
  });

  test("Delivery.D1 what several say in one round fails the run at its end, whoever was faster", async () => {
    const run = async (first: number, second: number): Promise<string> => {
      const journal = memoryJournal();
      const team = new Team({ seed: 1, journal, mailbox: { limit: 3 }, roles: [speaker("Ann", 2, first), speaker("Bea", 2, second), ear] });
      const { error, status } = await team.run("go", { id: "r" }).result;
      expect({ status, code: error?.code, text: error?.message }).toMatchObject({
        status: "failed",
        code: "MAILBOX_FULL",
        text: expect.stringContaining("of Bea") as string,
      });
      return canonical(await eventsOf(journal, "r"));
    };
    expect(await run(1, 5)).toBe(await run(5, 1));
  });

  test("a run goes on where the limit is raised, and its record keeps the limit", async () => {
    const journal = memoryJournal();
    const roles = [speaker("Ann", 2), speaker("Bea", 2), ear];
    await new Team({ journal, mailbox: { limit: 3 }, roles }).run("go", { id: "r" }).result;
    expect(await new Team({ journal, roles }).resume("r").result).toMatchObject({ error: { code: "MAILBOX_FULL" } });
    expect((await new Team({ journal, mailbox: { limit: 4 }, roles }).resume("r").result).status).toBe("finished");
  });
});

describe("a full mailbox that drops what has waited longest", () => {
  const drop: Mailbox = { limit: 2, overflow: "drop-oldest" };

  test.each(regimes)("%s: keeps the newest, and tells what it dropped", async (scheduler) => {
    const environment = withMailbox([speaker("Ann", 5), ear], drop, scheduler);
    const dropped: string[] = [];
    environment.on("message.dropped", ({ message, role }) => dropped.push(`${role}: ${message.content}`));
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result).toMatchObject({ status: "finished", dropped: 3 });
    expect(remembered(environment, "Ear")).toEqual(["Ann 3", "Ann 4"]);
    expect(dropped).toEqual(["Ear: Ann 0", "Ear: Ann 1", "Ear: Ann 2"]);
  });

  test("folding the events gives the same mailboxes", () => {
    const environment = withMailbox([ear], drop);
    const events: RunEvent[] = [];
    for (const type of EVENT_TYPES) environment.on(type, (event) => void events.push(event));
    for (const content of ["a", "b", "c"]) environment.publishMessage(toEar(content));
    expect(contents(fold(events).roles.get("Ear")?.news() ?? [])).toEqual(["b", "c"]);
    expect(contents(environment.getRole("Ear")?.inbox ?? [])).toEqual(["b", "c"]);
  });

  test("never what an activation has taken that waits", async () => {
    const heard: string[][] = [];
    let go = (): void => {};
    const slow = answering(
      "Ear",
      async (rc) => {
        heard.push(contents(rc.news));
        if (heard.length === 1) await new Promise<void>((resolve) => (go = resolve));
      },
      { watch: [] },
    );
    const environment = withMailbox([slow], drop, "eager");
    environment.publishMessage(toEar("a"));
    environment.publishMessage(toEar("b"));
    const run = environment.run();
    for (const content of ["c", "d", "e"]) environment.publishMessage(toEar(content));
    go();
    await run;
    expect(heard[0]).toEqual(["a", "b"]);
    expect(remembered(environment, "Ear").slice(0, 2)).toEqual(["a", "b"]);
    expect(remembered(environment, "Ear")).not.toContain("d");
  });

  test.each(regimes)("%s: a replay of it is equal", async (scheduler) => {
    const team = new Team({ seed: 1, scheduler, mailbox: drop, roles: [speaker("Ann", 5, 1), speaker("Bea", 3), ear] });
    expect((await team.run("go", { id: "r" }).result).status).toBe("finished");
    const replayed = await team.replay("r").result;
    expect(replayed.error).toBeUndefined();
    expect(replayed).toMatchObject({ status: "finished" });
  });
});

describe("bounds of mailboxes", () => {
  const bounds: readonly Mailbox[] = [{ limit: 2 }, { limit: 2, overflow: "drop-oldest" }];

  test.each(regimes.flatMap((regime) => bounds.map((mailbox) => [regime, mailbox] as const)))(
    "%s: a fork and what goes on from it keep the bound of their parent: %j",
    async (scheduler, mailbox) => {
      const journal = memoryJournal();
      const roles = [speaker("Ann", 5), ear];
      const parent = await new Team({ seed: 1, journal, scheduler, mailbox, roles }).run("go", { id: "parent" }).result;
      const forgetful = new Team({ journal, roles });
      const fork = await forgetful.fork("parent", { at: 1, id: "fork" }).result;
      const { roles: heard } = fold(await eventsOf(journal, "fork"));
      const { roles: known } = fold(await eventsOf(journal, "parent"));
      expect([fork.status, fork.error?.code, fork.dropped]).toEqual([parent.status, parent.error?.code, parent.dropped]);
      expect(contents(heard.get("Ear")?.memory ?? [])).toEqual(contents(known.get("Ear")?.memory ?? []));
      const again = await forgetful.resume("fork").result;
      expect([again.status, again.error?.code]).toEqual([parent.status, parent.error?.code]);
      // One that was given a bound of its own has that.
      const wide = await new Team({ journal, roles, mailbox: { limit: 5 } }).fork("parent", { at: 1 }).result;
      expect([wide.status, wide.dropped ?? 0]).toEqual(["finished", 0]);
    },
  );

  test.each([
    ["no limit", { limit: 0 }, "OPTION_INVALID"],
    ["an unknown overflow", { overflow: "explode" }, "OPTION_INVALID"],
    ["an unknown member", { size: 3 }, "OPTION_UNKNOWN"],
  ])("%s is refused", (_what, mailbox, code) => {
    for (const make of [
      () => new Environment({ mailbox: mailbox as Mailbox }),
      () => new Team({ mailbox: mailbox as Mailbox }),
      () => town([listener("Ear", { mailbox: mailbox as Mailbox })]),
    ]) {
      expect(make).toThrow(expect.objectContaining({ code }));
    }
  });
});

describe("messages that one event drops", () => {
  test("are told after the event that dropped them", async () => {
    const environment = withMailbox([ear], { limit: 2, overflow: "drop-oldest" });
    const told: string[] = [];
    environment.on("message", ({ message }) => told.push(message.content));
    environment.on("message.dropped", ({ message }) => told.push(`dropped ${message.content}`));
    for (const content of ["a", "b", "c"]) environment.publishMessage(toEar(content));
    expect(told).toEqual(["a", "b", "c", "dropped a"]);
  });
});
