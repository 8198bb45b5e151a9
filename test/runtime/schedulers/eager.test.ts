import { describe, expect, test } from "vitest";
import { createMessage } from "../../../src/message/message.ts";
import { ROUTE_TO_SELF } from "../../../src/message/address.ts";
import type { Role } from "../../../src/role/role.ts";
import { answering, contents, listener, remembered, town } from "../town.ts";

/** Something to wait for that the test decides on. */
class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

describe("eager", () => {
  test("a role runs as soon as it has mail: nobody waits for a slow sibling", async () => {
    const gate = new Gate();
    const order: string[] = [];
    const slow = answering("Slow", async (rc) => {
      await rc.step("long", {}, () => gate.opened);
      order.push("slow");
    });
    const chain = (name: string, next: string): Role =>
      answering(name, (rc) => {
        order.push(name);
        if (name === "C") gate.open();
        return rc.message("x", { sendTo: next });
      });
    const environment = town([slow, chain("A", "B"), chain("B", "C"), chain("C", "D"), listener("D")], { scheduler: "eager" });
    environment.publishMessage(createMessage("go", { sendTo: ["Slow", "A"] }));
    expect((await environment.run()).status).toBe("finished");
    expect(order).toEqual(["A", "B", "C", "slow"]);
  });

  test("one activation at a time per role; what came meanwhile is for the next", async () => {
    const inboxes: number[] = [];
    let running = 0;
    const sink = answering("Sink", async (rc) => {
      running += 1;
      expect(running).toBe(1);
      inboxes.push(rc.inbox.length);
      for (let i = 0; i < 6; i += 1) await rc.step(`s${i}`, {}, () => Promise.resolve(i));
      running -= 1;
    });
    const source = (name: string): Role =>
      answering(name, async (rc) => {
        await rc.step("a", {}, () => Promise.resolve(1));
        return rc.message(name, { sendTo: "Sink" });
      });
    const environment = town([sink, source("A"), source("B"), source("C")], { scheduler: "eager" });
    environment.publishMessage(createMessage("go", { sendTo: ["Sink", "A", "B", "C"] }));
    await environment.run();
    expect(inboxes).toEqual([1, 3]);
  });

  test("how many messages it takes is recorded before its first effect", async () => {
    let taken: number | undefined;
    let seen: number | undefined;
    const sink = answering("Sink", async (rc) => {
      if (rc.inbox.length < 3) return;
      await rc.step("effect", {}, async () => {
        seen = taken;
      });
    });
    const environment = town([sink], { scheduler: "eager" });
    environment.on("act.started", ({ take }) => (taken = take));
    for (let i = 0; i < 3; i += 1) environment.publishMessage(`m${i}`);
    expect((await environment.run()).status).toBe("finished");
    expect(seen).toBe(3);
  });

  test("concurrency bounds it", async () => {
    let running = 0;
    let most = 0;
    const roles = Array.from({ length: 12 }, (_, i) =>
      answering(`p${i}`, async (rc) => {
        running += 1;
        most = Math.max(most, running);
        for (let k = 0; k <= i % 3; k += 1) await rc.step(`wait ${k}`, {}, () => Promise.resolve(k));
        running -= 1;
      }),
    );
    const environment = town(roles, { scheduler: "eager", concurrency: 3 });
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(most).toBe(3);
  });

  test("no role starves: the role that has waited longest runs first", async () => {
    let patience = 0;
    const chatter = (name: string, other: string): Role => answering(name, (rc) => rc.message("talk", { sendTo: other }));
    const patient = answering("Patient", () => void (patience = environment.state.busiest));
    const environment = town(
      [chatter("A", "B"), chatter("B", "A"), answering("Self", (rc) => rc.message("me", { sendTo: ROUTE_TO_SELF })), patient],
      {
        scheduler: "eager",
        concurrency: 1,
      },
    );
    environment.publishMessage(createMessage("go", { sendTo: ["A", "Self", "Patient"] }));
    expect((await environment.run({ rounds: 20 })).status).toBe("rounds");
    expect(remembered(environment, "Patient")).toEqual(["go"]);
    expect(patience).toBeLessThan(3);
  });

  test("a message from outside wakes an idle role while another is busy", async () => {
    const gate = new Gate();
    const busy = answering("Busy", (rc) => rc.step("long", {}, () => gate.opened));
    const environment = town([busy, answering("Idle", () => gate.open(), { watch: [] })], { scheduler: "eager" });
    environment.on("step.started", () => environment.publishMessage(createMessage("wake up", { sendTo: "Idle" })));
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(remembered(environment, "Idle")).toEqual(["wake up"]);
  });
});

describe("how an eager run ends", () => {
  test("ScheduledRun.S2 when no role has mail and none is running", async () => {
    const environment = town([answering("A", (rc) => rc.message("x", { sendTo: "B" })), listener("B")], { scheduler: "eager" });
    environment.publishMessage(createMessage("go", { sendTo: "A" }));
    expect((await environment.run()).status).toBe("finished");
    expect(environment.isIdle).toBe(true);
    expect(remembered(environment, "B")).toEqual(["x"]);
  });

  test("at the limit, which bounds how often one role acts", async () => {
    let acts = 0;
    const ann = answering("Ann", (rc) => {
      acts += 1;
      return rc.message("again", { sendTo: ROUTE_TO_SELF });
    });
    const environment = town([ann], { scheduler: "eager" });
    environment.publishMessage("go");
    expect(await environment.run({ rounds: 7 })).toMatchObject({ status: "rounds", rounds: 7 });
    expect(acts).toBe(7);
  });

  test("ScheduledRun.S3 when a role fails: those under way finish, nobody new starts, the error is told", async () => {
    const gate = new Gate();
    const slow = answering("Slow", async (rc) => {
      await rc.step("long", {}, () => gate.opened);
      return rc.message("slow is done", { sendTo: "Late" });
    });
    const failing = answering("Bad", async (rc) => {
      await rc.step("short", {}, () => Promise.resolve(1));
      gate.open();
      throw new Error("bad");
    });
    const environment = town([slow, failing, listener("Late", { watch: [] })], { scheduler: "eager" });
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.error?.message).toContain("bad");
    expect(contents(result.messages)).toEqual(["go", "slow is done"]);
    expect(contents(environment.getRole("Late")?.inbox ?? [])).toEqual(["slow is done"]);
  });

  test("when a person is awaited the others go on as far as they can", async () => {
    const asking = answering("Asks", async (rc) => void (await rc.human.ask("may I?")));
    const relay = answering("A", (rc) => rc.message("x", { sendTo: "B" }));
    const environment = town([asking, relay, listener("B", { watch: [] })], { scheduler: "eager" });
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.status).toBe("waiting");
    expect(remembered(environment, "B")).toEqual(["x"]);
  });
});
