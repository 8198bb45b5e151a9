import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PROCESSES } from "../../roles/crew/crew-spec.ts";
import { shippedCrews } from "../../roles/index.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { EVENT_TYPES } from "../../src/runtime/record/event.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { command, expectRefusal, freshFolder, storeWith } from "./kept-run.ts";
import { installed, ShellSeat } from "./shells.ts";

const HOSTILE = "\u001b]0;owned\u0007`touch owned`\t$(touch owned)\n\u202e";

/** A folder with three runs, of which one has an id that a shell would obey. */
const kept = storeWith(async (journal) => {
  const role = defineRole({ name: "Ann", actions: [defineAction({ name: "Say", prompt: () => "hello" })] });
  for (const [id, name] of [
    ["alpha-1", "old"],
    ["alpha-2", HOSTILE],
    ["alpha$(touch owned)", "x"],
    ["-y", "x"],
  ] as const) {
    await new Team({ name, roles: [role], model: scriptedModel(["hello"]), journal }).run("hello", { id }).result;
  }
});

/** The completions of a line, without descriptions. */
async function at(line: string, cwd = "/nowhere") {
  const { code, stdout, stderr } = await command(cwd, ["__complete", "bash", "--", ...line.split(" ")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [kind = "", ...words] = stdout.trimEnd().split("\n");
  return { kind, words };
}

describe("completion", () => {
  it.each([
    ["ru", ["run", "runs"]],
    ["runs e", ["events", "export"]],
    ["help memo", ["memory"]],
    ["completion ", ["bash", "zsh", "fish"]],
    ["demo li", ["life"]],
    ["memory show ", []],
    ["--cre", ["--crew"]],
    ["run --file idea.md --siz", ["--size"]],
    ["runs --aft", ["--after"]],
    ["fork x --at 3 --reu", ["--reuse"]],
    ["--sandbox ", ["auto", "bubblewrap", "none"]],
    ["--sandbox=b", ["--sandbox=bubblewrap"]],
    ["-f idea.md --stack p", ["page", "python"]],
    ["runs flow x --format ", ["mermaid", "dot"]],
    ["runs events x --type act.", ["act.started", "act.resumed", "act.ended", "act.failed"]],
    ["agent --tools shell,c", ["shell,code"]],
    ["agent --tools=shell,code,e", ["--tools=shell,code,editor"]],
    ["--budget ", []],
    ["-- ru", []],
    ["Create a ru", []],
    ["nothing runs s", []],
  ])("of %j has %j", async (line, words) => {
    expect((await at(line)).words).toEqual(words);
  });

  it.each([
    ["runs import ", "files"],
    ["--store=x", "files"],
    ["agent --mcp ", "files"],
    ["-o ", "folders"],
    ["--recover-path ", "folders"],
    ["--crew ", "files"],
    ["runs import x --as ", "nothing"],
    ["", "nothing"],
  ])("of %j adds %s of the shell", async (line, kind) => {
    expect((await at(line)).kind).toBe(kind);
  });

  it("has every word that an option takes, and none that it refuses", async () => {
    const crews = (await at("--crew ")).words;
    expect(crews.toSorted()).toEqual([...new Set<string>([...shippedCrews().map(({ name }) => name), ...PROCESSES])].toSorted());
    expect((await at("runs events x --type ")).words).toEqual(EVENT_TYPES);
    const cwd = freshFolder();
    for (const option of ["--sandbox", "--size", "--stack", "--approve"]) {
      const { stderr } = await command(cwd, ["run", "Write a word counter", option, "?"]);
      expect(stderr).toContain(`Expected ${option} to be one of ${(await at(`${option} `)).words.join(", ")}, got`);
    }
  });

  it("hides no option that the help shows, of any command", async () => {
    for (const name of ["run", "agent", "resume", "fork", "doctor", "runs ls", "memory search"]) {
      const { stdout } = await command("/nowhere", [...name.split(" "), "--help"]);
      const shownThere = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, long]) => long);
      expect(new Set((await at(`${name} --`)).words)).toEqual(new Set(shownThere));
    }
  });

  it("offers the runs of the named store, the newest first, and none that a shell would obey", async () => {
    const cwd = await kept;
    expect((await at("runs show ", cwd)).words).toEqual(["alpha-2", "alpha-1"]);
    expect((await at("runs diff alpha-1 alpha-2", cwd)).words).toEqual(["alpha-2"]);
    expect((await at("runs rm alpha-1 alpha-", cwd)).words).toEqual(["alpha-2", "alpha-1"]);
    expect((await at("runs settle al", cwd)).words).toEqual(["alpha-2", "alpha-1"]);
    expect((await at("runs ls --after=alpha-1", cwd)).words).toEqual(["--after=alpha-1"]);
    const elsewhere = freshFolder();
    expect((await at("resume ", elsewhere)).words).toEqual([]);
    expect(existsSync(join(elsewhere, ".troupe"))).toBe(false);
    expect((await at(`resume --store ${join(cwd, ".troupe/runs.db")} al`, elsewhere)).words).toEqual(["alpha-2", "alpha-1"]);
    writeFileSync(join(elsewhere, "bad.db"), "no store");
    expect((await at("resume --store bad.db ", elsewhere)).words).toEqual([]);
  });

  it("refuses a shell that it does not know", async () => {
    await expectRefusal("/nowhere", ["completion", "tcsh"], "one of bash, zsh, fish");
  });

  it.runIf(installed.has("bash"))("works in bash, which divides words at = and :", async () => {
    const seat = new ShellSeat(await kept);
    expect(seat.bashWords(["runs", "show", "al"], ["runs", "ls", "--after", "=", "alpha-1"], ["--sandbox", "="], ["comp"])).toEqual([
      ["alpha-2", "alpha-1"],
      ["alpha-1"],
      ["auto", "bubblewrap", "none"],
      ["completion"],
    ]);
  });
});
