// @module-tag pages
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Criterion } from "../../src/checks/acceptance.ts";
import { checkPages, type PageReport } from "../../src/checks/page-check.ts";
import { missingPageMeans } from "../../src/checks/chromium.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { addCard, BOARD, pageCriterion, projectOf } from "./page-project.ts";

const sandboxes = [await chooseSandbox("auto"), await chooseSandbox("none")].filter((one) => one.kind !== "refused");
const missing = missingPageMeans(sandboxes[0] ?? (await chooseSandbox("none")));
if (missing !== undefined) process.stderr.write(`\nTests of hostile pages do not run: ${missing}\n`);

const html = (script: string, body = "<p>Text</p>"): string => `<!doctype html><html><body>${body}<script>${script}</script></body></html>`;
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(request.url ?? "");
  response.end("host");
}).listen(0, "127.0.0.1");
const port = await new Promise<number>((resolve) => server.once("listening", () => resolve((server.address() as AddressInfo).port)));
afterAll(() => server.close());

const host = `http://127.0.0.1:${port}`;
const PAGES = {
  ...BOARD,
  "flood.html": html("for (let n = 0; n < 200000; n++) console.log('x'.repeat(100000), n);", `<p id="end">ended</p>`),
  "huge.html": html("throw new Error('x'.repeat(2e8));"),
  "memory.html": html("const held = []; setInterval(() => { held.push(new Uint8Array(3e8).fill(1)); }, 20);"),
  "windows.html": html("setInterval(() => window.open('about:blank'), 5);", `<button onclick="window.open('index.html')">Open</button>`),
  "away.html": html(`setTimeout(() => location.href = '${host}/away', 100);`),
  "files.html": html(
    `const say = (text) => { document.querySelector("p").textContent += text + " "; };
     onload = () => { for (const frame of document.querySelectorAll("iframe")) { try { say(frame.contentDocument ? "open" : "closed"); } catch { say("closed"); } } };
     fetch("file:///etc/passwd").then(() => say("read"), () => say("refused"));`,
    `<p></p><iframe src="file:///etc/passwd"></iframe>`,
  ),
  "requests.html": html(
    `const say = (text) => { document.querySelector("p").textContent += text + " "; };
     fetch("${host}/fetch").then(() => say("reached"), () => say("refused"));
     const socket = new WebSocket("ws://127.0.0.1:${port}/socket"); socket.onopen = () => say("reached"); socket.onerror = () => say("refused");
     navigator.sendBeacon("${host}/beacon"); new Image().src = "${host}/image";`,
    `<p></p><form action="${host}/form"><button>Send</button></form>`,
  ),
  "download.html": html("", `<a download="evil.sh" href="data:text/plain,evil">Get</a><p>Text</p>`),
};

const CRITERIA: readonly Criterion[] = [
  pageCriterion("flood", { do: "open", path: "flood.html" }, { do: "expect", at: "#end", equals: "ended" }),
  pageCriterion("huge", { do: "open", path: "huge.html" }, { do: "expect", at: "p", equals: "nothing" }),
  pageCriterion(
    "memory",
    { do: "open", path: "memory.html" },
    { do: "wait", ms: 5000 },
    { do: "wait", ms: 5000 },
    { do: "expect", at: "p", count: 2 },
  ),
  pageCriterion("windows", { do: "open", path: "windows.html" }, { do: "click", at: "button" }, { do: "wait", ms: 3000 }),
  pageCriterion("away", { do: "open", path: "away.html" }, { do: "wait", ms: 500 }, { do: "expect", at: "p", equals: "Text" }),
  pageCriterion(
    "files",
    { do: "open", path: "files.html" },
    { do: "expect", at: "p", contains: ["closed", "refused"], lacks: ["open", "read"] },
  ),
  pageCriterion(
    "requests",
    { do: "open", path: "requests.html" },
    { do: "expect", at: "p", equals: "refused refused" },
    { do: "click", at: "button" },
  ),
  pageCriterion(
    "download",
    { do: "open", path: "download.html" },
    { do: "click", at: "a" },
    { do: "expect", at: "p", equals: "Text" },
    { do: "expect", at: "p", count: 9 },
  ),
  pageCriterion("after", ...addCard("still works"), { do: "reload" }, { do: "expect", at: ".card", equals: "still works" }),
];

describe.runIf(missing === undefined).each(sandboxes)("hostile pages, sandbox $kind", (sandbox) => {
  let report: PageReport;

  beforeAll(async () => {
    report = await checkPages({
      root: projectOf(PAGES),
      sandbox,
      criteria: CRITERIA,
      timeout: 800_000,
      // A busy machine needs seconds for one click.
      times: { step: 20_000, load: 60_000, criterion: 90_000 },
    });
  }, 900_000);

  const told = (id: string): string => {
    const { outcome, evidence } = report.verdicts.find((one) => one.id === id) ?? { outcome: "not there", evidence: "" };
    return `${outcome}: ${evidence}`;
  };

  it("ends each within its limits, and goes on", () => {
    expect(told("huge")).toMatch(/^failed: /);
    expect(told("memory")).toMatch(/^failed: .*(memory|crashed|not answer)/);
    expect(told("windows")).toMatch(/^failed: .*window for/);
    expect(told("flood")).toMatch(/^proven: /);
    expect(told("after")).toMatch(/^proven: /);
  });

  it("keeps files of the machine from pages", () => {
    expect(told("files")).toMatch(/^proven: /);
    expect(told("download")).toMatch(/^failed: .*download of "evil.sh", not kept/);
  });

  it("lets no request out", () => {
    expect(told("requests")).toMatch(/^proven: /);
    expect(told("away")).toMatch(/^failed: .*the page left the project/);
    expect(requests).toEqual([]);
  });

  it("leaves nothing in the temporary folder", () => {
    expect(readdirSync("/tmp").filter((name) => /^troupe-[0-9a-f]{12}$/.test(name))).toEqual([]);
  });
});
