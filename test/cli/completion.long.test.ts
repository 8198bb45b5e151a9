import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { completionScript } from "../../src/cli/completion.ts";
import { freshFolder } from "./kept-run.ts";
import { installed, ShellSeat } from "./shells.ts";

// @module-tag company

/** A folder with a store of two runs, one of which has an id that a shell would obey, and a file with a space in its name. */
async function folder(): Promise<string> {
  const cwd = freshFolder();
  mkdirSync(join(cwd, ".troupe"));
  mkdirSync(join(cwd, "some place"));
  writeFileSync(join(cwd, "some place", "my file.txt"), "no run");
  const journal = sqlite({ path: join(cwd, ".troupe/runs.db") });
  await journal.create("alpha$(touch owned)");
  await journal.create("alpha-1");
  await journal.close();
  return cwd;
}

describe("completion in a shell with a terminal", () => {
  const hasTerminal = installed.has("zsh");

  for (const shell of ["bash", "zsh"] as const) {
    it.runIf(hasTerminal && installed.has(shell))(`works in ${shell}`, async () => {
      const cwd = await folder();
      const seat = new ShellSeat(cwd);
      const shown = seat.typed(shell, [
        String.raw`troupe comp\tz\t > script`,
        String.raw`troupe runs show al\t > run`,
        String.raw`troupe runs import some\tmy\t 2> refused`,
      ]);
      expect(readFileSync(join(cwd, "script"), "utf8"), shown).toBe(completionScript("zsh"));
      expect(readFileSync(join(cwd, "run"), "utf8"), shown).toContain("alpha-1");
      expect(readFileSync(join(cwd, "refused"), "utf8"), shown).toContain("EXPORT_INVALID");
      expect(existsSync(join(cwd, "owned"))).toBe(false);
    });
  }

  it.runIf(installed.has("fish"))("works in fish", async () => {
    const seat = new ShellSeat(await folder());
    expect(seat.fishWords("troupe comp")).toEqual(["completion"]);
    expect(seat.fishWords("troupe runs show ")).toEqual(["alpha-1"]);
    expect(seat.fishWords("troupe --sandbox=b")).toEqual(["--sandbox=bubblewrap"]);
    expect(seat.fishWords("troupe --store=some")).toEqual(["--store=some place/"]);
    expect(seat.fishWords("troupe 'Create a ga")).toEqual([]);
  });
});
