import { join } from "node:path";
import Libsql from "libsql";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import type { MessageFlow } from "../../src/inspector/message-flow.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { command, freshFolder, linesIn } from "./kept-run.ts";

const HOSTILE = '\u001b[2J\u202e"];\nclick n0 "javascript:x"';

/** A folder with one run of two roles, one of which is called as nobody should be. */
async function withRun(): Promise<string> {
  const cwd = freshFolder();
  const [ask, reply] = [defineAction({ name: "Ask", prompt: () => "?" }), defineAction({ name: HOSTILE, prompt: () => "!" })];
  const roles = [defineRole({ name: "Ann", actions: [ask] }), defineRole({ name: HOSTILE, actions: [reply], watch: [ask] })];
  const journal = sqlite({ path: join(cwd, ".troupe/runs.db") });
  await new Team({ roles, model: scriptedModel(["a", "b"]), journal }).run("go", { id: "run-1" }).result;
  await journal.close();
  return cwd;
}

const kept = withRun();

describe("troupe runs flow", () => {
  it("draws who spoke to whom, for Mermaid", async () => {
    const { code, stdout, stderr } = await command(await kept, ["runs", "flow", "run"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines.slice(0, 3)).toEqual(["flowchart LR", '  n0(["(outside)"])', '  n1["Ann"]']);
    expect(lines).toContain('  n0 -.->|"1 UserRequirement"| n1');
    expect(lines).toContain('  n1 -.->|"1 Ask"| n2');
    expect(stdout).not.toMatch(/javascript:|[\u001b\u202e]/);
  });

  it("draws it for Graphviz", async () => {
    const { stdout } = await command(await kept, ["runs", "flow", "run-1", "--format", "dot"]);
    expect(stdout).toMatch(/^digraph troupe \{\n/);
    expect(stdout).toContain('  n1 -> n2 [label="1 Ask", weight=1, style=dashed];\n');
    expect(stdout).not.toMatch(/^click|[\u001b\u202e]/m);
  });

  it("gives it as JSON, of several lines or of one", async () => {
    const { stdout } = await command(await kept, ["runs", "flow", "run-1", "--format", "json"]);
    const flow = JSON.parse(stdout) as MessageFlow;
    expect(flow.nodes.map(({ name }) => name)).toEqual(["", "Ann", HOSTILE, ""]);
    expect(linesIn((await command(await kept, ["runs", "flow", "run-1", "--json"])).stdout)).toEqual([
      { type: "flow", runId: "run-1", ...flow },
    ]);
  });

  it("refuses other formats and unknown runs with 2", async () => {
    expect(await command(await kept, ["runs", "flow", "run-1", "--format", "toString"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("(OPTION_INVALID)") as string,
    });
    expect((await command(await kept, ["runs", "flow", "nothing"])).stderr).toContain("(RUN_UNKNOWN)");
  });

  it("draws what is whole of a damaged run, and ends with 2", async () => {
    const cwd = await withRun();
    const db = new Libsql(join(cwd, ".troupe/runs.db"));
    db.exec("UPDATE events SET body = '{}' WHERE place = (SELECT max(place) FROM events)");
    db.close();
    const { code, stdout, stderr } = await command(cwd, ["runs", "flow", "run-1"]);
    expect(code).toBe(2);
    expect(stdout).toContain("n0 -.->");
    expect(stderr).toContain("Only so much of it can be read");
  });
});
