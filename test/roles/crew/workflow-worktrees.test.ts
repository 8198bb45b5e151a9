import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openWorkflow } from "../../../roles/index.ts";
import { type ChatRequest, type Json, memoryJournal, Team } from "../../../src/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { plainSandbox } from "../../../src/workspace/choose-sandbox.ts";
import { fileWorkspace } from "../../../src/workspace/file-workspace.ts";
import { appendingBy, eventsOf, journalWith } from "../../team/recorded.ts";
import { cutsOf, positionsOf } from "../../long.ts";
import { scratchFolder } from "../../workspace/scratch.ts";
import { git, put } from "../../workspace/user-project.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\n";

function repository(): string {
  const root = scratchFolder();
  put(root, "a.txt", LINES);
  git(root, "init", "--quiet");
  git(root, "add", ".");
  git(root, "commit", "--quiet", "-m", "Begin");
  return root;
}

/** An agent that is told "path: old -> new" edits that file, and then says so; with a tool `done` it ends by that. */
function editing({ messages, tools = [] }: ChatRequest) {
  const [, path = "", old = "", to = ""] = /^(\S+): (\S+) -> (\S+)/.exec(messages.find(({ role }) => role === "user")?.content ?? "") ?? [];
  const has = tools.some(({ name }) => name === "done");
  const edits = messages.filter(({ role }) => role === "tool").length;
  const call = (name: string, args: Json) => ({
    toolCalls: [{ id: `c${edits}`, type: "function" as const, function: { name, arguments: JSON.stringify(args) } }],
  });
  if (edits === 0) return call("editor", { command: "replace", path, old, new: to });
  if (has && edits === 1) return call("done", { answer: `edited ${to}` });
  if (has) return call("editor", { command: "replace", path, old: to, new: "fixed" });
  return `edited ${to}`;
}

const script = (body: string): string => `export const meta = { name: "Wanda", description: "a test" };\n${body}`;
const ask = (order: string): string => `() => agent(${JSON.stringify(order)}, { isolation: "worktree" })`;
const twoOf = (...orders: readonly string[]): string =>
  script(`const tried = (work) => work().catch((error) => error.message);
    return await Promise.all([${orders.map((order) => `tried(${ask(order)})`).join()}]);`);

async function teamAt(root: string, text: string, more: object = {}) {
  const workspace = fileWorkspace({ root });
  const model = scriptedModel(editing);
  const o = { workspace, sandbox: plainSandbox(), tools: ["editor"], allow: ["editor"], ...more } as const;
  const { name, roles } = await openWorkflow(text, o);
  return { model, parts: { name, roles, model, seed: 1 } };
}

describe("an agent in a worktree", () => {
  const text = twoOf("a.txt: one -> ONE", "a.txt: five -> FIVE");
  const merged = LINES.replace("one", "ONE").replace("five", "FIVE");

  it("WorkflowRun.W3 works beside others, and what it did is merged and committed", async () => {
    const root = repository();
    const { parts } = await teamAt(root, text);
    const journal = memoryJournal();
    const { output, error } = await new Team({ ...parts, journal }).run("go", { id: "r" }).result;
    expect([error, output?.instructContent]).toEqual([undefined, ["edited ONE", "edited FIVE"]]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(merged);
    expect(git(root, "log", "--format=%s").split("\n").slice(0, 3)).toEqual(["a.txt: five -> FIVE", "a.txt: one -> ONE", "Begin"]);
    expect(git(root, "status", "--porcelain")).toBe("");
    expect((await new Team({ ...parts, journal }).replay("r").result).error).toBeUndefined();
  });

  it("is told of a conflict, and nothing of its work is merged", async () => {
    const root = repository();
    const { parts } = await teamAt(root, twoOf("a.txt: one -> ONE", "a.txt: one -> uno"));
    const { output } = await new Team(parts).run("go").result;
    expect(output?.instructContent).toEqual(["edited ONE", expect.stringMatching(/conflicts with that of others in a\.txt/)]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(LINES.replace("one", "ONE"));
  });

  it("may not be done before the checks succeed there", async () => {
    const root = repository();
    const checks = [["node", "-e", "process.exit(require('fs').readFileSync('a.txt', 'utf8').includes('fixed') ? 0 : 1)"]];
    const { parts, model } = await teamAt(root, twoOf("a.txt: one -> ONE"), { checks, steps: 3 });
    const { output } = await new Team(parts).run("go").result;
    expect(model.calls.length).toBe(3);
    expect(output?.instructContent).toEqual([null]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(LINES);
  });

  it("ends the same after a crash at any moment, with its files", { tags: "kill", timeout: 600_000 }, async () => {
    const first = await teamAt(repository(), text);
    const journal = memoryJournal();
    await new Team({ ...first.parts, journal }).run("go", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    // After the end of the activation its files are those of the folder, which this crash has lost.
    const end = events.findIndex(({ type }) => type === "act.ended");
    for (const cut of cutsOf(end)) {
      const root = repository();
      const { parts, model } = await teamAt(root, text);
      const { output, error } = await new Team({ ...parts, journal: await journalWith("r", events.slice(0, cut)) }).run("go", { id: "r" })
        .result;
      expect([cut, error, output?.instructContent]).toEqual([cut, undefined, ["edited ONE", "edited FIVE"]]);
      expect([cut, readFileSync(join(root, "a.txt"), "utf8")]).toEqual([cut, merged]);
      expect(model.calls.length).toBeLessThanOrEqual(4);
    }
  });

  it("ends the same where the process dies, and the folder stays as it was then", { tags: "kill", timeout: 600_000 }, async () => {
    for (const deaths of positionsOf(50, [6, 20, 30, 40])) {
      const root = repository();
      const first = await teamAt(root, text);
      const inner = memoryJournal();
      let appends = 0;
      const mortal = appendingBy(inner, async (...given) => {
        appends += 1;
        if (appends > deaths) throw new Error("the process is dead");
        return inner.append(...given);
      });
      await new Team({ ...first.parts, journal: mortal }).run("go", { id: "r" }).result.catch(() => {});
      const { parts, model } = await teamAt(root, text);
      const past = await eventsOf(inner, "r");
      const { output, error } = await new Team({ ...parts, journal: await journalWith("r", past) }).run("go", { id: "r" }).result;
      expect([deaths, error, output?.instructContent]).toEqual([deaths, undefined, ["edited ONE", "edited FIVE"]]);
      expect([deaths, readFileSync(join(root, "a.txt"), "utf8")]).toEqual([deaths, merged]);
      expect(git(root, "status", "--porcelain")).toBe("");
      expect(git(root, "log", "--format=%s").trim().split("\n")).toHaveLength(3);
      expect(first.model.calls.length + model.calls.length).toBeLessThanOrEqual(4 + 2);
    }
  });
});
