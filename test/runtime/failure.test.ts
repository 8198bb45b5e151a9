import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { TroupeError } from "../../src/kernel/errors.ts";
import { createMessage } from "../../src/message/message.ts";
import type { FailurePolicy } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { answering, contents, listener, remembered, town } from "./town.ts";

const Fine = defineAction({ name: "Fine", run: () => "fine" });

/** Fails `times` times, then says how often it was tried. */
function failing(name: string, times: number, onFailure?: FailurePolicy): Role {
  let tries = 0;
  const react = (): never | undefined => {
    tries += 1;
    if (tries <= times) throw new Error(`failure ${tries} of ${name}`);
    return undefined;
  };
  return answering(name, (rc) => react() ?? rc.message(`tried ${tries} times`), onFailure === undefined ? {} : { onFailure });
}

function cyclic(): unknown {
  const data: Record<string, unknown> = {};
  data["self"] = data;
  return data;
}

describe("ScheduledRun.S3 one failing role", () => {
  test("Engine.E2 does not keep its siblings from finishing, and its error reaches the result", async () => {
    const done: string[] = [];
    const slow = (name: string): Role =>
      answering(name, async (rc) => {
        for (let i = 0; i < 3; i += 1) await rc.step(`s${i}`, {}, () => Promise.resolve(i));
        done.push(name);
        return rc.message(`${name} is done`);
      });
    const environment = town([slow("Ann"), failing("Bob", 1), slow("Cid")]);
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.status).toBe("failed");
    expect(result.error).toMatchObject({ code: "ACTION_FAILED" });
    expect(result.error?.message).toContain("failure 1 of Bob");
    expect(result.error?.cause).toMatchObject({ message: "failure 1 of Bob" });
    expect(done.toSorted()).toEqual(["Ann", "Cid"]);
    expect(contents(result.messages)).toEqual(["go", "Ann is done", "Cid is done"]);
  });

  test("the first failure is told when several fail", async () => {
    const environment = town([failing("Ann", 1), failing("Bob", 1)]);
    environment.publishMessage("go");
    expect((await environment.run()).error?.message).toContain("Ann");
  });

  test.each<[string, unknown, string]>([
    ["a text", "just words", "ACTION_FAILED"],
    ["nothing", undefined, "ACTION_FAILED"],
    ["an error of ours", new TroupeError("MY_CODE", "mine"), "MY_CODE"],
    ["an error with data that is no JSON", new TroupeError("MY_CODE", "mine", { data: { map: new Map(), big: 1n } }), "MY_CODE"],
    ["an error whose data is a cycle", new TroupeError("MY_CODE", "mine", { data: cyclic() }), "MY_CODE"],
  ])("%s can be thrown, and fails no other role", async (_what, thrown, code) => {
    const ann = answering("Ann", () => {
      throw thrown;
    });
    const environment = town([ann, defineRole({ name: "Bob", actions: [Fine] })], { concurrency: 1 });
    environment.publishMessage("go");
    const result = await environment.run();
    expect([result.status, result.error?.code]).toEqual(["failed", code]);
    expect(contents(result.messages)).toEqual(["go", "fine"]);
  });

  test("a role that fails in observe, think or act fails in the same way", async () => {
    const throwing = (): never => {
      throw new Error("inside");
    };
    for (const part of [{ observe: throwing }, { think: throwing }, { act: throwing }]) {
      const environment = town([defineRole({ ...part, name: "Ann", actions: [Fine] })]);
      environment.publishMessage("go");
      expect((await environment.run()).error?.message).toContain("inside");
    }
  });
});

describe("stop, the default", () => {
  test("leaves the messages in the mailbox, so that the next run tries again, and is judged by itself", async () => {
    const environment = town([failing("Ann", 1)]);
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("failed");
    expect(contents(environment.getRole("Ann")?.inbox ?? [])).toEqual(["go"]);
    const second = await environment.run();
    expect(second.status).toBe("finished");
    expect(second.error).toBeUndefined();
    expect(second.output?.content).toBe("tried 2 times");
  });

  test("the next try has the messages of the one that failed, and what came since waits its turn", async () => {
    const seen: string[][] = [];
    const environment = town([
      answering("Ann", (rc) => {
        seen.push(contents(rc.inbox));
        if (seen.length === 1) throw new Error("once");
      }),
    ]);
    environment.publishMessage("one");
    await environment.run();
    environment.publishMessage("two");
    await environment.run();
    expect(seen).toEqual([["one"], ["one"], ["two"]]);
  });

  test("messages to a failing role that wait behind it are not lost", async () => {
    const environment = town([failing("Ann", 1)]);
    environment.publishMessage(createMessage("one", { sendTo: "Ann" }));
    environment.publishMessage(createMessage("two", { sendTo: "Ann" }));
    await environment.run();
    await environment.run();
    expect(remembered(environment, "Ann")).toEqual(["one", "two"]);
  });
});

describe("skip", () => {
  test("makes its messages dead letters, tells it, and the company goes on", async () => {
    const warnings: string[] = [];
    const environment = town([failing("Ann", 1), listener("Bob", { watch: ["Fine"] }), defineRole({ name: "Cid", actions: [Fine] })], {
      onFailure: "skip",
    });
    environment.on("warning", ({ text }) => warnings.push(text));
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.status).toBe("finished");
    expect(result.deadLetters).toMatchObject([
      { message: { content: "go" }, reason: { kind: "failed", role: "Ann", error: { message: "failure 1 of Ann" } } },
    ]);
    expect(remembered(environment, "Bob")).toEqual(["fine"]);
    expect(warnings.join()).toContain("failure 1 of Ann");
    expect(environment.isIdle).toBe(true);
  });

  test("a role's own policy wins over the environment's", async () => {
    const environment = town([failing("Ann", 1, "skip"), failing("Bob", 1)], { onFailure: "stop" });
    environment.publishMessage("go");
    const result = await environment.run();
    expect(result.error?.message).toContain("Bob");
    expect(result.deadLetters).toMatchObject([{ reason: { role: "Ann" } }]);
  });
});
