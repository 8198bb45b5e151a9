import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, freshFolder, newestIn } from "./kept-run.ts";

describe("troupe demo", () => {
  it("shows a red check and its repair, and replays", async () => {
    const cwd = freshFolder();
    const { code, stderr } = await command(cwd, ["demo", "--seed", "1", "--rounds", "2"]);
    expect(code).toBe(4);
    const red = stderr.search(/checks {2}3 of 4 proven; A2 failed: .*should be "1\. \[ \] olive oil" and is "1\. \[ \] olive"/);
    const green = stderr.search(/Alex, Engineer {2}checks {2}4 of 4 proven; 5 tests passed/);
    expect([red > 0, green > red]).toEqual([true, true]);
    expect(stderr).not.toContain("\\u{a}");
    expect((await command(cwd, ["replay", await newestIn(cwd)])).code).toBe(0);
  });

  it("shows a change of the result too, to its end, and replays", { tags: ["company", "long"] }, async () => {
    const cwd = freshFolder();
    const { code, stdout, stderr } = await command(cwd, ["demo", "--seed", "1"]);
    expect(code).toBe(0);
    const at = (pattern: RegExp): number => stderr.search(pattern);
    const told = [
      at(/checks {2}3 of 4 proven; A2 failed: .*should be "1\. \[ \] olive oil" and is "1\. \[ \] olive"/),
      at(/Alex, Engineer {2}checks {2}4 of 4 proven; 5 tests passed/),
      at(/Vera, Verifier {2}checks {2}4 of 4 proven; 5 tests passed/),
      at(/Telling run .*: Add a command that clears away what is ticked off/),
      at(/Vera, Verifier {2}checks {2}5 of 5 proven; 6 tests passed/),
      at(/Try next:/),
    ];
    expect(told).not.toContain(-1);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(stdout.match(/^\S+ is done\.$/gm)).toHaveLength(2);
    expect(stdout).toContain("A3 proven");
    expect(stdout + stderr).not.toContain("\\u{a}");
    expect(readFileSync(join(cwd, "workspace/shopping/src/cli.mjs"), "utf8")).toContain("withoutBought");
    const id = await newestIn(cwd);
    expect((await command(cwd, ["replay", id])).code).toBe(0);
    const again = await command(cwd, ["tell", id, "Add prices"]);
    expect(again.code).not.toBe(0);
    expect(again.stderr).toContain("MODEL_SCRIPT");
  });
});
