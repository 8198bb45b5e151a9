import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { main } from "../../src/cli/program.ts";
import { defineAction, defineRole, type HumanPort, type Role, type Run, Team } from "../../src/index.ts";
import { openaiStub, type StubReply } from "../../src/testing/index.ts";
import {
  calls,
  command,
  eventsIn,
  expectEnd,
  expectRefusal,
  freshFolder,
  linesIn,
  newestIn,
  reach,
  serving,
  terminalHost,
} from "./kept-run.ts";

const NEW = { command: "create", path: "note.txt", content: "buy milk\n" };

/** A run whose agent asks a person at a terminal, who is away. */
async function askingRun(...replies: StubReply[]) {
  const stub = await serving(calls("editor", NEW), ...replies);
  const host = terminalHost();
  const code = main(host, ["agent", "note it", "--yes", ...reach(stub), "--out", "notes", "--no-color"]);
  await host.shows(/asks to use editor/);
  const id = await newestIn(host.cwd);
  return { stub, host, code, id, cwd: host.cwd };
}

describe("troupe answer while another process drives the run", () => {
  it("Persons.H4 answers in place of the person who is asked there, once", async () => {
    const { stub, host, code, id, cwd } = await askingRun({ text: "written" });
    await using _ = stub;
    const { stdout } = await expectEnd(cwd, ["answer", id.slice(0, 6), "yes", "--json"], 0);
    expect(linesIn(stdout)).toEqual([{ type: "answered", runId: id, question: expect.any(String) }]);
    expect(await code).toBe(0);
    expect(host.stderr.text).toContain("It was answered elsewhere");
    const events = eventsIn((await command(cwd, ["runs", "events", id, "--json"])).stdout);
    const asked = events.filter((event) => event.type === "step.started" && event.kind === "human");
    expect([asked.length, events.filter((event) => event.type === "step.ended" && event.value === "yes").length]).toEqual([1, 1]);
    expect((await command(cwd, ["replay", id])).code).toBe(0);
    const [question] = linesIn(stdout) as readonly { readonly question: string }[];
    await expectRefusal(cwd, ["answer", id, question?.question ?? "", "no"], "(QUESTION_ANSWERED)");
  });

  it("masks a secret of the one who answers, and refuses what is no answer", async () => {
    const { stub, code, id, cwd } = await askingRun({ text: "not written" });
    await using _ = stub;
    await expectRefusal(cwd, ["answer", id, "ffff", "yes"], "(QUESTION_UNKNOWN)");
    await expectRefusal(cwd, ["answer", id, ""], "(ANSWER_MISSING)");
    const env = { SOME_API_KEY: "sk-of-the-one-who-answers-0123" };
    await expectEnd(cwd, ["answer", id, "write it to sk-of-the-one-who-answers-0123"], 0, "", { env });
    expect(await code).toBe(0);
    expect((await command(cwd, ["runs", "export", id])).stdout).not.toContain("sk-of-the-one");
  });

  it("answers one of several that are asked: the others are still asked", async () => {
    const cwd = freshFolder();
    const path = join(cwd, "runs.db");
    const ask = (name: string): Role =>
      defineRole({ name, actions: [defineAction({ name: `${name} asks`, run: (ctx) => ctx.human.ask(`Is it good, ${name}?`) })] });
    const roles = [ask("Ann"), ask("Bob")];
    const owner = sqlite({ path });
    let run: Run | undefined;
    await new Promise<void>((bothAsked) => {
      const left = [bothAsked, (): void => {}];
      const human: HumanPort = (_, { signal }) => {
        left.pop()?.();
        return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("gone"))));
      };
      run = new Team({ journal: owner, roles, human }).run("go", { id: "r" });
    });
    const other = sqlite({ path });
    const asker = new Team({ journal: other, roles });
    await expectRefusal(cwd, ["answer", "r", "red", "--store", "runs.db"], "(QUESTION_MISSING)");
    const { questions } = linesIn((await command(cwd, ["runs", "show", "r", "--json", "--store", "runs.db"])).stdout)[0] as {
      readonly questions: readonly { readonly id: string; readonly role: string }[];
    };
    for (const { id, role } of questions.toReversed()) await asker.answer("r", id, `fine, ${role}`);
    const result = await run?.result;
    expect(result?.outputs.map(({ content }) => content)).toEqual(["fine, Ann", "fine, Bob"]);
    await other.close();
    await owner.close();
  });
});

describe("troupe stop", () => {
  it("stops a run that another process of this machine drives, which resume continues", async () => {
    const { stub, code, id, cwd } = await askingRun({ text: "written" });
    await using _ = stub;
    const { stdout } = await expectEnd(cwd, ["stop", id.slice(0, 6), "--json"], 0);
    expect(linesIn(stdout)).toEqual([{ type: "stopped", run: id }]);
    expect(await code).not.toBe(0);
    expect(eventsIn((await command(cwd, ["runs", "events", id, "--json"])).stdout).at(-1)).toMatchObject({
      type: "run.ended",
      status: "stopped",
    });
    await expectRefusal(cwd, ["stop", id], "(RUN_AT_REST)");
    const host = terminalHost({ cwd });
    host.answers("y");
    expect(await main(host, ["resume", id, "--base-url", stub.url])).toBe(0);
    expect((await command(cwd, ["replay", id])).code).toBe(0);
  });

  it("refuses a run that nothing drives, an unknown one, and two places", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "done" }) });
    const cwd = freshFolder();
    await expectEnd(cwd, ["agent", "idea", ...reach(stub), "--out", "notes", "--quiet"], 0);
    const id = await newestIn(cwd);
    await expectRefusal(cwd, ["stop", id], /troupe resume .*\(RUN_AT_REST\)/s);
    await expectRefusal(cwd, ["stop", "zzz"], "(RUN_UNKNOWN)");
    await expectRefusal(cwd, ["stop", id, "--store", ".troupe/runs.db", "--journal", "postgres://h/d"], "(OPTION_CONFLICT)");
    await expectRefusal(freshFolder(), ["stop", id], "(STORE_MISSING)");
    await expectRefusal(cwd, ["stop", id], "(OPTION_INVALID)", { env: { TROUPE_JOURNAL: "no address" } });
  });
});
