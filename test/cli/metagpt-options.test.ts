import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, expectEnd, expectRefusal, freshFolder, linesIn } from "./kept-run.ts";

const KEY = { OPENAI_API_KEY: "sk-test-0123456789abcdef0123" };

describe("MetaGPT's options", () => {
  it.each<[string, readonly string[], RegExp]>([
    ["--inc without a project", ["x", "--inc"], /Expected --project-path with --inc/],
    ["--project-path with a new folder", ["x", "--project-path", ".", "--out", "b"], /Expected --in for a project .* or --out/],
    ["--reqa-file without a project", ["x", "--reqa-file", "a.py"], /Expected --in with --reqa-file/],
    ["--reqa-file of no project", ["--reqa-file", "../a.py", "--in", "."], /to be a file of the project, got "..\/a.py"/],
    ["--max-auto-summarize-code", ["x", "--max-auto-summarize-code", "3"], /Only 0 can be said/],
    ["two names of one folder", ["x", "--project-name", "a", "--out", "b"], /Expected --project-name or --out/],
    ["an empty name", ["x", "--project-name", " "], /Expected --project-name to be a name/],
    ["an idea for a run that has one", ["x", "--recover-path", "."], /Expected --recover-path without an idea/],
    ["a store that is not there", ["--recover-path", "nowhere"], /Expected --recover-path to be a store of runs/],
  ])("are refused where they cannot do what they say: %s", async (_what, words, expected) => {
    await expectRefusal(freshFolder(), ["run", ...words], expected, { env: KEY });
  });

  it("name the project's folder, which stays inside the workspace", async () => {
    const cwd = freshFolder();
    const switches = ["--code-review", "--run-tests", "--implement"];
    await expectEnd(cwd, ["run", "Create a 2048 game", "--project-name", "../My Game!", "--rounds", "1", ...switches], 4);
    expect(readdirSync(join(cwd, "workspace"))).toEqual(["my-game"]);
  });

  it("stop a waterfall after its plan, and go on with a run that was stopped", async () => {
    const cwd = freshFolder();
    const words = ["run", "Create a 2048 game", "--crew", "waterfall", "--no-implement", "--max-auto-summarize-code", "0"];
    await expectEnd(cwd, [...words, "--rounds", "1", "--json"], 4);
    expect(existsSync(join(cwd, ".troupe/runs.db"))).toBe(true);
    const { code, stdout } = await command(cwd, ["run", "--recover-path", ".", "--rounds", "9", "--json"]);
    const result = linesIn(stdout).at(-1) as { readonly status: string; readonly files: readonly string[]; readonly byRole: object };
    expect([code, result.status]).toEqual([0, "finished"]);
    expect(result.files.length).toBeGreaterThan(0);
    expect(result.files.filter((path) => path.endsWith(".js") || path.endsWith(".html"))).toEqual([]);
    expect(Object.keys(result.byRole)).toEqual(["Alice", "Bob", "Eve"]);
  });
});
