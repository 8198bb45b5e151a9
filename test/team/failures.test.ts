import { describe, expect, test } from "vitest";
import { retry } from "../../src/role/failure-policy.ts";
import type { Role, RoleOptions } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../runtime/town.ts";

/** A role that fails in its first attempts. */
function failing(name: string, onFailure: RoleOptions["onFailure"], times = Infinity): Role {
  let left = times;
  const fail = (): undefined => {
    left -= 1;
    if (left >= 0) throw new Error(`${name} failed`);
  };
  return answering(name, fail, { ...(onFailure === undefined ? {} : { onFailure }) });
}

const failed = (role: string, attempt = 1) => ({
  ...{ role, attempt, act: `${role}#0~${attempt}` },
  ...{ code: "ACTION_FAILED", message: `${role} failed` },
});

describe("the failed activations of a run", () => {
  test("are those that were given up, and the one that stopped the run until it ends well", async () => {
    const roles = [failing("Ada", "skip"), failing("Ben", retry(2, "skip")), failing("Cid", retry(2), 1), failing("Dan", "stop", 1)];
    const team = new Team({ journal: memoryJournal(), roles });
    const first = await team.run("go", { id: "r" }).result;
    expect([first.status, first.failures]).toEqual(["failed", [failed("Ada"), failed("Ben", 3), failed("Dan")]]);
    const mended = await team.resume("r").result;
    expect([mended.status, mended.failures]).toEqual(["finished", [failed("Ada"), failed("Ben", 3)]]);
    expect(first.failures).toHaveLength(3);
  });

  test("are the same in a replay and a fork, and kept by the summary and a snapshot", async () => {
    const journal = memoryJournal();
    const team = new Team({ journal, roles: [failing("Ada", "skip")], snapshotEvery: 1 });
    const { status, error, failures } = await team.run("go", { id: "r" }).result;
    expect([status, error, failures]).toEqual(["finished", undefined, [failed("Ada")]]);
    expect((await team.replay("r").result).failures).toEqual(failures);
    expect((await team.fork("r").result).failures).toEqual(failures);
    expect((await journal.info?.("r"))?.tally?.summary.failures).toEqual(failures);
    expect((await team.resume("r").result).failures).toEqual(failures);
  });

  test("are the newest twenty in a summary, whose messages are cut", async () => {
    const journal = memoryJournal();
    const long = answering("Ada", () => Promise.reject(new Error("x".repeat(10_000))), { onFailure: "skip" });
    const team = new Team({ journal, roles: [long] });
    await team.run("go", { id: "r" }).result;
    for (let nth = 1; nth < 25; nth += 1) await team.resume("r", { add: [`go ${nth}`] }).result;
    const { failures = [] } = (await journal.info?.("r"))?.tally?.summary ?? {};
    expect([failures.length, failures.at(-1)?.act, failures.at(-1)?.message.length]).toEqual([20, "Ada#24~1", 500]);
  });
});
