import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished } from "vitest";
import type { RunEvent } from "../../../src/index.ts";
import { offlinePage, readPage } from "../../../src/inspector/page-file.ts";
import { PANELS } from "../../../src/inspector/page/run-page.tsx";

const PROGRAMS = [process.env["CHROME_PATH"] ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"];

/** Milliseconds until a page is taken not to show something. On a busy machine it may take seconds. */
const LONGEST_LOOK = 120_000;

/** The browser of this machine; undefined where it has none. */
const program: string | undefined = PROGRAMS.find((path) => path !== "" && existsSync(path));

if (program === undefined)
  process.stderr.write("\nTests of the inspector in a browser do not run: there is no Chromium (apt install chromium)\n");

/** Tests that a machine without a browser skips. */
export function describeInBrowser(title: string, tests: () => void): void {
  (program === undefined ? describe.skip : describe)(title, tests);
}

export interface TestBrowser {
  readonly folder: string;
  /** Opens a page, which closes at the end of the test. @param mayFail without it the page must have had no fault */
  open(url: string, o?: { readonly theme?: "light" | "dark"; readonly mayFail?: boolean }): Promise<WatchedPage>;
}

/** Starts a browser for a file of tests, and makes a folder for its pages. */
export function testBrowser(): TestBrowser {
  const folder = mkdtempSync(join(tmpdir(), "troupe-page-"));
  let browser: Browser;
  beforeAll(async () => {
    if (program === undefined) return;
    browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"], timeout: LONGEST_LOOK });
  });
  afterAll(async () => {
    if (program !== undefined) await browser.close();
    rmSync(folder, { recursive: true });
  });
  const open: TestBrowser["open"] = async (url, { theme = "light", mayFail = false } = {}) => {
    const opened = await openPage(browser, url, theme);
    onTestFinished(async () => {
      if (!mayFail) expect(opened.faults).toEqual([]);
      await opened.page.context().close();
    });
    return opened;
  };
  return { folder, open };
}

const checker = readFileSync(createRequire(import.meta.url).resolve("accessibility-checker-engine/ace.js"), "utf8");

/** A page with all that went wrong in it: messages of the console, errors, violations of its policy, and requests to elsewhere. */
export interface WatchedPage {
  readonly page: Page;
  readonly faults: string[];
  /** Addresses that were asked for, without those of the page itself. */
  readonly requests: string[];
}

/** Opens a page in a context of its own. @param theme of the system */
async function openPage(browser: Browser, url: string, theme: "light" | "dark"): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: theme });
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_LOOK);
  const [faults, requests]: [string[], string[]] = [[], []];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => requests.push(request.url()));
  await page.exposeFunction("noteViolation", (text: string) => faults.push(`policy: ${text}`));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      const { noteViolation } = window as unknown as { readonly noteViolation: (text: string) => void };
      noteViolation(`${violatedDirective} ${blockedURI}`);
    });
  });
  await page.goto(url);
  return { page, faults, requests };
}

interface Finding {
  readonly ruleId: string;
  readonly message: string;
  readonly snippet: string;
  readonly value: readonly [string, string];
}

/** The violations of WCAG 2.1 A and AA that IBM's checker finds in a page as it stands. */
export async function violationsIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(checker);
  return page.evaluate(async () => {
    const { Checker } = (
      window as unknown as {
        readonly ace: { readonly Checker: new () => { check(document: Document, rules: string[]): Promise<{ results: Finding[] }> } };
      }
    ).ace;
    const { results } = await new Checker().check(document, ["WCAG_2_1"]);
    return results
      .filter(({ value: [kind, found] }) => kind === "VIOLATION" && found === "FAIL")
      .map(({ ruleId, message, snippet }) => `${ruleId}: ${message} ${snippet.slice(0, 200)}`);
  });
}

/** Writes runs as one file of HTML. Returns its address. */
export async function offlineFile(folder: string, name: string, runs: readonly (readonly RunEvent[])[]): Promise<string> {
  let html = "";
  for await (const line of offlinePage(await readPage(), runs)) html += `${line}\n`;
  const path = join(folder, `${name}.html`);
  writeFileSync(path, html);
  return `file://${path}`;
}

/** Clicks the tab of a view. */
export async function toPanel(page: Page, id: string): Promise<void> {
  await tabs(page)
    .and(page.locator(`[href$="/${id}"]`))
    .click();
}

/** The tabs of a run whose roles share tasks or notes, and those of one without. */
export const WITH_BOARD: readonly string[] = PANELS.map(({ id }) => id);
export const WITHOUT_BOARD = WITH_BOARD.filter((id) => id !== "board");

/** Clicks each tab that a run shows, which must be these, and looks at its view. */
export async function eachPanel(page: Page, ids: readonly string[], look: (id: string) => Promise<void>): Promise<void> {
  await expectSoon(() => panelsOf(page)).toEqual(ids);
  for (const id of ids) {
    await toPanel(page, id);
    await tabs(page)
      .and(page.locator(`[aria-current][href$="/${id}"]`))
      .waitFor();
    await look(id);
  }
}

/** The views whose tabs a run shows. */
export function panelsOf(page: Page): Promise<readonly string[]> {
  return tabs(page).evaluateAll((all) => all.map((tab) => tab.getAttribute("href")?.split("/").at(-1) ?? ""));
}

function tabs(page: Page): Locator {
  return page.getByRole("navigation", { name: "Views of the run" }).getByRole("link");
}

/** The details of what is chosen. */
export function drawer(page: Page): Locator {
  return page.getByRole("complementary");
}

/** The first row of the list of events that has a text. */
export function eventRow(page: Page, text: string): Locator {
  return page.locator(".event", { hasText: text }).first();
}

/** The state of the run, in a word. */
export function badge(page: Page): Promise<string | null> {
  return page.locator(".run-head .badge").first().textContent();
}

/** Looks at a page until it shows what is expected. */
export function expectSoon<T>(look: () => T, o: { readonly message?: string } = {}): ReturnType<typeof expect.poll<T>> {
  return expect.poll(look, { timeout: LONGEST_LOOK, ...o });
}
