import { describe, expect, test } from "vitest";
import { createMessage, defineAction, defineRole, memoryJournal, type Run, Team, usd, UserRequirement } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { contents, listener } from "../runtime/town.ts";

const WriteCode = defineAction({ name: "SimpleWriteCode", description: "Write a function." });
const WriteTest = defineAction({ name: "SimpleWriteTest", description: "Write tests." });
const WriteReview = defineAction({ name: "SimpleWriteReview", description: "Review the tests." });

describe("a company of one's own", () => {
  test("[MetaGPT: a team without a role named Mike failed at its first message, the tutorial's first] it works", async () => {
    const model = scriptedModel(["def f(): ...", "def test_f(): ...", "Looks good."]);
    const team = new Team({
      model,
      roles: [
        defineRole({ name: "Alice", profile: "SimpleCoder", reactions: [{ on: UserRequirement, do: WriteCode }] }),
        defineRole({ name: "Bob", profile: "SimpleTester", reactions: [{ on: WriteCode, do: WriteTest }] }),
        defineRole({ name: "Charlie", profile: "SimpleReviewer", reactions: [{ on: WriteTest, do: WriteReview }] }),
      ],
    });
    const { status, rounds, messages, output } = await team.run("a function").result;
    expect([status, rounds, output?.content]).toEqual(["finished", 3, "Looks good."]);
    expect(messages.map(({ sentFrom, causeBy }) => [sentFrom, causeBy])).toEqual([
      ["", "UserRequirement"],
      ["Alice", "SimpleWriteCode"],
      ["Bob", "SimpleWriteTest"],
      ["Charlie", "SimpleWriteReview"],
    ]);
  });

  test("[MetaGPT: everything went to Mike first, whoever it was for] no one hears what is for others", async () => {
    const heard: string[] = [];
    const team = new Team({ roles: ["Mike", "Ann"].map((name) => listener(name, { react: () => void heard.push(name) })) });
    await team.run(createMessage("for Ann", { sendTo: "Ann" })).result;
    expect(heard).toEqual(["Ann"]);
  });

  test("[MetaGPT: run_project ignored send_to] the idea reaches whom it is for", async () => {
    const heard: string[] = [];
    const team = new Team({ roles: ["Ann", "Bob"].map((name) => listener(name, { watch: [], react: () => void heard.push(name) })) });
    const { status, messages } = await team.run(createMessage("an idea", { sendTo: "Bob" })).result;
    expect([status, heard, messages[0]?.sendTo]).toEqual(["finished", ["Bob"], ["Bob"]]);
  });

  test("[MetaGPT: all projects were saved to one path, the last one stayed] one journal keeps them apart", async () => {
    const journal = memoryJournal();
    const team = new Team({ journal, model: scriptedModel(() => "done"), roles: [defineRole({ name: "Ann", actions: [WriteCode] })] });
    const runs = [team.run("first", { id: "one" }), team.run("second", { id: "two" })];
    const [one, two] = await Promise.all(runs.map((run) => run.result));
    expect([one?.messages[0]?.content, two?.messages[0]?.content]).toEqual(["first", "second"]);
    expect((await journal.runs()).map(({ runId }) => runId)).toEqual(["one", "two"]);
    expect(contents((await team.resume("one").result).messages)).toEqual(["first", "done"]);
  });
});

/** What a run says of its end, in its result and in its record. */
async function endOf(run: Run): Promise<{ status: string; code: string | undefined; recorded: readonly string[] }> {
  const { status, error } = await run.result;
  const recorded: string[] = [];
  for await (const event of run) if (event.type === "run.ended") recorded.push(event.status);
  return { status, code: error?.code, recorded };
}

describe("[MetaGPT: run swallowed every exception, money and Ctrl-C included, saved and gave back None, and the program ended with 0] the result tells", () => {
  test("an action that throws", async () => {
    const bad = defineAction({
      name: "Bad",
      run: () => {
        throw new TypeError("no such thing");
      },
    });
    const team = new Team({ roles: [defineRole({ name: "Ann", actions: [bad] })] });
    expect(await endOf(team.run("go"))).toEqual({ status: "failed", code: "ACTION_FAILED", recorded: ["failed"] });
  });

  test("a model that fails", async () => {
    const team = new Team({ model: scriptedModel([]), roles: [defineRole({ name: "Ann", actions: [WriteCode] })] });
    expect(await endOf(team.run("go"))).toEqual({ status: "failed", code: "SCRIPT_EXHAUSTED", recorded: ["failed"] });
  });

  test("money that is used up", async () => {
    const model = scriptedModel(() => "code", { price: { input: 1, output: 10 } });
    const team = new Team({ model, budget: usd(0.01), roles: [defineRole({ name: "Ann", actions: [WriteCode] })] });
    expect(await endOf(team.run("go"))).toEqual({ status: "budget", code: "BUDGET", recorded: ["budget"] });
    expect(model.calls).toEqual([]);
  });

  test("an interruption", async () => {
    const stop = new AbortController();
    const model = scriptedModel(() => {
      stop.abort();
      return new Promise<string>(() => {});
    });
    const team = new Team({ model, roles: [defineRole({ name: "Ann", actions: [WriteCode] })] });
    expect(await endOf(team.run("go", { signal: stop.signal }))).toEqual({ status: "stopped", code: "ABORTED", recorded: ["stopped"] });
  });

  test("a limit of rounds, told from a company that is done", async () => {
    const forth = defineAction({ name: "Forth", run: () => "forth", sendTo: () => ["Bob"] });
    const back = defineAction({ name: "Back", run: () => "back", sendTo: () => ["Ann"] });
    const roles = [defineRole({ name: "Ann", actions: [forth] }), defineRole({ name: "Bob", watch: [], actions: [back] })];
    const run = new Team({ roles }).run("go", { rounds: 3 });
    expect(await endOf(run)).toEqual({ status: "rounds", code: undefined, recorded: ["rounds"] });
    expect((await run.result).rounds).toBe(3);
  });
});
