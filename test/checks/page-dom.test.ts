import { beforeAll, describe, expect, it } from "vitest";
import type { Criterion } from "../../src/checks/acceptance.ts";
import { checkPages, type PageCheckRequest, type PageReport } from "../../src/checks/page-check.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { refusedSandbox, type Sandbox } from "../../src/workspace/sandbox.ts";
import { addCard, BOARD, pageCriterion, projectOf } from "./page-project.ts";
import { someOf } from "../long.ts";

const [sandbox, plain] = [await chooseSandbox("auto"), await chooseSandbox("none")];
if (sandbox.kind !== "bubblewrap") process.stderr.write(`\nTests of pages in a DOM do not run: ${sandbox.describe}\n`);
const html = (script: string, body = "<p>Text</p>"): string => `<!doctype html><html><body>${body}<script>${script}</script></body></html>`;
const PAGES = {
  ...BOARD,
  "loop.html": html("while (true);"),
  "late-loop.html": html("", `<button onclick="while (true);">Go</button>`),
  "alerts.html": html("while (true) alert('again');"),
  "errors.html": html(
    "console.error('broken', 7); Promise.reject(new Error('never heard')); setTimeout(() => { throw new TypeError('thrown later'); }); fetch('http://127.0.0.1:1').then(() => say('reached'), () => say('no network')); function say(text) { document.querySelector('p').textContent = text; }",
  ),
  "module.html": `<!doctype html><p>Text</p><script type="module" src="js/board.js"></script>`,
  "canvas.html": html(
    "document.querySelector('canvas').getContext('2d').fillRect(0, 0, 9, 9); document.querySelector('p').textContent = 'drawn';",
    "<canvas></canvas><p></p>",
  ),
  "order.html": `<!doctype html><style>.card { display: block } .gone { display: none } @media print { p { display: none } }</style><p>Text</p><b class="card gone">a</b>`,
  "js/deferred.js": "document.querySelector('p').textContent += ' deferred';",
  "ready.html": `<!doctype html><head><script defer src="js/deferred.js"></script><script>
    const say = (text) => { document.querySelector("p").textContent += " " + text; };
    const start = () => say("started");
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
    window.addEventListener("DOMContentLoaded", () => say("there"));
    window.onload = () => say("loaded " + document.readyState + " " + structuredClone({ a: 1 }).a);
    addEventListener("hashchange", () => say(location.hash));
    </script></head><body><p></p><a href="#here">Here</a></body>`,
  "form.html": html(
    "document.querySelector('form').onchange = (event) => { document.querySelector('p').textContent += ' ' + event.target.name + '=' + event.target.value; }",
    `<p>Changed:</p><form><input name="a" required><input name="b" type="checkbox"><textarea name="c"></textarea><input name="d" type="date"></form>`,
  ),
};

/** Each is a page of its own, which takes a new process: `npm test` tries one of each kind. */
const MORE: readonly Criterion[] = [
  pageCriterion("fresh", { do: "open" }, { do: "expect", at: ".card", count: 0 }, { do: "expect", at: "h2", contains: ["To do"] }),
  pageCriterion(
    "wait",
    { do: "click", at: "text=Show note" },
    { do: "wait", ms: 300 },
    { do: "expect", at: "#note", visible: true },
    { do: "select", at: "#size", value: "Large" },
    { do: "expect", at: "#size", value: "l" },
    { do: "expect", at: "body[data-size=l]", count: 1 },
  ),
  pageCriterion("confirm", ...addCard("one"), { do: "click", at: "#clear" }, { do: "expect", at: ".card", count: 0 }),
  pageCriterion(
    "ready",
    { do: "open", path: "ready.html" },
    { do: "expect", at: "p", contains: ["deferred", "started", "there", "loaded complete 1"] },
    { do: "click", at: "text=Here" },
    { do: "expect", at: "p", contains: ["#here"] },
  ),
  pageCriterion(
    "order",
    { do: "open", path: "order.html" },
    { do: "expect", at: "p", visible: true },
    { do: "expect", at: ".card", visible: false },
  ),
  pageCriterion("no selector", { do: "click", at: "][" }),
  pageCriterion("missing", { do: "click", at: "#nothing" }),
  pageCriterion("hidden", { do: "click", at: "#note" }),
  pageCriterion("drag", ...addCard("Move me"), { do: "drag", at: "text=Move me", to: "#done" }),
  pageCriterion("slow rule", ...addCard("a".repeat(40)), { do: "expect", at: ".card", matches: "^(a+)+#$" }),
  pageCriterion("no rule", { do: "expect", at: "body", matches: "(" }),
  pageCriterion("no page", { do: "open", path: "nothing.html" }),
  pageCriterion("foreign", { do: "open", path: "http://127.0.0.1:1" }),
  pageCriterion("outside", { do: "open", path: "../../etc/passwd" }),
  pageCriterion("loop", { do: "open", path: "loop.html" }, { do: "expect", at: "p", equals: "Text" }),
  pageCriterion("alerts", { do: "open", path: "alerts.html" }),
];

const CRITERIA: readonly Criterion[] = [
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
    "form",
    { do: "open", path: "form.html" },
    { do: "type", at: "[name=a]", text: "x" },
    { do: "click", at: "[name=b]" },
    { do: "expect", at: "[name=b]", value: "checked" },
    { do: "type", at: "[name=c]", text: "y" },
    { do: "click", at: "p" },
    { do: "expect", at: "p", equals: "Changed: a=x b=on c=y" },
  ),
  pageCriterion(
    "style",
    ...addCard("apple"),
    ...addCard("pear"),
    { do: "type", at: "#filter", text: "app" },
    { do: "expect", at: ".card", count: 1, equals: "apple" },
  ),
  pageCriterion("wrong", ...addCard("one"), { do: "reload" }, { do: "expect", at: ".card", count: 2 }),
  pageCriterion(
    "late loop",
    { do: "open", path: "late-loop.html" },
    { do: "click", at: "button" },
    { do: "expect", at: "button", count: 1 },
  ),
  pageCriterion("module", { do: "open", path: "module.html" }, { do: "expect", at: "p", count: 1 }),
  pageCriterion("errors", { do: "open", path: "errors.html" }, { do: "expect", at: "p", equals: "no network" }),
  pageCriterion("canvas", { do: "open", path: "canvas.html" }, { do: "expect", at: "p", equals: "drawn" }),
  ...someOf(MORE, 0),
  pageCriterion("after", ...addCard("still works"), { do: "expect", at: ".card", equals: "still works" }),
];

describe.runIf(sandbox.kind === "bubblewrap")("a page in a DOM", () => {
  let report: PageReport;
  const told = (id: string): string => {
    const { outcome, by, evidence } = report.verdicts.find((one) => one.id === id) ?? { outcome: "not there", by: "", evidence: "" };
    return `${outcome} by ${by}: ${evidence}`;
  };

  beforeAll(async () => {
    const times = { step: 2_000, load: 6_000 };
    report = await checkPages({ root: projectOf(PAGES), sandbox, criteria: CRITERIA, means: "dom", timeout: 500_000, times });
  }, 600_000);

  it.each(["add", "form", "style", "errors", "after", ...someOf(["fresh", "wait", "confirm", "ready"], 0)])(
    "proves steps that work: %s",
    { tags: "pages" },
    (id) => {
      expect(told(id)).toMatch(/^proven by dom: \d+ steps: /);
    },
  );

  it.each([
    ["canvas", "what a DOM does not have (getContext)"],
    ...someOf(
      [
        ["drag", "cannot drag"],
        ["order", 'a style may hide ".card"'],
        ["slow rule", "takes too long"],
        ["no rule", "expected a regular expression"],
        ["foreign", "expected the path of a page of the project"],
        ["outside", "expected the path of a page of the project"],
      ],
      0,
    ),
  ])("does not check what it cannot do: %s", { tags: "pages" }, (id, reason) => {
    expect(told(id)).toMatch(/^not checked by nothing: /);
    expect(told(id)).toContain(reason);
  });

  it.each([
    ["wrong", 'step 4 (expect ".card"): expected 2 elements ".card", got 1'],
    ["module", "needs a module script"],
    ["late loop", 'step 2 (click "button"): the page does not answer'],
    ...someOf(
      [
        ["missing", 'step 1 (click "#nothing"): expected an element "#nothing", got none'],
        ["hidden", "got none shown (1 hidden)"],
        ["no selector", "expected a CSS selector or text="],
        ["no page", "is not in the project"],
        ["loop", "did not finish loading within 6000 ms"],
        ["alerts", 'alert dialog "again"'],
      ],
      0,
    ),
  ])("fails, with the step and its reason: %s", { tags: "pages" }, (id, reason) => {
    expect(told(id)).toMatch(/^failed by dom: /);
    expect(told(id)).toContain(reason);
  });

  it("collects errors of the page, each once", () => {
    const messages = report.faults.map(({ message }) => message);
    for (const one of ["console.error: broken 7", "uncaught Error: never heard", "uncaught TypeError: thrown later"])
      expect(messages.filter((message) => message === one)).toHaveLength(1);
    expect(messages.join("\n")).not.toContain("getContext");
  });
});

describe("pages without steps", () => {
  const open = async (files: Record<string, string>, more: Partial<PageCheckRequest> = {}): Promise<PageReport> =>
    checkPages({ root: projectOf(files), sandbox: plain, criteria: [], means: "dom", times: { step: 300, load: 15_000 }, ...more });

  it("has no fault where the page works, also without isolation", { tags: ["pages", "long"] }, async () => {
    expect(await open(BOARD)).toEqual({ by: "dom", verdicts: [], faults: [], picture: undefined });
  });

  it("tells a page that is dead on arrival, and what it could not load", { tags: ["pages", "long"] }, async () => {
    const { faults } = await open({ "index.html": '<!doctype html><script src="gone.js"></script><script>start();</script>' });
    expect(faults).toContainEqual({ kind: "page", file: "index.html", message: "could not load gone.js" });
    expect(faults).toContainEqual({ kind: "page", file: "index.html", message: "uncaught ReferenceError: start is not defined" });
    expect(faults).toContainEqual({ kind: "page", file: "index.html", message: "the page shows nothing: no text, no picture, no field" });
  });

  it("fails all criteria of a page that is not there", async () => {
    const report = await open({ "readme.md": "" }, { criteria: [pageCriterion("A1", { do: "expect", at: "p", count: 1 })] });
    expect(report.verdicts).toMatchObject([
      { id: "A1", outcome: "failed", evidence: expect.stringContaining('"index.html", which is not in the project') },
    ]);
    expect(report.faults).toHaveLength(1);
  });

  it("opens another page than index.html, and refuses one outside", async () => {
    const files = { "site/start.html": "<p>Hello</p>" };
    expect(await open(files, { open: "site/start.html" })).toMatchObject({ faults: [] });
    await expect(open(files, { open: "../start.html" })).rejects.toMatchObject({ code: "WORKSPACE_PATH" });
  });
});

describe("what cannot be checked", () => {
  const criteria = [pageCriterion("A1", { do: "expect", at: "p", count: 1 })];

  it("says so and why where the sandbox refuses", async () => {
    const report = await checkPages({
      root: projectOf(BOARD),
      sandbox: refusedSandbox("it is closed", "Open it."),
      criteria,
      means: "dom",
    });
    expect(report).toMatchObject({ by: "nothing", faults: [], notChecked: "No page was opened: it is closed. Open it." });
    expect(report.verdicts).toEqual([
      { id: "A1", priority: "P0", outcome: "not checked", by: "nothing", evidence: "it is closed. Open it." },
    ]);
  });

  it("says so where there is no browser and nothing else is wanted", async () => {
    const report = await checkPages({ root: projectOf(BOARD), sandbox: plain, criteria, means: "browser", browser: "/nowhere/chromium" });
    expect(report).toMatchObject({ by: "nothing", notChecked: "No page was opened: /nowhere/chromium is no program" });
  });

  it("takes nothing for a result that the driver did not say", async () => {
    const forged = JSON.stringify({ kind: "result", id: "A1", outcome: "proven", evidence: "forged" });
    const stdout = `${"0".repeat(32)} ${forged}\n${forged}\n`;
    const liar: Sandbox = { ...plain, run: async () => ({ kind: "exited", code: 0, stdout, stderr: "broken", isCut: false }) };
    const report = await checkPages({ root: projectOf(BOARD), sandbox: liar, criteria, means: "dom" });
    expect(report).toMatchObject({ by: "nothing", verdicts: [{ outcome: "not checked", evidence: expect.stringContaining("broken") }] });
  });

  it("ends when the signal aborts, and refuses an option that is none", async () => {
    const request = { root: projectOf(BOARD), sandbox: plain, criteria, means: "dom" } as const;
    await expect(checkPages({ ...request, signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortedError" });
    await expect(checkPages({ ...request, timeout: 0 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(checkPages({ ...request, opne: "x" } as PageCheckRequest)).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
  });
});
