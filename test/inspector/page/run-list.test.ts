import { describe, expect, test } from "vitest";
import { extended, refreshed } from "../../../src/inspector/page/runs-page.tsx";
import type { RunPage } from "../../../src/inspector/page/run-source.ts";
import { TallyFold } from "../../../src/runtime/record/run-summary.ts";

function list(ids: string, next?: string): RunPage {
  return { runs: ids.split("").map((id) => new TallyFold(id).tally.summary), ...(next === undefined ? {} : { next }) };
}

const told = ({ runs, next }: RunPage): readonly [string, string | undefined] => [runs.map(({ id }) => id).join(""), next];

describe("the list of runs on the page", () => {
  test.each<[string, RunPage | undefined, RunPage, readonly [string, string | undefined]]>([
    ["is what was read first", undefined, list("edc", "c"), ["edc", "c"]],
    ["has new runs, and keeps older pages", list("edcba"), list("fed", "d"), ["fedcba", undefined]],
    ["keeps the cursor of the oldest page", list("edcb", "b"), list("fed", "d"), ["fedcb", "b"]],
    ["has no run that was removed", list("edcba"), list("eca", undefined), ["eca", undefined]],
    ["has no run that was removed from the page that was read", list("edcba"), list("ec", "c"), ["ecba", undefined]],
    ["begins again where a whole page came", list("cba"), list("fed", "d"), ["fed", "d"]],
    ["is empty when all were removed", list("cba"), list(""), ["", undefined]],
  ])("%s", (_name, known, read, expected) => {
    expect(told(refreshed(known, read))).toEqual(expected);
  });

  test("goes on with the next page, each run once", () => {
    expect(told(extended(list("edc", "c"), list("ba")))).toEqual(["edcba", undefined]);
    expect(told(extended(list("edc", "c"), list("cb", "b")))).toEqual(["edcb", "b"]);
  });
});
