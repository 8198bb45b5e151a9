import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { main } from "../../src/cli/program.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { fakeHost } from "./fake-host.ts";
import { command, expectRefusal, freshFolder } from "./kept-run.ts";

const crew = (verdicts: string, more = ""): string => `
roles:
  - name: Rita
    actions:
      - { name: WriteDraft, on: [UserRequirement, ReviewDraft], prompt: "Write: {{text}}" }
  - name: Emil
    actions:
      - name: ReviewDraft
        on: WriteDraft
        prompt: "Review: {{text}}"
        output: { remarks: text, verdict: { oneOf: ${verdicts} } }
        endsWhen: { verdict: good }
        ${more}
output: [WriteDraft]
`;
const stuck = `
roles:
  - name: Ann
    actions:
      - { name: Plan, on: UserRequirement, output: { needsBob: boolean }, endsWhen: { needsBob: false } }
  - name: Bob
    actions:
      - { name: Build, on: Plan, prompt: "Build." }
output: [Build]
`;

describe("troupe check --explore", () => {
  it.each([
    [
      "a crew whose answers all lead to an end",
      crew("[good, bad]", "limit: 1"),
      0,
      /^crew.yaml:\nComplete within its bounds.*nothing was found/,
    ],
    ["an answer after which nobody works", stuck, 1, /deadlock: .*\n.*answered .*"needsBob":false/],
  ])("explores %s, without a key", async (_what, text, code, said) => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "crew.yaml"), text);
    const ended = await command(cwd, ["check", "--explore", "crew.yaml"]);
    expect([ended.code, ended.stdout]).toEqual([code, expect.stringMatching(said)]);
  });

  it("finds a crew that may never end", { tags: ["science", "long"] }, async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "crew.yaml"), crew("[good, bad]"));
    const ended = await command(cwd, ["check", "--explore", "crew.yaml"]);
    expect([ended.code, ended.stdout]).toEqual([1, expect.stringMatching(/endless: /)]);
  });

  it("keeps a run of each finding in a store, and none without it", async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "crew.yaml"), stuck);
    await command(cwd, ["check", "--explore", "crew.yaml"]);
    expect(readdirSync(cwd)).toEqual(["crew.yaml"]);
    for (const runs of [1, 2]) {
      const { stdout } = await command(cwd, ["check", "--explore", "crew.yaml", "--store", "found.db", "--json"]);
      const { runId } = (JSON.parse(stdout) as { findings: [{ runId: string }] }).findings[0];
      const shown = await command(cwd, ["runs", "show", runId, "--store", "found.db"]);
      expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("needsBob")]);
      const journal = sqlite({ path: join(cwd, "found.db") });
      expect((await journal.runs()).length).toBe(runs);
      await journal.close();
    }
    await expectRefusal(cwd, ["check", "--explore", "crew.yaml", "--store", join(cwd, "crew.yaml", "x.db")], /JOURNAL_UNWRITABLE/);
  });

  it("shows what it covered when it is stopped", async () => {
    const cwd = freshFolder();
    const actions = ["A", "B", "C"].map((name) => `  - { name: Do${name}, on: [UserRequirement, DoA, DoB, DoC], prompt: "Go on." }`);
    const roles = actions.map((action, nth) => `  - name: R${nth}\n    actions:\n    ${action}\n`);
    writeFileSync(join(cwd, "crew.yaml"), `roles:\n${roles.join("")}output: [DoA]\n`);
    const host = fakeHost({ cwd, clock: systemClock });
    const code = main(host, ["check", "--explore", "crew.yaml"]);
    await host.shows(/no exploration is complete/);
    host.signal("SIGINT");
    expect([await code, host.stdout.text]).toEqual([130, expect.stringMatching(/Not complete: its signal ended it.*\nCovered: /s)]);
  });

  it("prints one line of JSON with --json", async () => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "crew.yaml"), stuck);
    const { code, stdout } = await command(cwd, ["check", "--explore", "crew.yaml", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "explored",
      exitCode: 1,
      isComplete: true,
      findings: [{ kind: "deadlock", isShortest: true }],
    });
  });
});
