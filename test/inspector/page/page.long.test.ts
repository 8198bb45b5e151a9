// @module-tag pages
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RunEvent } from "../../../src/index.ts";
import { faultyRun } from "./faulty-run.ts";
import { boardRun, sampleRun } from "./sample-run.ts";
import {
  describeInBrowser,
  drawer,
  eachPanel,
  eventRow,
  expectSoon,
  offlineFile,
  panelsOf,
  testBrowser,
  toPanel,
  violationsIn,
  WITH_BOARD,
  WITHOUT_BOARD,
} from "./watched-page.ts";

const { folder, open } = testBrowser();

const HOSTILE = `<script>alert("message")</script><img src=x onerror=alert(1)> \u202etxet desrever\u202c \u0000\u001b[2J </pre></textarea>`;

describeInBrowser("what watches a page", () => {
  it("finds what is inaccessible, a script that the policy forbids, and an error", async () => {
    const path = join(folder, "faulty.html");
    const policy = `<meta http-equiv="Content-Security-Policy" content="script-src 'none'">`;
    writeFileSync(
      path,
      `<!doctype html><html lang="en"><head>${policy}<title>Faulty</title></head><body><main><img src="data:,"><script>alert(1)</script></main></body></html>`,
    );
    const { page, faults } = await open(`file://${path}`, { mayFail: true });
    expect((await violationsIn(page)).join()).toContain("img_alt");
    expect(faults.join()).toContain("policy: script-src");
  });
});

describeInBrowser("an offline page", () => {
  it("shows a run in every view and both themes, accessibly, without a request or a fault", async () => {
    const url = await offlineFile(folder, "one", [await boardRun("Write a poem about rain")]);
    for (const theme of ["light", "dark"] as const) {
      const { page, faults, requests } = await open(url, { theme });
      await eachPanel(page, WITH_BOARD, async (id) => expect(await violationsIn(page), `${id} ${theme}`).toEqual([]));
      expect(faults).toEqual([]);
      expect(requests.filter((address) => address !== url && !address.startsWith(`${url}#`) && !address.startsWith("data:"))).toEqual([]);
    }
  });

  it("has the tab of the board where the roles share tasks or notes, and hides it elsewhere", async () => {
    const shared = await open(await offlineFile(folder, "shared", [await boardRun("Write a poem about rain")]));
    await expectSoon(() => panelsOf(shared.page)).toEqual(WITH_BOARD);
    await toPanel(shared.page, "board");
    const panel = shared.page.locator(".panel");
    await expectSoon(() => panel.getByRole("region", { name: "Tasks" }).innerText()).toMatch(/then[^]+open[^]+first[^]+done/);
    expect(await panel.getByRole("region", { name: "Note plan" }).innerText()).toBe("Write a poem about rain");
    await shared.page.getByRole("slider").press("Home");
    await expectSoon(() => panel.innerText()).toBe("The roles share no tasks and no notes.");
    expect(await panelsOf(shared.page)).toEqual(WITH_BOARD);
    const { page } = await open(await offlineFile(folder, "alone", [await sampleRun()]));
    await eachPanel(page, WITHOUT_BOARD, () => Promise.resolve());
  });

  it("shows the clock, the scheduler and the faults of a run, accessibly in both themes", async () => {
    const url = await offlineFile(folder, "faulty", [await faultyRun()]);
    for (const theme of ["light", "dark"] as const) {
      const { page } = await open(url, { theme });
      const head = page.locator(".run-head");
      for (const told of ["Scheduler events", "Time 3", "On the edges 1 lost, 2 delayed, 1 copied, 2 rewritten"])
        await expectSoon(() => head.innerText().then((text) => text.replace(/\s+/g, " "))).toContain(told);
      await toPanel(page, "lanes");
      expect(await page.locator(".lane-tick").allInnerTexts()).toEqual(["t 2.5", "t 3"]);
      expect([await page.locator(".arrow-lost").count(), await page.locator(".arrow-delayed").count()]).toEqual([1, 3]);
      await page
        .getByRole("button", { name: /to Bob \(lost\), Cid \(rewritten\), Cid \(a copy, rewritten\): It is true/ })
        .click({ force: true });
      await expectSoon(() => drawer(page).textContent()).toContain("lossy: lost on its way");
      expect(
        await drawer(page)
          .getByRole("region", { name: /^What Cid reads/ })
          .allTextContents(),
      ).toEqual(["It is false.", "It is false."]);
      expect(await violationsIn(page)).toEqual([]);
      await toPanel(page, "graph");
      await expectSoon(() => page.locator(".policies").innerText()).toContain("lossy, share 0.5, on Ann->Bob");
      expect(await violationsIn(page)).toEqual([]);
      await toPanel(page, "events");
      expect(await eventRow(page, "lossy to Bob").innerText()).toContain("wake (arrives at 2.5)");
      expect(await eventRow(page, "The clock is at 2.5").innerText()).toContain("t 2.5");
      await toPanel(page, "roles");
      await page.getByRole("slider").fill("3");
      await expectSoon(() => page.getByRole("article").innerText()).toMatch(
        /Delayed\s+\d messages? on the way to it, the first is due: time 2.5/,
      );
      expect(await violationsIn(page)).toEqual([]);
    }
  });

  it("fits a window of 400 pixels in every view: nothing is wider, the slider can be dragged, the details lie above", async () => {
    const { page } = await open(await offlineFile(folder, "narrow", [await boardRun()]));
    await page.setViewportSize({ width: 400, height: 800 });
    await eachPanel(page, WITH_BOARD, async (id) => {
      expect(await page.evaluate(() => document.documentElement.scrollWidth), id).toBe(400);
      expect((await page.getByRole("slider").boundingBox())?.width, id).toBeGreaterThan(100);
    });
    await toPanel(page, "graph");
    const name = await page.getByRole("button", { name: "Ann", exact: true }).first().boundingBox();
    expect(name?.height).toBeLessThan(30);
    await toPanel(page, "lanes");
    const bar = page.locator(".bar").last();
    await bar.click();
    await expectSoon(() => drawer(page).count()).toBe(1);
    const above = await bar.evaluate((element) => {
      const { left, top } = element.getBoundingClientRect();
      return document.elementFromPoint(left + 3, top + 3)?.closest("aside, .drawer") !== null;
    });
    expect(above).toBe(true);
  });

  it("shows hostile texts as texts, and a message of 10 MB piece by piece", async () => {
    const long = `${"x".repeat(10_000_000)} the end`;
    const runs = [await sampleRun(HOSTILE, "hostile"), await sampleRun(long, "long"), await boardRun(HOSTILE)];
    const { page } = await open(await offlineFile(folder, "hostile", runs));
    await page.locator('a[href*="/board/"]').click();
    await eachPanel(page, WITH_BOARD, () => Promise.resolve());
    await toPanel(page, "board");
    const panel = page.locator(".panel");
    for (const name of ["Tasks", "Note plan"])
      expect(await panel.getByRole("region", { name }).textContent()).toContain(`<script>alert("message")</script>`);
    expect(await panel.textContent()).toContain("\\u202etxet");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByRole("link", { name: /alert/ }).click();
    await eachPanel(page, WITHOUT_BOARD, () => Promise.resolve());
    await toPanel(page, "events");
    await eventRow(page, "message").click();
    const content = drawer(page).getByRole("region", { name: "Content of the message" });
    await expectSoon(() => content.textContent()).toContain(`<script>alert("message")</script>`);
    expect(await content.textContent()).toContain("\\u202etxet");
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.locator('a[href*="/long/"]').click();
    await toPanel(page, "events");
    await eventRow(page, "message").click();
    await page
      .getByRole("button", { name: /Show more/ })
      .first()
      .click();
    expect((await content.textContent())?.length).toBe(220_000);
  });

  it("says in words that a newer version wrote the run", async () => {
    const events = (await sampleRun()).map((event) => ({ ...event, v: 2 }) as unknown as RunEvent);
    const { page } = await open(await offlineFile(folder, "newer", [events]));
    await expectSoon(() => page.getByRole("alert").textContent()).toMatch(/Expected events of version 1, got version 2/);
  });
});

describeInBrowser("the page, used with the keyboard", () => {
  it("selects, goes into the details, follows a cause, and comes back", async () => {
    const { page } = await open(await offlineFile(folder, "keys", [await sampleRun()]));
    await toPanel(page, "events");
    await eventRow(page, "act.ended").focus();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expectSoon(() => drawer(page).evaluate((element) => element === document.activeElement)).toBe(true);
    await expectSoon(() => drawer(page).textContent()).toContain("Activation Ann#0~1");
    await drawer(page)
      .getByRole("button", { name: /From outside/ })
      .first()
      .focus();
    await page.keyboard.press("Enter");
    await expectSoon(() => drawer(page).getByRole("heading", { level: 2 }).textContent()).toBe("Message");
    await page.keyboard.press("Escape");
    await expectSoon(() => drawer(page).count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.className)).toContain("event");
  });

  it("reaches every control of every view with Tab alone, and shows where the focus is", async () => {
    const { page } = await open(await offlineFile(folder, "tab", [await boardRun()]));
    await eachPanel(page, WITH_BOARD, async (id) => {
      const controls = await page.evaluate(() => {
        (document.activeElement as HTMLElement | null)?.blur();
        const all = document.querySelectorAll<HTMLElement>("a[href], button, select, input, textarea, summary, [tabindex]");
        const stops = [...all].filter((one) => one.tabIndex === 0 && !one.matches(":disabled") && one.checkVisibility());
        stops.forEach((one, nth) => (one.dataset["stop"] = String(nth)));
        return stops.length;
      });
      const reached = new Set<string>();
      for (let nth = 0; nth <= controls; nth += 1) {
        await page.keyboard.press("Tab");
        const [stop, width, box] = await page.evaluate(() => {
          const at = document.activeElement as HTMLElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(at);
          return [
            at.dataset["stop"] ?? "",
            outlineStyle === "none" ? 0 : Number.parseFloat(outlineWidth),
            at.outerHTML.slice(0, 80),
          ] as const;
        });
        if (stop === "") continue;
        reached.add(stop);
        expect(width, `${id}: ${box}`).toBeGreaterThanOrEqual(2);
      }
      expect(reached.size, id).toBe(controls);
    });
  });
});
