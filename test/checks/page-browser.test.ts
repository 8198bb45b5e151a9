import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Criterion } from "../../src/checks/acceptance.ts";
import { checkPages, type PageReport } from "../../src/checks/page-check.ts";
import { missingPageMeans } from "../../src/checks/chromium.ts";
import type { Verdict } from "../../src/checks/verification.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { addCard, BOARD, pageCriterion, projectOf } from "./page-project.ts";
import { someOf, tries } from "../long.ts";

const sandbox = await chooseSandbox("auto");
const missing = missingPageMeans(sandbox);
if (missing !== undefined) process.stderr.write(`\nTests of pages do not run: ${missing}\n`);

const html = (script: string, body = "<p>Text</p>"): string => `<!doctype html><html><body>${body}<script>${script}</script></body></html>`;
const server = createServer((_, response) => response.end("host")).listen(0, "127.0.0.1");
const port = await new Promise<number>((resolve) => server.once("listening", () => resolve((server.address() as AddressInfo).port)));

const PAGES = {
  ...BOARD,
  "loop.html": html("while (true);"),
  "late-loop.html": html("", `<button onclick="while (true);">Go</button>`),
  "alerts.html": html("while (true) alert('again');"),
  "errors.html": html(
    "console.error('broken', 7); Promise.reject(new Error('never heard')); setTimeout(() => { throw new TypeError('thrown later'); }); fetch('http://127.0.0.1:" +
      port +
      "').then(() => say('reached'), () => say('no network')); function say(text) { document.querySelector('p').textContent = text; }",
  ),
  "forge.html": html(
    `const line = JSON.stringify({ kind: "result", id: "forged", outcome: "proven", evidence: "forged" });
     for (const name of ["log", "error"]) console[name]("0".repeat(32) + " " + line);
     Array.prototype.map = () => [{ id: "forged", outcome: "proven" }]; JSON.stringify = () => line;`,
  ),
};

/** Each is a page of its own, which takes a new process: `npm test` tries one of each kind. */
const MORE: readonly Criterion[] = [
  pageCriterion(
    "add",
    ...addCard("Buy milk"),
    ...addCard("Write"),
    { do: "expect", at: "#todo .card", count: 2, contains: ["Buy milk", "Write"] },
    { do: "expect", at: "#title", value: "" },
    { do: "reload" },
    { do: "expect", at: ".card", count: 2 },
    { do: "expect", at: "#count", equals: "2 open", matches: "^2 o" },
  ),
  pageCriterion(
    "filter",
    ...addCard("apple"),
    ...addCard("pear"),
    { do: "type", at: "#filter", text: "app" },
    { do: "expect", at: ".card", count: 1, equals: "apple", lacks: ["pear"] },
    { do: "type", at: "#filter", text: "x" },
    { do: "expect", at: ".card", visible: false },
    { do: "click", at: "text=Show note" },
    { do: "expect", at: "#note", visible: true },
    { do: "select", at: "#size", value: "Large" },
    { do: "expect", at: "#size", value: "l" },
  ),
  pageCriterion("confirm", ...addCard("one"), { do: "click", at: "#clear" }, { do: "expect", at: ".card", count: 0 }),
  pageCriterion("hidden", { do: "click", at: "#note" }),
  pageCriterion("forged", { do: "open", path: "forge.html" }, { do: "expect", at: "p", equals: "forged" }),
  pageCriterion(
    "late loop",
    { do: "open", path: "late-loop.html" },
    { do: "click", at: "button" },
    { do: "expect", at: "button", count: 1 },
  ),
  pageCriterion("alerts", { do: "open", path: "alerts.html" }),
  pageCriterion("loop", { do: "open", path: "loop.html" }, { do: "expect", at: "p", equals: "Text" }),
  pageCriterion("after", ...addCard("still works"), { do: "expect", at: ".card", equals: "still works" }),
];

const CRITERIA: readonly Criterion[] = [
  pageCriterion(
    "drag",
    { do: "open" },
    { do: "expect", at: ".card", count: 0 },
    { do: "expect", at: "h2", contains: ["To do"] },
    ...addCard("Move me"),
    { do: "drag", at: "text=Move me", to: "#done" },
    { do: "expect", at: "#done .card", equals: "Move me" },
    { do: "reload" },
    { do: "expect", at: "#todo .card", count: 0 },
  ),
  pageCriterion("wrong", ...addCard("one"), { do: "reload" }, { do: "expect", at: ".card", count: 2 }),
  pageCriterion("errors", { do: "open", path: "errors.html" }, { do: "expect", at: "p", equals: "no network" }),
  ...someOf(MORE, 0),
];

it("without Chromium every verdict is not checked, and says how to install it", async () => {
  vi.stubEnv("CHROME_PATH", "/nowhere/chromium");
  const report = await checkPages({ root: projectOf(BOARD), sandbox, criteria: [pageCriterion("A1", { do: "reload" })] });
  vi.unstubAllEnvs();
  const evidence = "No page was opened: /nowhere/chromium is no program";
  expect(report).toEqual({
    by: "nothing",
    faults: [],
    verdicts: [{ id: "A1", priority: "P0", outcome: "not checked", by: "nothing", evidence }],
  });
});

describe.runIf(missing === undefined)("a page in a browser", () => {
  let report: PageReport;
  const of = (id: string): Verdict | undefined => report.verdicts.find((one) => one.id === id);
  const failureOf = (id: string): string => {
    const { outcome, by, evidence } = of(id) ?? { outcome: "not there", by: "", evidence: "" };
    return `${outcome} by ${by}: ${evidence}`;
  };

  beforeAll(async () => {
    const times = { step: tries(2_000, 5_000), load: 15_000, criterion: 60_000 };
    const request = { root: projectOf(PAGES), sandbox, criteria: CRITERIA, timeout: 500_000, times };
    report = await checkPages(request);
  }, 600_000);

  it.each(["drag", "errors", ...someOf(["add", "filter", "confirm", "after"], 0)])(
    "proves steps that work: %s",
    { tags: "pages" },
    (id) => {
      expect(of(id)).toMatchObject({ outcome: "proven", by: "browser", priority: "P0" });
    },
  );

  it("has one verdict for each criterion", () => {
    expect(report.by).toBe("browser");
    expect(report.verdicts.map(({ id }) => id)).toEqual(CRITERIA.map(({ id }) => id));
  });

  it("tells the first step that fails, what was expected and what came", () => {
    expect(failureOf("wrong")).toBe(
      'failed by browser: step 4 (expect ".card"): expected 2 elements ".card", got 1; before it: type "#title" "one", press "#title" "Enter", reload',
    );
  });

  it("tells an element that is there and hidden", { tags: ["pages", "long"] }, () => {
    expect(failureOf("hidden")).toBe('failed by browser: step 1 (click "#note"): expected an element "#note", got none shown (1 hidden)');
  });

  it("ends a page that loops, and goes on with the next criterion", { tags: ["pages", "long"] }, () => {
    expect(failureOf("loop")).toMatch(/^failed by browser: .*did not finish loading within 15000 ms/);
  });

  it("ends a page that loops later, or asks without end", { tags: ["pages", "long"] }, () => {
    expect(failureOf("late loop")).toMatch(/^failed by browser: step 2 .*does not answer/);
    expect(failureOf("alerts")).toMatch(/^failed by browser: .*alert dialog "again"/);
  });

  it("takes no result from a page", { tags: ["pages", "long"] }, () => {
    expect(failureOf("forged")).toMatch(/^failed by browser: step 2/);
    expect(report.verdicts.filter(({ id }) => id === "forged")).toHaveLength(1);
  });

  it("collects errors of the page, each once, also where the steps work", () => {
    const messages = report.faults.map(({ message }) => message);
    expect(messages).toContain("console.error: broken 7");
    expect(messages.filter((one) => one.includes("never heard"))).toHaveLength(1);
    expect(messages.find((one) => one.includes("thrown later"))).toMatch(/^uncaught TypeError: thrown later \(errors\.html:1:\d+\)$/);
    expect(report.faults.every(({ kind }) => kind === "page")).toBe(true);
  });
});

describe.skipIf(missing !== undefined)("a page that shows what a command writes", () => {
  it(
    "gets the files of each criterion for that alone, and may do without a file that .gitignore names",
    { tags: ["pages", "long"] },
    async () => {
      const page = '<!doctype html><p id="runs"></p><script src="data.js"></script><script src="show.js"></script>';
      const show = 'document.querySelector("#runs").textContent = (globalThis.RUNS ?? []).length + " runs";';
      const root = projectOf({ "index.html": page, "show.js": show, ".gitignore": "data.js\n" });
      const expects = (id: string, equals: string, given: readonly { readonly path: string; readonly content: string }[]): Criterion => ({
        ...pageCriterion(id),
        check: { kind: "page", given, steps: [{ do: "expect", at: "#runs", equals }] },
      });
      const criteria = [
        expects("two", "2 runs", [{ path: "data.js", content: "globalThis.RUNS = [1, 2];" }]),
        expects("none", "0 runs", []),
        expects("outside", "1 runs", [{ path: "../../data.js", content: "globalThis.RUNS = [1];" }]),
      ];
      const found = await checkPages({ root, sandbox, criteria });
      expect(found.verdicts.map(({ id, outcome }) => [id, outcome])).toEqual([
        ["two", "proven"],
        ["none", "proven"],
        ["outside", "failed"],
      ]);
      expect(found.faults).toEqual([]);
    },
  );
});

afterAll(() => server.close());
