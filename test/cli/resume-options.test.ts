import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refuseFixed } from "../../src/cli/option-values.ts";
import { calls, command, expectEnd, expectRefusal, freshFolder, linesIn, newestIn, serving, stoppedRun } from "./kept-run.ts";

const CREATE = calls("editor", { command: "create", path: "note.txt", content: "buy milk\n" });

/** The help of a command, as one paragraph for each option. */
async function helpOf(name: string): Promise<string> {
  return (await command("/nowhere", [name, "--help"])).stdout;
}

describe("the options of a run that goes on", () => {
  it("are those of a run that begins, but for those that cannot change", async () => {
    const longOf = (help: string): string[] => [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, long = ""]) => long);
    const [run, agent, resume] = await Promise.all(["run", "agent", "resume"].map(helpOf));
    const begins = new Set([...longOf(run ?? ""), ...longOf(agent ?? "")]);
    const goesOn = new Set(longOf(resume ?? ""));
    const missing = [...begins].filter((long) => !goesOn.has(long) && long !== "--file" && long !== "--yes");
    for (const long of missing) {
      const name = long.replace(/^--(no-)?/, "").replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
      const given = { [name]: long.startsWith("--no-") ? false : "x" };
      expect(() => refuseFixed(given), long).toThrow(/for a run that continues: [a-z]/);
    }
    expect([...goesOn].filter((long) => !begins.has(long))).toEqual(["--reuse"]);
    expect([...goesOn]).toEqual(expect.arrayContaining(["--approve", "--allow", "--price", "--first-byte", "--sandbox"]));
  });

  it.each([
    [["--model", "other"], "MODEL_FIXED", "fork it: troupe fork <id> --model <name>"],
    [["--out", "other"], "OPTION_FIXED", "fork it: troupe fork <id> --out <dir>"],
    [["--size", "L"], "OPTION_FIXED", "it continues as it was begun. With that option, begin a new run"],
    [["--no-implement"], "OPTION_FIXED", "Expected no --no-implement for a run that continues"],
    [["--tools", "editor"], "OPTION_FIXED", "begin a new run"],
  ])("are refused in words where they cannot change: %j", async (words, code, reason) => {
    for (const name of [["resume"], ["tell", "r", "more"], ["answer", "r", "yes"]]) {
      const { stderr } = await expectRefusal(freshFolder(), [...name, ...words], `(${code})`);
      expect(stderr).toContain(reason);
    }
  });

  it("allow a tool that the run waits for; a fork may have more steps than it was begun with", async () => {
    const second = calls("editor", { command: "insert", path: "note.txt", line: 1, new: "buy bread" });
    await using stub = await serving(CREATE, second, { text: "written" });
    const cwd = freshFolder();
    const reach = ["--base-url", stub.url];
    await expectEnd(cwd, ["agent", "note it", ...reach, "--model", "stub-1", "--out", "notes", "--steps", "1"], 5);
    expect((await command(cwd, ["resume", ...reach, "--allow", "editr"])).stderr).toContain('got "editr"');
    expect(existsSync(join(cwd, "notes/note.txt"))).toBe(false);
    await expectEnd(cwd, ["resume", ...reach, "--allow", "editor"], 1, "its 1 steps were used up");
    expect(readFileSync(join(cwd, "notes/note.txt"), "utf8")).toBe("buy milk\n");
    const id = await newestIn(cwd);
    expect((await command(cwd, ["replay", id])).code).toBe(0);
    expect((await command(cwd, ["resume", id, ...reach, "--steps", "5"])).stderr).toContain("fork it: troupe fork <id> --steps <n>");
  });

  it("ask for a yes to criteria that are still to be written, and replay as they were", async () => {
    const cwd = freshFolder();
    await expectEnd(cwd, ["demo", "--budget", "0.000001", "--no-run-tests"], 3);
    const again = ["--budget", "1", "--rounds", "9", "--first-byte", "none"];
    const waiting = await expectEnd(cwd, ["resume", ...again, "--approve", "prd", "--json"], 5);
    expect(linesIn(waiting.stdout).at(-1)).toMatchObject({ status: "waiting", questions: [{ role: "Alice" }] });
    const id = await newestIn(cwd);
    expect((await command(cwd, ["answer", id, "yes", ...again])).code).toBe(6);
    expect(await command(cwd, ["replay", id])).toMatchObject({ code: 0 });
  });

  it.each([
    [["--approve", "prd"], "a run of the software-company, got it for one of waterfall"],
    [["--allow", "shell"], "a run of troupe agent, got it for one of a crew"],
  ])("of another crew are refused: %j", async (words, reason) => {
    await expectRefusal((await stopped).cwd, ["resume", ...words], reason);
  });
});

describe("a run that begins", () => {
  it.each(["--approve=prd", "--allow-install"])("of the waterfall refuses %s, which it would not follow", async (option) => {
    const words = ["demo", "todo", "--crew", "waterfall", option];
    await expectRefusal(freshFolder(), words, "with the crew software-company, got it with waterfall");
  });
});

/** A run of the waterfall that has stopped. */
const stopped = stoppedRun(1);
