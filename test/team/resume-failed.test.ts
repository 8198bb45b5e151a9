import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../src/role/context.ts";
import type { Role, RoleOptions, Said } from "../../src/role/role.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { answering, contents } from "../runtime/town.ts";

const CALLS = 5;

/** Asks five times, and lets `body` make something of the answers. */
function asking(body: (answers: readonly string[], rc: RoleContext) => Said, options: Partial<RoleOptions> = {}): Role {
  return answering(
    "Ann",
    async (rc) => {
      const answers: string[] = [];
      for (let n = 0; n < CALLS; n += 1) answers.push(await rc.ask(`question ${n}`));
      return body(answers, rc);
    },
    options,
  );
}

const broken = (options: Partial<RoleOptions> = {}): Role =>
  asking(() => {
    throw new TypeError("answers.jion is not a function");
  }, options);
const mended = (options: Partial<RoleOptions> = {}): Role => asking((answers, rc) => rc.message(answers.join(" ")), options);

function answerer() {
  return scriptedModel((request) => `to "${request.messages.at(-1)?.content}"`, { price: { input: 1, output: 1 } });
}

async function failed(journal: Journal, role: Role = broken()) {
  const model = answerer();
  const result = await new Team({ journal, roles: [role], model, seed: "s" }).run("go", { id: "r" }).result;
  return { result, paid: model.calls.length };
}

describe("a run that ended because an action threw outside a step", () => {
  test("continues with the answers it has: nothing is paid again", async () => {
    const journal = memoryJournal();
    const { result: before, paid } = await failed(journal);
    expect([before.status, before.error?.code, paid]).toEqual(["failed", "ACTION_FAILED", CALLS]);
    const model = answerer();
    const result = await new Team({ journal, roles: [mended()], model }).resume("r").result;
    expect([result.status, model.calls.length]).toEqual(["finished", 0]);
    expect(contents(result.outputs)).toEqual([[0, 1, 2, 3, 4].map((n) => `to "question ${n}"`).join(" ")]);
    expect(result.cost.known).toBe(before.cost.known);
  });

  test("pays nothing however often it fails, and then for what is new alone", async () => {
    const journal = memoryJournal();
    await failed(journal);
    const model = answerer();
    for (let again = 0; again < 3; again += 1) {
      expect((await new Team({ journal, roles: [broken()], model }).resume("r").result).status).toBe("failed");
    }
    const more = answering("Ann", async (rc) => {
      for (let n = 0; n < CALLS; n += 1) await rc.ask(`question ${n}`);
      return rc.message(await rc.ask("one more"));
    });
    const result = await new Team({ journal, roles: [more], model }).resume("r").result;
    expect([result.status, model.calls.length]).toEqual(["finished", 1]);
  });

  test("asks all of it anew where that is said, because the answers may be at fault; that holds for this time", async () => {
    const journal = memoryJournal();
    await failed(journal);
    const model = answerer();
    const team = new Team({ journal, roles: [broken()], model });
    expect((await team.resume("r", { reuse: "none" }).result).status).toBe("failed");
    expect(model.calls).toHaveLength(CALLS);
    expect((await new Team({ journal, roles: [mended()], model }).run("go", { id: "r" }).result).status).toBe("finished");
    expect(model.calls).toHaveLength(CALLS);
  });
});
