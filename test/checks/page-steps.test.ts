import { beforeAll, describe, expect, it } from "vitest";
import { CheckSchema, type Criterion } from "../../src/checks/acceptance.ts";
import { missingPageMeans } from "../../src/checks/chromium.ts";
import { checkPages, type PageReport } from "../../src/checks/page-check.ts";
import { pageCriterion, projectOf } from "./page-project.ts";
import { sandbox } from "./project.ts";
import { someOf } from "../long.ts";

const missing = missingPageMeans(sandbox);

/** A timer of 25 minutes that counts its ticks and shows the date, a list from a file, and a width. */
const PAGE = `<!doctype html><html><body><p id="left"></p><p id="day"></p><p id="wide"></p><p id="list"></p>
<button id="start">Start</button><input type="file" id="file" hidden><button id="load">Load</button><button id="call">Call</button><script>
const show = (id, text) => { document.getElementById(id).textContent = text; };
let left = 1500;
const draw = () => { show("left", left + " s"); show("day", new Date().toDateString() + " " + new Date().getHours()); };
const wide = () => show("wide", innerWidth < 500 ? "narrow" : "wide");
draw(); wide(); addEventListener("resize", wide);
show("list", localStorage.getItem("list") ?? "empty");
document.getElementById("start").onclick = () => setInterval(() => { left -= 1; draw(); }, 1000);
document.getElementById("load").onclick = () => document.getElementById("file").click();
document.getElementById("file").onchange = async ({ target }) => {
  const [file] = target.files;
  const text = file.name + "|" + file.type + "|" + (await file.text());
  localStorage.setItem("list", text);
  show("list", text);
};
document.getElementById("call").onclick = () => { console.warn("calls home"); fetch("http://127.0.0.1:9/home").catch(() => {}); };
</script></body></html>`;

const ALL_RIGHT: readonly Criterion[] = [
  pageCriterion(
    "clock",
    { do: "clock", set: "2026-03-01T09:30" },
    { do: "expect", at: "#day", equals: "Sun Mar 01 2026 9" },
    { do: "click", at: "#start" },
    { do: "expect", at: "#left", equals: "1500 s" },
    { do: "clock", advance: 1_500_000 },
    { do: "expect", at: "#left", equals: "0 s" },
    { do: "wait", ms: 2_000 },
    { do: "expect", at: "#left", equals: "-2 s" },
    { do: "clock", set: "2026-03-02" },
    { do: "expect", at: "#day", equals: "Mon Mar 02 2026 0" },
    { do: "reload" },
    { do: "expect", at: "#day", equals: "Mon Mar 02 2026 0" },
    { do: "clock", set: "2026-02-28T23:00:00Z" },
    { do: "reload" },
    { do: "expect", at: "#day", equals: "Sat Feb 28 2026 23" },
  ),
  pageCriterion(
    "upload",
    { do: "upload", at: "#load", path: "in/a.csv", content: "x,y" },
    { do: "expect", at: "#list", equals: "a.csv|text/csv|x,y" },
  ),
  pageCriterion(
    "bytes",
    { do: "upload", at: "#file", path: "b.bin", base64: "QUI=" },
    { do: "storage", key: "list", equals: "b.bin|application/octet-stream|AB" },
  ),
  pageCriterion(
    "storage",
    { do: "storage", key: "list", absent: true },
    { do: "storage", key: "list", set: "[broken" },
    { do: "reload" },
    { do: "expect", at: "#list", equals: "[broken" },
    { do: "storage", key: "list", contains: ["broken"] },
  ),
  pageCriterion(
    "script",
    { do: "script", code: "left = 7; draw();" },
    { do: "expect", at: "#left", equals: "7 s" },
    { do: "script", code: "const all = [left, { a: null }]; all;", value: [7, { a: null }] },
    { do: "script", code: "const got = await Promise.resolve(left); return got + 1;", value: 8 },
    { do: "script", code: "undefined", value: null },
  ),
  pageCriterion(
    "quiet",
    { do: "click", at: "#start" },
    { do: "console", count: 0 },
    { do: "requests", count: 0 },
    { do: "expect", at: "#wide", equals: "wide" },
  ),
  pageCriterion(
    "loud",
    { do: "click", at: "#call" },
    { do: "console", contains: ["warning: calls home"] },
    { do: "requests", count: 1, matches: "^GET http://127.0.0.1:9/home$" },
  ),
  pageCriterion("narrow", { do: "viewport", width: 375 }, { do: "expect", at: "#wide", equals: "narrow" }),
];

/** Each is wrong in one step; the words are of its evidence. */
const ALL_WRONG: readonly (readonly [Criterion, outcome: string, words: string])[] = [
  [
    pageCriterion("late", { do: "click", at: "#start" }, { do: "clock", advance: 3_000 }, { do: "expect", at: "#left", equals: "1500 s" }),
    "failed",
    "step 3",
  ],
  [
    pageCriterion("kept", { do: "storage", key: "list", equals: "x" }),
    "failed",
    'expected "list" in local storage to have a value, got none',
  ],
  [pageCriterion("value", { do: "script", code: "left", value: "1500" }), "failed", 'expected the script to give "1500", got 1500'],
  [pageCriterion("throws", { do: "script", code: "nothing.here" }), "failed", "nothing is not defined"],
  [pageCriterion("no script", { do: "script", code: "left ===" }), "not checked", "expected a script in JavaScript"],
  [
    pageCriterion("asks", { do: "click", at: "#call" }, { do: "requests", count: 0 }),
    "failed",
    "expected 0 requests, got 1: GET http://127.0.0.1:9/home",
  ],
  [
    pageCriterion("prints", { do: "click", at: "#call" }, { do: "console", lacks: ["home"] }),
    "failed",
    "expected the console to be a text without",
  ],
];

/** Each takes a page of its own. */
const [RIGHT, WRONG] = [someOf(ALL_RIGHT, 1), someOf(ALL_WRONG, 1)];

describe.runIf(missing === undefined)("steps on a page", () => {
  let report: PageReport;
  beforeAll(async () => {
    const criteria = [...RIGHT, ...WRONG.map(([criterion]) => criterion)];
    const times = { step: 2_000, load: 15_000, criterion: 60_000 };
    report = await checkPages({ root: projectOf({ "index.html": PAGE }), sandbox, criteria, timeout: 300_000, times });
  }, 400_000);
  const told = (id: string): string => {
    const { outcome, evidence } = report.verdicts.find((one) => one.id === id) ?? { outcome: "not there", evidence: "" };
    return `${outcome}: ${evidence}`;
  };

  it.each(RIGHT.map(({ id }) => id))("are proven where the page does as they say: %s", { tags: "pages" }, (id) => {
    expect(told(id)).toMatch(/^proven: /);
  });

  it.each(WRONG.map(([{ id }, outcome, words]) => [id, outcome, words] as const))(
    "are not where it does not: %s",
    { tags: "pages" },
    (id, outcome, words) => {
      expect(told(id)).toContain(words);
      expect(told(id).startsWith(`${outcome}: `)).toBe(true);
    },
  );
});

describe("a step on a page as a model writes it", () => {
  const read = (...steps: readonly object[]): unknown => CheckSchema.safeParse({ kind: "page", steps }).data;

  it("keeps null as the value of a script", () => {
    const step = { do: "script", code: "x", value: null };
    expect(read({ ...step, note: null })).toEqual({ kind: "page", steps: [step] });
    expect(read({ ...step, value: [null, { a: null }] })).toEqual({ kind: "page", steps: [{ ...step, value: [null, { a: null }] }] });
  });

  it.each([
    ["a clock without a time", { do: "clock" }],
    ["a time that is none", { do: "clock", set: "tomorrow" }],
    ["more than a day", { do: "clock", advance: 86_400_001 }],
    ["a file with neither text nor bytes", { do: "upload", at: "#f", path: "a" }],
    ["a value that is written and expected", { do: "storage", key: "a", set: "1", equals: "1" }],
    ["a window without a width", { do: "viewport", height: 400 }],
    ["an unknown rule", { do: "requests", none: true }],
  ])("is refused: %s", (_what, step) => expect(read(step)).toBeUndefined());
});
