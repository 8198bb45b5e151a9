import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataInterpreter } from "../../roles/index.ts";
import { memoryJournal, Team } from "../../src/index.ts";
import { scriptedModel, type ScriptedReply } from "../../src/testing/index.ts";
import { chooseSandbox, fileWorkspace, type Sandbox } from "../../src/workspace/index.ts";
import { probeBubblewrap } from "../../src/workspace/choose-sandbox.ts";

const cell = (code: string): ScriptedReply => ({
  toolCalls: [{ id: "c", type: "function", function: { name: "python", arguments: JSON.stringify({ code }) } }],
});

const SVG = `open("chart.svg", "w").write("<svg xmlns='http://www.w3.org/2000/svg'><title>Sales</title></svg>")`;

function folderWithData(): string {
  const root = mkdtempSync(join(tmpdir(), "troupe-data-"));
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "sales.csv"), "city,amount\nRome,3\nOslo,4\n".replaceAll("\\\n", "\n"));
  return root;
}

/** A sandbox that isolates where this machine can, so that the role allows its cells. */
async function sandboxHere(): Promise<Sandbox> {
  const found = await probeBubblewrap();
  return found.kind === "bubblewrap" ? found : { ...(await chooseSandbox("none")), kind: "bubblewrap" };
}

describe("the data interpreter", () => {
  it("Notebook.N1 Notebook.N2 keeps names of cells that did not fail, shows values and charts, and replays without a cell", async () => {
    const root = folderWithData();
    let ran = 0;
    const sandbox = await sandboxHere();
    const counted: Sandbox = { ...sandbox, run: (request) => ((ran += 1), sandbox.run(request)) };
    const model = scriptedModel([
      cell(`import csv\nrows = list(csv.DictReader(open("sales.csv")))\nprint("read once")\nlen(rows)`.replaceAll("\\\n", "\n")),
      cell("total = sum(int(row['amount']) for row in rowz)"),
      cell("total = sum(int(row['amount']) for row in rows)\ntotal".replaceAll("\\\n", "\n")),
      cell(SVG),
      "The total is 7; see chart.svg.",
    ]);
    const team = new Team({
      roles: dataInterpreter({ workspace: fileWorkspace({ root, git: false }), sandbox: counted }),
      model,
      journal: memoryJournal(),
    });
    const { status, output, runId } = await team.run("What is the total?").result;
    expect([status, output?.content, output?.causeBy]).toEqual(["finished", "The total is 7; see chart.svg.", "AnalyzeData"]);
    const seen = (n: number): string => String(model.calls[n]?.messages.at(-1)?.content);
    expect(seen(1)).toMatch(/read once\n2/);
    expect(seen(2)).toMatch(/NameError: name 'rowz' is not defined/);
    expect(seen(2)).toMatch(/<cell 2>/);
    expect(seen(3)).toMatch(/^7/m);
    expect(seen(3)).not.toMatch(/read once/);
    expect(readFileSync(join(root, "chart.svg"), "utf8")).toMatch(/Sales/);
    expect(ran).toBe(4);
    const replayed = await team.replay(runId).result;
    expect([replayed.error, replayed.output?.content, ran]).toEqual([undefined, "The total is 7; see chart.svg.", 4]);
  });

  it("goes on after it was stopped, with the names of its cells, and runs none of them again for the record", async () => {
    const root = folderWithData();
    let ran = 0;
    const sandbox = await sandboxHere();
    const counted: Sandbox = { ...sandbox, run: (request) => ((ran += 1), sandbox.run(request)) };
    const stop = new AbortController();
    const model = scriptedModel([
      cell("a = 20"),
      () => {
        stop.abort();
        return cell("never asked for");
      },
      cell("a + 1"),
      "It is 21.",
    ]);
    const team = new Team({
      roles: dataInterpreter({ workspace: fileWorkspace({ root, git: false }), sandbox: counted }),
      model,
      journal: memoryJournal(),
    });
    const stopped = await team.run("add", { signal: stop.signal }).result;
    expect([stopped.status, ran]).toEqual(["stopped", 1]);
    const { status, output } = await team.resume(stopped.runId).result;
    expect([status, output?.content, ran]).toEqual(["finished", "It is 21.", 2]);
    expect(String(model.calls[3]?.messages.at(-1)?.content)).toMatch(/^21/m);
  });

  it("asks a person before it runs a cell without isolation", async () => {
    const root = folderWithData();
    const model = scriptedModel([cell("1")]);
    const roles = dataInterpreter({ workspace: fileWorkspace({ root, git: false }), sandbox: await chooseSandbox("none") });
    const { status, questions } = await new Team({ roles, model }).run("count").result;
    expect([status, questions.length]).toEqual(["waiting", 1]);
  });
});
