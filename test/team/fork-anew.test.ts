import { describe, expect, test } from "vitest";
import type { ChatModel } from "../../src/model/chat-model.ts";
import type { Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { ForkOptions } from "../../src/team/team-options.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { answering, contents } from "../runtime/town.ts";
import { eventsOf } from "./recorded.ts";

/** Ann asks and passes on, Bob asks about that. */
const crew = (): Role[] => [
  answering("Ann", async (rc) => rc.message(await rc.ask("first"), { sendTo: "Bob" })),
  answering("Bob", async (rc) => rc.message(`${rc.news[0]?.content} ${await rc.ask("second")}`), { watch: [] }),
];

const always = (word: string): ChatModel & { readonly calls: readonly unknown[] } => scriptedModel(() => word);

async function parent(model: ChatModel = always("old")): Promise<Journal> {
  const journal = memoryJournal();
  expect((await new Team({ journal, roles: crew(), model, seed: "s" }).run("go", { id: "r" }).result).status).toBe("finished");
  return journal;
}

async function forked(journal: Journal, model: ChatModel, o: ForkOptions = {}) {
  const warnings: string[] = [];
  const run = new Team({ journal, roles: crew(), model }).fork("r", { id: "f", at: 1, ...o });
  run.on("warning", ({ text }) => void warnings.push(text));
  return { result: await run.result, warnings };
}

describe("a fork that takes no answers of its parent", () => {
  test("asks everything behind the shared past anew", async () => {
    const journal = await parent();
    const model = always("new");
    const { result } = await forked(journal, model, { reuse: "none" });
    expect([contents(result.outputs), model.calls.length]).toEqual([["new new"], 2]);
    expect(result.fork).toMatchObject({ reused: 0, paid: 2 });
  });

  test("keeps what is shared", async () => {
    const journal = await parent();
    const events = await eventsOf(journal, "r");
    const at = events.findIndex(({ type }) => type === "round.ended");
    const { result } = await forked(journal, always("new"), { reuse: "none", at });
    expect(contents(result.outputs)).toEqual(["old new"]);
  });

  test("ForkAnswers.F4 does not use answers of an attempt that failed in the shared past", async () => {
    const journal = memoryJournal();
    const failing = answering("Ann", async (rc) => Promise.reject(new Error(`no use for ${await rc.ask("first")}`)));
    await new Team({ journal, roles: [failing], model: always("old") }).run("go", { id: "r" }).result;
    const mended = answering("Ann", async (rc) => rc.message(await rc.ask("first")));
    const fork = (reuse: "all" | "none") =>
      new Team({ journal, roles: [mended], model: always("new") }).fork("r", { id: reuse, reuse }).result;
    expect([contents((await fork("all")).outputs), contents((await fork("none")).outputs)]).toEqual([["old"], ["new"]]);
  });
});

describe("a fork with a seed of its own", () => {
  const dice = (): Role[] => [
    answering("Ann", (rc) => rc.message(`${rc.random()}`, { sendTo: "Bob" })),
    answering("Bob", (rc) => rc.message(`${rc.news[0]?.content} ${rc.random()}`), { watch: [] }),
  ];
  const drawn = async (o: ForkOptions): Promise<readonly string[]> => {
    const journal = memoryJournal();
    await new Team({ journal, roles: dice(), seed: "s" }).run("go", { id: "r" }).result;
    const team = new Team({ journal, roles: dice(), seed: "s" });
    const { outputs } = await team.fork("r", { id: "f", ...o }).result;
    const [begun] = await eventsOf(journal, "f");
    expect(begun).toMatchObject({ seed: String(o.seed ?? "s") });
    const replay = team.replay("f");
    const again = [];
    for await (const event of replay) again.push(event);
    expect((await replay.result).error).toBeUndefined();
    expect(canonical(again)).toBe(canonical(await eventsOf(journal, "f")));
    return contents(outputs)[0]?.split(" ") ?? [];
  };

  test("draws other numbers behind the shared past, and the same ones in it", async () => {
    const old = await drawn({ at: 1 });
    const anew = await drawn({ at: 1, seed: 7 });
    const half = await drawn({ at: 3, seed: 7 });
    expect(anew[0]).not.toBe(old[0]);
    expect(half).toEqual([old[0], anew[1]]);
  });
});
