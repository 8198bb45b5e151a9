import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keepWarnings, warningLines } from "../../src/cli/kept-warnings.ts";
import { styleFor } from "../../src/cli/screen/text.ts";
import { fakeHost } from "./fake-host.ts";
import { command, freshFolder, stoppedRun } from "./kept-run.ts";

const style = styleFor(false);
const many = new Map(Array.from({ length: 9 }, (_, nth) => [`warning ${nth}`, nth + 1]));

describe("warnings that were not printed during a run", () => {
  it("are all in the summary, or in the file that it names", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.constantFrom(..."a b c d e f g h i j".split(" ")), { maxLength: 10 }), async (texts) => {
        const unseen = new Map(texts.map((text) => [`about ${text}`, 1]));
        const store = join(freshFolder(), "runs.db");
        const file = await keepWarnings({ host: fakeHost() }, unseen, { store, runId: "r" });
        const lines = warningLines(unseen, file, style);
        expect(lines.length).toBeLessThanOrEqual(6);
        const kept = file === undefined ? "" : readFileSync(file, "utf8");
        for (const text of unseen.keys()) expect(lines.join("\n") + kept).toContain(text);
        if (file !== undefined) expect(lines.at(-1)).toContain(file);
      }),
      { numRuns: 30 },
    );
  });

  it("are kept for their owner alone, without secrets and codes of terminals, below no other folder", async () => {
    const store = join(freshFolder(), "runs.db");
    const host = fakeHost({ env: { SOME_API_KEY: "sk-of-a-server-0123456789" } });
    const unseen = new Map([...many, ["refused sk-of-a-server-0123456789 \u001b[2J", 1]]);
    const file = (await keepWarnings({ host }, unseen, { store, runId: "../../r" })) ?? "";
    expect(dirname(file)).toBe(`${store}-warnings`);
    expect(statSync(file).mode & 0o77).toBe(0);
    const text = readFileSync(file, "utf8");
    expect(text).not.toMatch(/sk-of-a-server|\u001b/);
    expect(text).toContain("warning 8 (9 times)");
  });

  it("are forgotten with their run", async () => {
    const { cwd, id } = await stoppedRun(1);
    const file = await keepWarnings({ host: fakeHost() }, many, { store: join(cwd, ".troupe/runs.db"), runId: id });
    expect(existsSync(file ?? "")).toBe(true);
    expect((await command(cwd, ["runs", "rm", id, "--yes"])).code).toBe(0);
    expect(existsSync(file ?? "")).toBe(false);
  });
});
