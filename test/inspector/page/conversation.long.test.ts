// @module-tag pages
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { RunEvent } from "../../../src/index.ts";
import { disputedRun, runOfLines } from "./company-run.ts";
import { longRun } from "./long-run.ts";
import { describeInBrowser, drawer, expectSoon, offlineFile, testBrowser, toPanel, violationsIn } from "./watched-page.ts";

const { folder, open } = testBrowser();

/** Opens a run without naming a view, and waits for its first one. */
async function firstView(name: string, events: readonly RunEvent[], theme: "light" | "dark" = "light") {
  const opened = await open(await offlineFile(folder, name, [events]), { theme });
  await opened.page.locator(".tabs a[aria-current]", { hasText: "Conversation" }).waitFor();
  return opened;
}

const said = (page: Page) => page.getByRole("region", { name: "Conversation" }).getByRole("article");
const words = (text: string): string => text.replace(/\s+/g, " ").trim();

describeInBrowser("the first view of a company's run", () => {
  it.each(["light", "dark"] as const)("has the result, the conversation and the whole run, accessibly in the theme %s", async (theme) => {
    const { page } = await firstView("company", disputedRun(), theme);
    const result = words(await page.getByRole("region", { name: "Result" }).innerText());
    for (const part of [
      "adder Not done",
      "The same failures stay.",
      "A1 proven When two numbers are given, then their sum is printed. exit code 0; stdout: 3 |",
      "A2 failed When a word is given",
      "Objection R1 (unproven): It has no help.",
      "Criteria 1 of 2 proven",
      "Tests javascript: 2 of 2 passed",
      "Cost $0.00",
    ])
      expect(result).toContain(part);
    expect(words(await said(page).nth(1).innerText())).toMatch(
      /^A Ada to Ben Work The user: Add two numbers It is small\. I doubt A2\. Whole message \(\d+ characters\) Details$/,
    );
    const disputes = page.locator(".dispute");
    expect((await disputes.allInnerTexts()).map((text) => words(text).match(/Corrected|Stays|Open/g))).toEqual([
      ["Corrected", "Stays"],
      ["Corrected"],
      ["Open"],
    ]);
    expect(await disputes.nth(1).getByRole("article").count()).toBe(3);
    await said(page).nth(1).getByRole("button", { name: "Whole message" }).click();
    const whole = page.getByRole("region", { name: "Content of message 2" });
    await expectSoon(() => whole.getByRole("heading", { name: "Order" }).count()).toBe(1);
    expect(await whole.locator("strong").allInnerTexts()).toEqual(["adder"]);
    expect(await page.locator(".talk").innerText()).not.toMatch(/\*\*|^#/m);
    expect(await violationsIn(page)).toEqual([]);
    await said(page).nth(1).getByRole("button", { name: "Details" }).click();
    await expectSoon(() => drawer(page).innerText()).toContain("It is small. I doubt A2.");
    expect(await violationsIn(page)).toEqual([]);
  });

  it("fits the whole run to the width, a row and a color for each role that has acted, walked with the arrow keys", async () => {
    const { page } = await firstView("fitted", disputedRun());
    const rows = page.getByRole("region", { name: "The whole run" }).getByRole("group");
    expect(await rows.count()).toBe(4);
    for (const width of [1280, 400]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const [row, bars] = [await rows.nth(1).boundingBox(), await rows.nth(1).getByRole("button").all()];
      for (const bar of bars) {
        const { x = 0, width: wide = 0 } = (await bar.boundingBox()) ?? {};
        expect(x).toBeGreaterThanOrEqual(row?.x ?? NaN);
        expect(x + wide).toBeLessThanOrEqual((row?.x ?? 0) + (row?.width ?? 0) + 1);
      }
    }
    const colors = await page
      .locator(".whole-role")
      .evaluateAll((all) => all.map((one) => getComputedStyle(one.querySelector(".whole-bar") ?? one).borderColor));
    expect(new Set(colors).size).toBe(4);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await rows.nth(1).getByRole("button").first().focus();
    expect(await focused()).toMatch(/^Work Ben#0~1, /);
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toMatch(/^Work Ben#1~1, /);
    await page.keyboard.press("Enter");
    await expectSoon(() => drawer(page).getByRole("heading", { level: 2 }).textContent()).toBe("Activation Ben#1~1");
  });

  it("is the run as it was at an event", async () => {
    const { page } = await firstView("past", disputedRun());
    await page.getByRole("slider").fill("2");
    await expectSoon(() => said(page).count()).toBe(1);
    expect(await page.getByRole("region", { name: "Result" }).innerText()).toContain("There is no result yet.");
    await page.getByRole("slider").press("Home");
    await expectSoon(() => page.locator(".talk").innerText()).toContain("No message has been sent up to this event.");
    expect(await violationsIn(page)).toEqual([]);
  });
});

const HOSTILE = [
  `<script>alert(1)</script><img src="https://remote.test/a.png" onerror="alert(2)">`,
  "![a picture](https://remote.test/b.png) [a link](javascript:alert(3)) <https://remote.test/c>",
  "| <iframe src=https://remote.test> | b |\n|---|---|\n| \u202egnp.exe | \u001b[2J |",
  "```html\n</pre><script>alert(4)</script>\n```",
].join("\n\n");

describeInBrowser("the conversation of hostile roles", () => {
  it("is text: nothing of it runs, is loaded or hides", async () => {
    const { page, faults, requests } = await firstView(
      "hostile",
      runOfLines([
        { to: ["Ann <b>"], content: HOSTILE },
        { from: "Ann <b>", to: ["__proto__"], content: `# ${HOSTILE}${" more".repeat(300)}`, speech: `${HOSTILE} **I** say` },
        { from: "__proto__", to: [], content: HOSTILE },
      ]),
    );
    for (const button of await page.getByRole("button", { name: "Whole message" }).all()) await button.click();
    const talk = page.locator(".talk");
    await expectSoon(() => talk.innerText()).toContain("a picture (https://remote.test/b.png)");
    for (const part of ["<script>alert(1)</script>", "\\u202egnp.exe", "\\x1b[2J", "</pre><script>alert(4)</script>", "**I** say"])
      expect(await talk.innerText()).toContain(part);
    expect(await talk.locator("script, img, iframe, a[href]").count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
    expect(faults).toEqual([]);
    expect(requests.filter((address) => !address.startsWith("file:") && !address.startsWith("data:"))).toEqual([]);
  });

  it("shows a message of a megabyte piece by piece, and a run without messages in words", async () => {
    const { page } = await firstView("large", runOfLines([{ to: ["Ann"], content: `begin ${"x".repeat(1_000_000)}` }]));
    await page.getByRole("button", { name: "Whole message (1,000,006 characters)" }).click();
    const whole = page.getByRole("region", { name: "Content of message 1" });
    expect((await whole.textContent())?.length).toBe(20_000);
    await page.getByRole("button", { name: /Show more \(/ }).click();
    await expectSoon(async () => (await whole.textContent())?.length).toBe(220_000);
    const empty = await firstView("empty", runOfLines([]));
    await expectSoon(() => empty.page.locator(".talk").innerText()).toContain("No message has been sent up to this event.");
  });

  it("shows a hundred of many messages, and more on request", async () => {
    const { page } = await firstView("many", longRun(3_000));
    await expectSoon(() => page.locator(".reading").count()).toBe(0);
    expect(await said(page).count()).toBe(100);
    await page.getByRole("button", { name: /Show more \(\d+ messages left\)/ }).click();
    await expectSoon(() => said(page).count()).toBe(300);
    await toPanel(page, "lanes");
    await page.getByRole("region", { name: "Swimlanes" }).waitFor();
  });
});
