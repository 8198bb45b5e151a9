import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { command, expectEnd, expectRefusal, freshFolder, linesIn, newestIn } from "./kept-run.ts";

/** A folder with a whole run of the bundled to-do list. */
const whole = (async () => {
  const cwd = freshFolder();
  await command(cwd, ["demo", "todo", "--quiet", "--seed", "1", "--out", "project"]);
  return { cwd, id: await newestIn(cwd) };
})();

/** An export whose events were changed by somebody who knew how. */
function forged(lines: string, change: (events: readonly string[]) => readonly string[]): string {
  const [header = "", ...rest] = lines.trimEnd().split("\n");
  const events = change(rest.slice(0, -1));
  const hash = createHash("sha256");
  for (const event of events) hash.update(`${event}\n`);
  const end = JSON.stringify({ troupe: "end", events: events.length, sha256: hash.digest("hex") });
  return [header.replace(/"events":\d+/, `"events":${events.length}`), ...events, end].join("\n");
}

/** The run in another folder, changed. */
async function elsewhere(change: (events: readonly string[]) => readonly string[]): Promise<{ readonly cwd: string; readonly id: string }> {
  const { cwd: from, id } = await whole;
  const { stdout } = await command(from, ["runs", "export", id]);
  const cwd = freshFolder();
  await expectEnd(cwd, ["runs", "import", "-"], 0, "", { stdin: forged(stdout, change) });
  return { cwd, id };
}

/** All files below a folder, with their times. */
function times(root: string): Readonly<Record<string, readonly [content: string, mtime: number]>> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, [readFileSync(path, "utf8"), statSync(path).mtimeMs]] as const;
    }),
  );
}

describe("troupe replay", () => {
  it("is equal for a run as it was recorded, makes all of its files, and leaves nothing of them", async () => {
    const { cwd, id } = await whole;
    const temporary = join(freshFolder(), "tmp");
    mkdirSync(temporary);
    const before = times(join(cwd, "project"));
    vi.stubEnv("TMPDIR", temporary);
    const { code, stdout } = await command(cwd, ["replay", id, "--json"]);
    expect(code).toBe(0);
    expect(linesIn(stdout)).toEqual([
      { type: "replay", runId: id, equal: true, whole: true, calls: 0, events: expect.any(Number) as number, steps: 52, files: 18 },
    ]);
    expect(times(join(cwd, "project"))).toEqual(before);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("is equal as far as it goes for a record without an end", async () => {
    const { cwd, id } = await elsewhere((events) => events.slice(0, 60));
    await expectEnd(cwd, ["replay", id], 0, /^equal as far as the record goes: /);
  });

  it("names the first difference with both requests, and ends with 1", async () => {
    const { cwd, id } = await elsewhere((events) =>
      events.map((event) => (event.includes('"type":"message"') ? event.replace("command line", "\\u001b[2Jcommanding") : event)),
    );
    const { stdout } = await expectEnd(cwd, ["replay", id], 1);
    expect(stdout).toMatch(/^Run \S+ does not happen again as it was recorded\.\nExpected the run to repeat its record, but /);
    expect(stdout).toMatch(/\nrecorded:\n[^]*Create a command line[^]*\nnow:\n[^]*Create a \\u\{1b\}\[2Jcommanding/);
    expect(stdout).not.toContain("\u001b");
    const [told] = linesIn((await command(cwd, ["replay", id, "--json"])).stdout);
    expect(told).toMatchObject({ type: "replay", equal: false, difference: { kind: "asked", act: "Alice#0~1", name: "scripted-demo" } });
  });

  it("of another team is refused with what differs", async () => {
    const { cwd, id } = await elsewhere(([started = "", ...rest]) => [started.replace('"codeReview":true', '"codeReview":false'), ...rest]);
    await expectRefusal(cwd, ["replay", id], "TEAM_CHANGED");
  });
});
