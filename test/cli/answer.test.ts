import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { WritePrd } from "../../actions/index.ts";
import { waterfallCompany } from "../../roles/index.ts";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { aboutFor } from "../../src/cli/about.ts";
import { chosenQuestion } from "../../src/cli/stored-run.ts";
import { type Company, COMPANY } from "../../src/cli/company.ts";
import { demoIdeas } from "../../src/cli/demo-script.ts";
import { scriptModel } from "../../src/cli/model-choice.ts";
import { newProduction, produce } from "../../src/cli/production.ts";
import { inSession } from "../../src/cli/session.ts";
import { companySettings, outputSettings } from "../../src/cli/settings.ts";
import { sealOf, storePlace, withStore } from "../../src/cli/store.ts";
import { type Role, type RoleContext, Team } from "../../src/index.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { chooseSandbox, fileWorkspace } from "../../src/workspace/index.ts";
import { fakeHost } from "./fake-host.ts";
import { command, eventsIn, freshFolder, linesIn, expectRefusal } from "./kept-run.ts";

const [one, two] = [
  { id: "abcd1234", role: "Bob", text: "Which colour?" },
  { id: "ef005678", role: "Eve", text: "Which\u001b[2J size?" },
];

describe("the words of an answer", () => {
  it.each([
    [["abcd", "red"], [one, two], { question: "abcd", text: "red" }],
    [["red"], [one], { question: "abcd1234", text: "red" }],
    [["ab"], [one], { question: "abcd1234", text: "ab" }],
    [["-"], [one], { question: "abcd1234", text: "-" }],
  ])("%j", (words, pending, expected) => {
    expect(chosenQuestion(words, pending, "r")).toEqual(expected);
  });

  it("the id of a question alone is no answer", () => {
    expect(() => chosenQuestion(["abcd"], [one], "r")).toThrow(
      expect.objectContaining({
        code: "ANSWER_MISSING",
        message: expect.stringContaining('troupe answer r abcd "..."') as string,
      }) as Error,
    );
  });

  it("an answer alone is none where several wait, or none", () => {
    expect(() => chosenQuestion(["red"], [one, two], "r")).toThrow(
      expect.objectContaining({
        code: "QUESTION_MISSING",
        message: expect.stringContaining("abcd1234 (Bob: Which colour?), ef005678 (Eve: Which\\u{1b}[2J size?)") as string,
      }) as Error,
    );
    expect(() => chosenQuestion(["red"], [], "r")).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("a run with a question that waits, but run r has none") as string,
      }) as Error,
    );
  });
});

async function todoList() {
  const settings = companySettings({ seed: "1", runTests: false, crew: "waterfall" });
  const idea = (await demoIdeas()).find(({ id }) => id === "todo");
  if (idea === undefined) throw new Error("expected the bundled to-do list");
  return { idea, settings, chosen: scriptModel(idea, settings, { host: fakeHost(), output: outputSettings({}) }) };
}

/**
 * Keeps a run of the to-do list that waits for a person: its product manager, who else is the bundled one, asks before she writes. The
 * bundled company asks nobody.
 */
async function waitingRun(...questions: readonly string[]): Promise<{ readonly cwd: string; readonly ids: readonly string[] }> {
  const cwd = freshFolder();
  const place = storePlace({}, { cwd, env: {} });
  const { idea, settings, chosen } = await todoList();
  const folder = join(cwd, "project");
  const sandbox = await chooseSandbox("none");
  const roles = waterfallCompany({ workspace: fileWorkspace({ root: folder }), sandbox, runTests: false });
  askFirst(roles, questions);
  const journal = sqlite({ path: place.path });
  await journal.runs();
  const about = aboutFor({ version: "1", idea: idea.idea, folder, settings, chosen, sandbox, seal: await sealOf(place, "waits") });
  const result = await new Team({ name: COMPANY, roles, model: chosen.model, seed: "1", journal }).run(idea.idea, { id: "waits", about })
    .result;
  await journal.close();
  expect(result.status).toBe("waiting");
  return { cwd, ids: result.questions.map(({ id }) => id) };
}

function askFirst(roles: readonly Role[], questions: readonly string[]): void {
  const action = roles.flatMap(({ reactions }) => reactions.map((reaction) => reaction.do)).find((other) => other instanceof WritePrd);
  const write = action?.run.bind(action);
  if (action === undefined || write === undefined) throw new Error("expected WritePrd");
  const asking = async (ctx: RoleContext): Promise<unknown> => {
    await Promise.all(questions.map((question) => ctx.human.ask(question)));
    return write(ctx as Parameters<typeof write>[0]);
  };
  Object.assign(action, { run: asking });
}

describe("a run that comes to wait", () => {
  it("ends with 5 and the exact line that answers, which another process takes", async () => {
    const host = fakeHost({ cwd: freshFolder(), clock: systemClock });
    const { idea, settings, chosen } = await todoList();
    const parts = { idea: idea.idea, settings, chosen, sandbox: await chooseSandbox("none"), folder: join(host.cwd, "project") };
    const code = await inSession(host, {}, (session) =>
      withStore(session, {}, async (store) => {
        const production = newProduction(session, { ...parts, store });
        const prepare = async (company: Company): Promise<void> => {
          askFirst(company.roles, ["Which colour?"]);
          await production.prepare?.(company);
        };
        return produce(session, { ...production, prepare });
      }),
    );
    expect(code).toBe(5);
    const [, id = "", question = ""] = /^ {2}Answer +troupe answer (\S+) (\w{4}) "\.\.\."$/m.exec(host.stdout.text) ?? [];
    expect(host.stdout.text).toMatch(/^A person must answer first\./);
    expect(host.stdout.text).toContain("Asks     Alice: Which colour?\n");
    expect((await command(host.cwd, ["answer", id, question, "red", "--quiet"])).code).toBe(0);
  });
});

describe("a run that waits for a person", () => {
  it("is shown with its question and the line that answers it", async () => {
    const { cwd, ids } = await waitingRun("Which\u001b[2J colour?");
    const [id = ""] = ids;
    const { stdout } = await command(cwd, ["runs", "show", "waits"]);
    expect(stdout).toContain("Status   waiting: a person must answer\n");
    expect(stdout).toContain("Asks     Alice: Which\\u{1b}[2J colour?\n");
    expect(stdout).toContain(`Answer   troupe answer waits ${id.slice(0, 4)} "..."\n`);
    expect(linesIn((await command(cwd, ["runs", "show", "waits", "--json"])).stdout)).toMatchObject([
      { status: "waiting", questions: [{ id, role: "Alice", text: "Which\u001b[2J colour?" }] },
    ]);
  });

  it("goes on in another process once it is answered", { tags: ["company", "long"] }, async () => {
    const { cwd, ids } = await waitingRun("Which colour?");
    const { code, stdout } = await command(cwd, ["answer", "waits", ids[0]?.slice(0, 6) ?? "", "red", "--json"]);
    expect(code).toBe(0);
    const asked = eventsIn(stdout).find((event) => event.type === "step.started" && event.kind === "human");
    const answer = eventsIn(stdout).find(
      (event) => event.type === "step.ended" && asked?.type === "step.started" && event.key === asked.key,
    );
    expect(answer).toMatchObject({ ok: true, value: "red", act: "Alice#0~1" });
    expect(linesIn(stdout).at(-1)).toMatchObject({ type: "result", runId: "waits", status: "finished", questions: [] });
    await expectRefusal(cwd, ["answer", "waits", ids[0] ?? "", "blue"], "QUESTION_ANSWERED");
  });

  it("takes its answer without an id where one question waits, and from standard input", { tags: ["company", "long"] }, async () => {
    const { cwd } = await waitingRun("Which colour?");
    const { code, stdout } = await command(cwd, ["answer", "waits", "-", "--json"], { stdin: "light\nred\n" });
    expect(code).toBe(0);
    expect(eventsIn(stdout).filter((event) => event.type === "step.ended" && event.value === "light\nred")).toHaveLength(1);
  });

  it.each([
    [["answer", "waits", "ffff", "red"], "QUESTION_UNKNOWN", "Which colour?"],
    [["answer", "waits", "red"], "QUESTION_MISSING", "Which size?"],
    [["answer", "waits", "-"], "QUESTION_MISSING", "Which size?"],
    [["answer", "nobody", "red"], "RUN_UNKNOWN", "waits"],
    [["answer", "waits"], "QUESTION_MISSING", "Which colour?"],
  ])("refuses %j and is as it was", async (words, code, todo) => {
    const { cwd } = await twoQuestions;
    const before = (await command(cwd, ["runs", "export", "waits"])).stdout;
    const { stderr } = await expectRefusal(cwd, words, `(${code})`);
    expect(code === "QUESTION_UNKNOWN" ? "Which colour?" : stderr).toContain(todo);
    expect((await command(cwd, ["runs", "export", "waits"])).stdout).toBe(before);
  });

  it("refuses an empty answer", async () => {
    const { cwd, ids } = await twoQuestions;
    for (const text of ["", "  ", "-"]) {
      await expectRefusal(cwd, ["answer", "waits", ids[0] ?? "", text], "ANSWER_MISSING", { stdin: "\n" });
    }
  });
});

const twoQuestions = waitingRun("Which colour?", "Which size?");
