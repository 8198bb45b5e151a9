import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { byHand, playedBy } from "../../../examples/55-processes.ts";
import { checkCrew, openCrew, readCrew } from "../../../roles/index.ts";
import { PROCESSES } from "../../../roles/crew/crew-spec.ts";
import { type ChatRequest, memoryJournal, type Message, Team } from "../../../src/index.ts";
import { scriptedModel, type ScriptedModel } from "../../../src/testing/index.ts";
import { chooseSandbox, fileWorkspace, memoryWorkspace, refusedSandbox } from "../../../src/workspace/index.ts";
import { scratchFolder } from "../../workspace/scratch.ts";
import { git, put } from "../../workspace/user-project.ts";

const nowhere = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs in this test", "Choose a sandbox.") };

interface Delivered {
  readonly items: readonly { readonly end: string; readonly history: readonly { readonly by: string; readonly verdict: string }[] }[];
}

async function play(process: string, ports: Parameters<typeof openCrew>[1] = nowhere) {
  const played = playedBy(process);
  const crew = openCrew(await readCrew(played.crew), ports);
  const model = byHand(played) as ScriptedModel;
  const journal = memoryJournal();
  const team = new Team({ name: crew.name, roles: crew.roles, model, journal, seed: 1 });
  const result = await team.run(played.idea, { id: "one", rounds: crew.rounds ?? 100 }).result;
  const { items = [] } = (result.output?.instructContent ?? {}) as Partial<Delivered>;
  const backs = items.map(({ history }) => history.flatMap(({ by, verdict }) => (verdict === "back" ? [by] : [])));
  return { played, model, team, result, items, backs };
}

const lastOf = ({ messages }: ChatRequest): string => String(messages.at(-1)?.content);
const askedOf = (model: ScriptedModel, name: string): readonly string[] =>
  model.calls.filter(({ messages }) => String(messages[0]?.content).includes(`named ${name},`)).map(lastOf);

describe("processes that were played by hand", () => {
  it.each([
    ["scrum", [[], ["Ben"], ["Quinn"]]],
    ["pairs", [["Quinn"], [], ["Quinn"]]],
    ["open-source", [[], ["Ida", "Max"], ["Max"]]],
  ])("%s comes to its end with the answers of its file, and is replayed as it was", async (process, expected) => {
    const { played, model, team, result, items, backs } = await play(process);
    expect(result.status).toBe("finished");
    expect(items.map(({ end }) => end)).toEqual(["done", "done", "done"]);
    expect(backs).toEqual(expected);
    expect(model.calls).toHaveLength(played.answers.length);
    const again = await team.replay("one").result;
    expect(again.messages).toEqual(result.messages);
    expect(model.calls).toHaveLength(played.answers.length);
  });

  it("handoff builds a product with agents, and commits what is green", { tags: ["company", "long"] }, async () => {
    const root = scratchFolder();
    put(root, "README.md", "# split\n");
    git(root, "init", "--quiet");
    git(root, "add", ".");
    git(root, "commit", "--quiet", "-m", "Begin");
    const { result, backs } = await play("handoff", { workspace: fileWorkspace({ root }), sandbox: await chooseSandbox("none") });
    expect(result.status).toBe("finished");
    expect(backs).toEqual([["Ben"], ["Quinn"], ["Quinn"]]);
    put(root, "bill.txt", "Ann 24.50 pizza\nAnn+Bob 20.20 wine\npaid Ann 44.70\n");
    const printed = execFileSync("node", ["split.mjs", "bill.txt"], { cwd: root, encoding: "utf8" });
    expect(printed).toBe("Ann 34.60\nBob 10.10\nBob owes Ann 10.10\n");
    expect(git(root, "log", "--format=%s").trim().split("\n")).toHaveLength(5);
  });

  it("the next role gets the newest result whole, with what its author says, and a later item what was done before", async () => {
    const { model } = await play("pairs");
    const [, finishing] = askedOf(model, "Dan");
    expect(finishing).toContain('Cleo says: "A name is now everything but blanks and plus');
    expect(finishing).toContain("// eaten.test.mjs: as it was, and Zoë");
    expect(finishing).toContain("It is done by Cleo, then Dan: you are number 2 of 2.");
    expect(askedOf(model, "Ben").at(-1)).toMatch(/Done before[^#]*i2: [^#]*shares\.mjs/);
    expect(askedOf(model, "Ben").at(0)).not.toContain("Done before");
  });

  it("says in a meeting who proposed what, and what a vote or an objection is about", async () => {
    const { result, model } = await play("scrum");
    expect(askedOf(model, "Quinn").find((prompt) => prompt.includes("Your stage"))).toContain(
      "- Planning: We take the proposal by Ann, with 3 of 4 votes: ",
    );
    const said = (find: (message: Message) => boolean): readonly string[] =>
      result.messages.filter(find).map(({ speech, content }) => speech ?? content);
    expect(said(({ content }) => content.includes("vote on")).at(0)).toMatch(/p1 of Ben, p2 of Ann/);
    expect(said(({ content }) => content.includes("object to p1"))).toEqual([
      expect.stringMatching(/^I object to p1\..* Evidence: Items 2 and 3/),
    ]);
    expect(said(({ content }) => content.startsWith("I vote for p2."))).toHaveLength(4);
  });
});

describe("shipped processes", () => {
  const model = { id: "small", price: { input: 0.1, output: 0.4 }, maxOutputTokens: 1_000 };

  it.each(PROCESSES)("%s has no fault, and its lead asks no model", async (process) => {
    const { roles, output, rounds } = openCrew(await readCrew(`process: ${process}`), nowhere);
    const report = await checkCrew({ roles, output, rounds, model });
    expect(report.faults).toEqual([]);
    const lead = report.roles.find(({ name }) => name === "Mia");
    const meetings = process === "scrum" ? lead?.calls : 0;
    expect(lead?.calls).toBe(meetings);
  });

  it("lets roles with tools and roles without work in one stage", async () => {
    const crew = openCrew(
      await readCrew("process: kanban\nroles: [{ name: Ben, tools: [editor] }, { name: Quinn, tools: [editor] }]"),
      nowhere,
    );
    expect(() => new Team({ name: "kanban", roles: crew.roles, model: scriptedModel([]) })).not.toThrow();
  });
});
