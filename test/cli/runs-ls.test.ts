import { describe, expect, it } from "vitest";
import { EVENT_VERSION, type RunEvent } from "../../src/runtime/record/event.ts";
import { command, expectRefusal, linesIn, storeWith } from "./kept-run.ts";

function beginningOf(runId: string): RunEvent {
  const envelope = { v: EVENT_VERSION, runId, seq: 0, time: 1 } as const;
  return { ...envelope, type: "run.started", team: `team of ${runId}`, roles: [], seed: "s", scheduler: "rounds" };
}

function folderWith(ids: readonly string[]): Promise<string> {
  return storeWith(async (journal) => {
    for (const id of ids) {
      await journal.create(id);
      await journal.append(id, (await journal.claim(id)).epoch, 0, [beginningOf(id)]);
    }
  });
}

const IDS = ["one", "two", "three", "four", "five"];
const kept = folderWith(IDS);

async function listed(cwd: string, words: readonly string[]) {
  return linesIn((await command(cwd, ["runs", "ls", "--json", ...words])).stdout) as readonly {
    readonly type: string;
    readonly id?: string;
    readonly after?: string;
  }[];
}

describe("troupe runs ls", () => {
  it("lists every run once, page by page, the newest first", async () => {
    const cwd = await kept;
    const pages: (readonly string[])[] = [];
    let after: readonly string[] = [];
    for (let more = true; more;) {
      const lines = await listed(cwd, ["--limit", "2", ...after]);
      pages.push(lines.flatMap(({ id }) => id ?? []));
      const last = lines.at(-1);
      more = last?.type === "next";
      after = ["--after", last?.after ?? ""];
    }
    expect(pages).toEqual([["five", "four"], ["three", "two"], ["one"]]);
  });

  it("names the command of the next page, and none behind the last", async () => {
    const cwd = await kept;
    const first = await command(cwd, ["runs", "ls", "-n", "3"]);
    expect(first.stdout.trimEnd().split("\n")).toHaveLength(4);
    expect(first.stderr).toBe("Older runs: troupe runs ls --after three --limit 3\n");
    const second = await command(cwd, ["runs", "ls", "--after", "three", "--limit", "3"]);
    expect(second).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/two[^]*one/) as string });
    expect(await command(cwd, ["runs", "ls", "--after", "one"])).toEqual({ code: 0, stdout: "", stderr: "No older runs are kept here.\n" });
    expect((await command(cwd, ["runs"])).stderr).toBe("");
  });

  it("shortens an id no further than all runs of the store allow", async () => {
    const cwd = await folderWith(["alike-1234-old", "alike-1234-new"]);
    expect((await command(cwd, ["runs", "ls", "--limit", "1"])).stdout).toContain("\nalike-1234-n  ");
  });

  it.each([
    [["--limit", "0"], "--limit"],
    [["--limit", "x"], "--limit"],
    [["--after", "nobody"], "RUN_UNKNOWN"],
    [["--after", "t"], "RUN_AMBIGUOUS"],
  ])("refuses %j", async (words, told) => {
    await expectRefusal(await kept, ["runs", "ls", ...words], told);
  });
});
