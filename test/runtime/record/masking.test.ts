import { inflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { defineAction } from "../../../src/role/action.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import { TroupeError } from "../../../src/kernel/errors.ts";
import { masked, maskSecrets } from "../../../src/kernel/mask.ts";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole } from "../../../src/role/role.ts";
import { maskedError, masking, rewritten } from "../../../src/runtime/record/rewritten-event.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { memoryRunDriver } from "../../../src/testing/index.ts";
import { scriptedModel } from "../../../src/testing/scripted-model.ts";
import { Team } from "../../../src/team/team.ts";
import type { TeamOptions } from "../../../src/team/team-options.ts";
import { answering } from "../town.ts";
import { eventsOf } from "../../team/recorded.ts";

const Act = defineAction({ name: "Act", run: () => undefined });
const KEY = "sk-abcdefghijklmnopqrstuvwx";
const SECRET = "hunter2-and-more";
/** A text that JSON writes with escapes. */
const MULTILINE = 'begin "key"\nline two\\end';

/** Everything that was recorded of a team's run, as text; and what came of it. */
async function recorded(options: TeamOptions, idea = "go"): Promise<{ text: string; status: string }> {
  const journal = memoryJournal();
  const notices: unknown[] = [];
  const team = new Team({ secrets: [SECRET, MULTILINE], ...options, journal });
  const run = team.run(idea, { id: "r" });
  run.on("warning", (notice) => notices.push(notice));
  const { status } = await run.result;
  return { text: JSON.stringify([await eventsOf(journal, "r"), notices]), status };
}

function expectClean(text: string): void {
  for (const secret of [KEY, SECRET, "hunter2", "line two"]) expect(text).not.toContain(secret);
  expect(text).toContain("[secret]");
}

const every = `${KEY} and ${SECRET} and ${MULTILINE}`;

describe("RunLog.W0 no secret is ever recorded", () => {
  test.each<[string, string]>([
    ["as it is", KEY],
    ["after a line break", `the key:\n${KEY}`],
    ["after a tab, in quotes", `\t"${KEY}"`],
    ["a secret of the run", SECRET],
    ["one that JSON writes otherwise", `${MULTILINE}, ${MULTILINE}`],
    ["all of them", every],
  ])("in a prompt, and in what the model answers: %s", async (_what, text) => {
    const Ask = defineAction({ name: "Ask", prompt: () => `Use ${text}` });
    const { text: events, status } = await recorded({
      roles: [defineRole({ name: "Ann", actions: [Ask] })],
      model: scriptedModel([`It was ${text}.`]),
    });
    expect(status).toBe("finished");
    expectClean(events);
  });

  test("in a request and a result of a step, their keys too", async () => {
    const ann = answering(
      "Ann",
      async (rc) => void (await rc.step("call", { [KEY]: every, n: [every] }, () => Promise.resolve({ [SECRET]: every }))),
    );
    expectClean((await recorded({ roles: [ann] })).text);
  });

  test("in an error of a step, in its data, and in the error that ends the run", async () => {
    const ann = answering("Ann", async (rc) => {
      await rc.step("call", {}, () => Promise.reject(new TroupeError("X", every, { data: { header: every } }))).catch(() => {});
      throw new Error(`failed with ${every}`);
    });
    for (const onFailure of ["stop", "skip"] as const) {
      const { text } = await recorded({ roles: [ann], onFailure });
      expectClean(text);
    }
  });

  test("in the idea, in what roles say, remember, plan and keep in their state", async () => {
    const ann = answering("Ann", (rc) => {
      rc.state["key"] = { deep: [every] };
      rc.memory.add(createMessage(every));
      rc.workingMemory.add(createMessage("x", { metadata: { key: every } }));
      rc.plan.appendTask({ id: "t", instruction: every });
      return rc.message(every, { instructContent: { key: every }, speech: every });
    });
    expectClean((await recorded({ roles: [ann] }, `build it with ${every}`)).text);
  });

  test.each([
    [
      { set: { [SECRET]: 1 }, unset: [] },
      { set: { "[secret]": 1 }, unset: [] },
    ],
    [
      { set: { at: [SECRET] }, unset: ["other"] },
      { set: { at: ["[secret]"] }, unset: ["other"] },
    ],
    [
      { set: {}, unset: ["other", SECRET] },
      { set: {}, unset: ["other", "[secret]"] },
    ],
  ])("in how a state changed: %j", (state, clean) => {
    const ended = { type: "act.ended", act: "Ann#0~1", role: "Ann", round: 0, take: 1, said: [], memory: [], working: [] } as const;
    expect(rewritten({ ...ended, state }, masking(maskSecrets([SECRET])))).toEqual({ ...ended, state: clean });
  });

  test.each<[string, (secret: string) => object]>([
    ["words", (secret) => ({ said: [{ message: createMessage(secret, { id: "m", timestamp: 1 }), to: [] }] })],
    ["memory", (secret) => ({ memory: [["+", createMessage(secret, { id: "m", timestamp: 1 })]] })],
    ["working memory", (secret) => ({ working: [["+", createMessage(secret, { id: "m", timestamp: 1 })]] })],
    ["plan", (secret) => ({ plan: { goal: secret, tasks: [] } })],
    ["summary", (secret) => ({ summary: { oldest: "", older: [], recent: [secret], covered: [] } })],
  ])("in one part of what an activation did, where there is nothing in the others: %s", (_part, told) => {
    const ended = { type: "act.ended", act: "Ann#0~1", role: "Ann", round: 0, take: 1, said: [], memory: [], working: [] } as const;
    const clean = rewritten({ ...ended, ...told(SECRET) }, masking(maskSecrets([SECRET])));
    expect(clean).toEqual({ ...ended, ...told("[secret]") });
  });

  test("in a question to a person and the answer", async () => {
    const ann = answering("Ann", async (rc) => rc.message(await rc.human.ask(`May I use ${every}?`)));
    expectClean((await recorded({ roles: [ann], human: () => `use ${every}` })).text);
  });

  test("and what is handed out live is what a resumed run gets: the masked text", async () => {
    let got = "";
    const ann = answering("Ann", async (rc) => void (got = await rc.step("call", {}, () => Promise.resolve(`it is ${SECRET}`))));
    await recorded({ roles: [ann] });
    expect(got).toBe("it is [secret]");
  });
});

describe("the mask of an environment", () => {
  test("of a secret within another nothing is left, whatever their order", () => {
    for (const secrets of [
      ["inner-secret", "outer inner-secret end"],
      ["outer inner-secret end", "inner-secret"],
    ]) {
      expect(maskSecrets(secrets)("an outer inner-secret end, an inner-secret")).toBe("an [secret], an [secret]");
    }
  });

  test("property: no secret survives in any text of a value, and what holds none is the same object", () => {
    const secret = fc.constantFrom(KEY, SECRET, MULTILINE);
    const text = fc.oneof(
      fc.string(),
      fc.tuple(fc.constantFrom("", " ", "\n", "\t", '"', ": "), secret, fc.string()).map((parts) => parts.join("")),
    );
    const mask = maskSecrets([SECRET, MULTILINE]);
    fc.assert(
      fc.property(fc.object({ values: [text, fc.integer(), fc.constant(null)], key: text, maxDepth: 3 }), (value) => {
        const clean = JSON.stringify(masked(mask, value));
        for (const left of [KEY, SECRET, "line two"]) expect(clean).not.toContain(left);
        expect(masked(mask, masked(mask, value))).toEqual(masked(mask, value));
      }),
    );
    const plain = { a: [1, "two", { b: null }] };
    expect(masked(mask, plain)).toBe(plain);
  });
});

describe("a message from outside", () => {
  test("is told and kept without secrets, and each of its texts is looked through once", () => {
    const environment = new Environment({ secrets: [SECRET] }).addRole(defineRole({ name: "Ann", actions: [Act] }));
    const looked = vi.spyOn(String.prototype, "replaceAll");
    try {
      const { message } = environment.publishMessage(createMessage(`go ${SECRET}`));
      expect(looked.mock.contexts.filter((text) => String(text).startsWith("go "))).toHaveLength(1);
      expect(message.content).toBe("go [secret]");
      expect(environment.getRole("Ann")?.inbox[0]).toBe(message);
    } finally {
      looked.mockRestore();
    }
  });
});

describe("the rules of a run", () => {
  const ann = defineRole({ name: "Ann", react: (rc) => rc.message("said") });
  const own = (key: string) =>
    ({
      scheduler: { name: "own", parameters: { key }, delivers: "turn", select: () => [0] },
      edges: [{ name: "seen", parameters: { key }, pairs: [`Ann->${SECRET}`], decide: () => undefined }],
    }) satisfies TeamOptions;

  test("have no secret in the record, and a run is resumed and replayed with the same ones", async () => {
    const journal = memoryJournal();
    const team = new Team({ roles: [ann], ...own(SECRET), secrets: [SECRET], journal });
    await team.run("go", { id: "r", rounds: 0 }).result;
    const [started] = await eventsOf(journal, "r");
    expectClean(JSON.stringify(started));
    expect(started).toMatchObject({ parameters: { key: "[secret]" }, edges: [{ name: "seen", pairs: ["Ann->[secret]"] }] });
    const other = new Team({ roles: [ann], ...own(`no ${SECRET}`), secrets: [SECRET], journal });
    const { error } = await other.resume("r").result;
    expect(error?.code).toBe("SCHEDULER_DIFFERS");
    expect(error?.message).not.toContain(SECRET);
    expect(await team.resume("r", { rounds: 5 }).result).toMatchObject({ status: "finished" });
    expect(await team.replay("r").result).toMatchObject({ status: "finished" });
    expect(await team.fork("r").result).toMatchObject({ status: "finished" });
  });

  test("of an environment are in no snapshot of it", async () => {
    const environment = new Environment({ seed: 1, ...own(SECRET), secrets: [SECRET] }).addRole(ann);
    const { state } = (await environment.snapshot()) as { readonly state: string };
    expectClean(inflateSync(Buffer.from(state.slice(64), "base64")).toString("latin1"));
  });

  test("of this package keep their parameters, because a scheduler is made of them again", () => {
    const mask = maskSecrets(["planner"]);
    const started = {
      type: "run.started",
      team: "t",
      roles: [],
      seed: "1",
      scheduler: "staged",
      parameters: { stages: [["planner"]] },
    } as const;
    expect(rewritten(started, masking(mask))).toMatchObject({ parameters: { stages: [["planner"]] } });
  });

  test("a run that is submitted tells its queue no secret, in `about` as in the idea", async () => {
    const driver = memoryRunDriver();
    const jobs: unknown[] = [];
    const told = { ...driver, submit: async (job: unknown) => void jobs.push(job) } as typeof driver;
    const team = new Team({ roles: [ann], ...own("plain"), secrets: [SECRET], driver: told, journal: memoryJournal() });
    await team.submit(`say ${SECRET}`, { id: "r", about: { token: SECRET } });
    expectClean(JSON.stringify(jobs));
    expect(jobs).toMatchObject([{ about: { token: "[secret]" } }]);
    await driver.close();
  });
});

describe("maskedError", () => {
  test("keeps name, code and data, and what is no JSON in it ends nothing", () => {
    const mask = maskSecrets([SECRET]);
    expect(maskedError(mask, new TroupeError("X", `no ${SECRET}`, { data: { a: [SECRET] } }))).toEqual({
      name: "TroupeError",
      code: "X",
      message: "no [secret]",
      data: { a: ["[secret]"] },
    });
    expect(JSON.stringify(maskedError(mask, new TroupeError("X", "m", { data: { f: () => 1, big: 1n } })))).toContain('"code":"X"');
    expect(maskedError(mask, `thrown ${SECRET}`).message).toContain("thrown [secret]");
  });
});
