import { describe, expect, test } from "vitest";
import { OutputError, StepError } from "../../src/kernel/errors.ts";
import { type FailurePolicy, retry } from "../../src/role/failure-policy.ts";
import type { Role } from "../../src/role/role.ts";
import { answering, town } from "./town.ts";

/** Fails `times` times, then says how often it was tried. */
function failing(name: string, times: number): Role {
  let tries = 0;
  return answering(name, (rc) => {
    tries += 1;
    if (tries <= times) throw new Error(`failure ${tries} of ${name}`);
    return rc.message(`tried ${tries} times`);
  });
}

/** Asks three things in a row; `bad` says which effect fails at which attempt, and whether the body fails after the first. */
async function calls(bad: { step?: string; body?: boolean }, policy: FailurePolicy): Promise<{ called: string[]; status: string }> {
  const called: string[] = [];
  let attempt = 0;
  const ann = answering(
    "Ann",
    async (rc) => {
      attempt += 1;
      const mine = attempt;
      for (const name of ["a", "b", "c"]) {
        await rc.step(name, {}, async () => {
          called.push(`${name}${mine}`);
          if (bad.step === `${name}${mine}`) throw new Error("flaky");
          return name;
        });
      }
      if (bad.body === true && mine === 1) throw new Error("the answers make no sense");
      return rc.message("done");
    },
    { onFailure: policy },
  );
  const environment = town([ann]);
  environment.publishMessage("go");
  return { status: (await environment.run()).status, called };
}

describe("retry(n)", () => {
  test("tries again up to n times, in the same round", async () => {
    const environment = town([failing("Ann", 2)], { onFailure: retry(2) });
    environment.publishMessage("go");
    const result = await environment.run();
    expect([result.status, result.rounds, result.output?.content]).toEqual(["finished", 1, "tried 3 times"]);
  });

  test("then stops, or skips", async () => {
    const stops = town([failing("Ann", 9)], { onFailure: retry(2) });
    stops.publishMessage("go");
    expect((await stops.run()).error?.message).toContain("failure 3");
    const skips = town([failing("Ann", 9)], { onFailure: retry(2, "skip") });
    skips.publishMessage("go");
    const result = await skips.run();
    expect(result.status).toBe("finished");
    expect(result.deadLetters).toMatchObject([{ reason: { error: { message: "failure 3 of Ann" } } }]);
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity])("retry(%s) is refused", (times) => {
    expect(() => retry(times)).toThrow(expect.objectContaining({ code: "RETRY_INVALID" }));
  });
});

describe("calls that a new attempt makes again", () => {
  test("only what failed and what follows, when a step had failed", async () => {
    expect(await calls({ step: "b1" }, retry(1))).toEqual({ called: ["a1", "b1", "b2", "c2"], status: "finished" });
  });

  test("everything, when none had failed: the answers themselves were at fault", async () => {
    expect(await calls({ body: true }, retry(1))).toEqual({ called: ["a1", "b1", "c1", "a2", "b2", "c2"], status: "finished" });
  });

  test("a step that failed and was caught is a failed step too", async () => {
    const called: string[] = [];
    let attempt = 0;
    const ann = answering(
      "Ann",
      async (rc) => {
        attempt += 1;
        await rc.step("good", {}, async () => called.push(`good${attempt}`));
        await rc.step("bad", {}, () => Promise.reject(new Error("down"))).catch(() => {});
        if (attempt === 1) throw new Error("gave up");
      },
      { onFailure: retry(1) },
    );
    const environment = town([ann]);
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(called).toEqual(["good1"]);
  });

  test.each<[string, () => Error, readonly string[]]>([
    ["none where the code was at fault", () => new Error("a bug"), ["paid"]],
    ["all where the answers were at fault", () => new OutputError("CODE_MISSING", "no code in the answer"), ["paid", "paid"]],
  ])("after a failure that ended the run: %s", async (_what, fault, expected) => {
    const called: string[] = [];
    let isBroken = true;
    const ann = answering("Ann", async (rc) => {
      await rc.step("paid", {}, async () => called.push("paid"));
      if (isBroken) throw fault();
      return rc.message("done");
    });
    const environment = town([ann]);
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("failed");
    isBroken = false;
    expect((await environment.run()).output?.content).toBe("done");
    expect(called).toEqual(expected);
  });

  test("a failed step throws a StepError without its cause, live and from the record", async () => {
    const caught: unknown[] = [];
    const ann = answering("Ann", async (rc) => {
      const effect = (): Promise<never> => Promise.reject(Object.assign(new RangeError("too far", { cause: "secret" }), { code: "E_FAR" }));
      caught.push(await rc.step("bad", {}, effect).catch((error: unknown) => error));
    });
    const environment = town([ann]);
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("finished");
    expect(caught[0]).toBeInstanceOf(StepError);
    expect(caught[0]).toMatchObject({ code: "E_FAR", message: "too far" });
    expect((caught[0] as Error).cause).toBeUndefined();
  });
});
