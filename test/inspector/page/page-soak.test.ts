import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunEvent } from "../../../src/index.ts";
import { PANELS } from "../../../src/inspector/page/panels.ts";
import { offlinePage, readPage } from "../../../src/inspector/page-file.ts";
import { faultyRun } from "./faulty-run.ts";
import { LiveHouse, TOKEN } from "./live-house.ts";
import { sampleRun } from "./sample-run.ts";
import { openPage, program, startBrowser, violationsIn } from "./watched-page.ts";

if (program === undefined)
  process.stderr.write("\nTests of the inspector in a browser do not run: there is no Chromium (apt install chromium)\n");

const folder = mkdtempSync(join(tmpdir(), "troupe-page-"));
const house = new LiveHouse();
let browser: Browser;

beforeAll(async () => {
  if (program === undefined) return;
  browser = await startBrowser();
  await house.start();
});
afterAll(async () => {
  if (program === undefined) return;
  await browser.close();
  await house.close();
  rmSync(folder, { recursive: true });
});

const HOSTILE = `<script>alert("message")</script><img src=x onerror=alert(1)> \u202etxet desrever\u202c \u0000\u001b[2J </pre></textarea>`;

async function offlineFile(name: string, runs: readonly (readonly RunEvent[])[]): Promise<string> {
  let html = "";
  for await (const line of offlinePage(await readPage(), runs)) html += `${line}\n`;
  const path = join(folder, `${name}.html`);
  writeFileSync(path, html);
  return `file://${path}`;
}

const eventRow = (page: Page, text: string) => page.locator(".event", { hasText: text }).first();
const drawer = (page: Page) => page.getByRole("complementary");

async function toPanel(page: Page, id: string): Promise<void> {
  await page.getByRole("navigation", { name: "Views of the run" }).locator(`a[href$="/${id}"]`).click();
}

describe.runIf(program !== undefined)("what watches a page", () => {
  it("finds what is inaccessible, a script that the policy forbids, and an error", async () => {
    const path = join(folder, "faulty.html");
    const policy = `<meta http-equiv="Content-Security-Policy" content="script-src 'none'">`;
    writeFileSync(
      path,
      `<!doctype html><html lang="en"><head>${policy}<title>Faulty</title></head><body><main><img src="data:,"><script>alert(1)</script></main></body></html>`,
    );
    const { page, faults } = await openPage(browser, `file://${path}`);
    expect((await violationsIn(page)).join()).toContain("img_alt");
    expect(faults.join()).toContain("policy: script-src");
    await page.context().close();
  });
});

describe.runIf(program !== undefined)("an offline page", () => {
  it("shows a run in every view and both themes, accessibly, without a request or a fault", async () => {
    const url = await offlineFile("one", [await sampleRun("Write a poem about rain")]);
    for (const theme of ["light", "dark"] as const) {
      const { page, faults, requests } = await openPage(browser, url, theme);
      for (const { id } of PANELS) {
        await toPanel(page, id);
        await expect.poll(() => page.locator(`.tabs a[aria-current]`).getAttribute("href")).toContain(`/${id}`);
        expect(await violationsIn(page), `${id} ${theme}`).toEqual([]);
      }
      expect(faults).toEqual([]);
      expect(requests.filter((address) => address !== url && !address.startsWith(`${url}#`) && !address.startsWith("data:"))).toEqual([]);
      await page.context().close();
    }
  });

  it("shows the clock, the scheduler and the faults of a run, accessibly in both themes", async () => {
    const url = await offlineFile("faulty", [await faultyRun()]);
    for (const theme of ["light", "dark"] as const) {
      const { page, faults } = await openPage(browser, url, theme);
      const head = page.locator(".run-head");
      for (const told of ["Scheduler events", "Time 3", "On the edges 1 lost, 2 delayed, 1 copied, 2 rewritten"])
        await expect.poll(() => head.innerText().then((text) => text.replace(/\s+/g, " "))).toContain(told);
      await toPanel(page, "lanes");
      expect(await page.locator(".lane-tick").allInnerTexts()).toEqual(["t 2.5", "t 3"]);
      expect([await page.locator(".arrow-lost").count(), await page.locator(".arrow-delayed").count()]).toEqual([1, 3]);
      await page
        .getByRole("button", { name: /to Bob \(lost\), Cid \(rewritten\), Cid \(a copy, rewritten\): It is true/ })
        .click({ force: true });
      await expect.poll(() => drawer(page).textContent()).toContain("lossy: lost on its way");
      expect(
        await drawer(page)
          .getByRole("region", { name: /^What Cid reads/ })
          .allTextContents(),
      ).toEqual(["It is false.", "It is false."]);
      expect(await violationsIn(page)).toEqual([]);
      await toPanel(page, "graph");
      await expect.poll(() => page.locator(".policies").innerText()).toContain("lossy, share 0.5, on Ann->Bob");
      expect(await violationsIn(page)).toEqual([]);
      await toPanel(page, "events");
      expect(await eventRow(page, "lossy to Bob").innerText()).toContain("wake (arrives at 2.5)");
      expect(await eventRow(page, "The clock is at 2.5").innerText()).toContain("t 2.5");
      await toPanel(page, "roles");
      await page.getByRole("slider").fill("3");
      await expect
        .poll(() => page.getByRole("article").innerText())
        .toMatch(/Delayed\s+\d messages? on the way to it, the first is due: time 2.5/);
      expect(await violationsIn(page)).toEqual([]);
      expect(faults).toEqual([]);
      await page.context().close();
    }
  });

  it("fits a window of 400 pixels in every view: nothing is wider, the slider can be dragged, the details lie above", async () => {
    const { page, faults } = await openPage(browser, await offlineFile("narrow", [await sampleRun()]));
    await page.setViewportSize({ width: 400, height: 800 });
    for (const { id } of PANELS) {
      await toPanel(page, id);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), id).toBe(400);
      expect((await page.getByRole("slider").boundingBox())?.width, id).toBeGreaterThan(100);
    }
    await toPanel(page, "graph");
    const name = await page.getByRole("button", { name: "Ann", exact: true }).first().boundingBox();
    expect(name?.height).toBeLessThan(30);
    await toPanel(page, "lanes");
    const bar = page.locator(".bar").last();
    await bar.click();
    await expect.poll(() => drawer(page).count()).toBe(1);
    const above = await bar.evaluate((element) => {
      const { left, top } = element.getBoundingClientRect();
      return document.elementFromPoint(left + 3, top + 3)?.closest("aside, .drawer") !== null;
    });
    expect(above).toBe(true);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("draws the head of a chosen arrow as large as the others", async () => {
    const { page } = await openPage(browser, await offlineFile("heads", [await sampleRun()]));
    await toPanel(page, "lanes");
    const units = await page.locator(".arrows marker").evaluateAll((all) => all.map((one) => one.getAttribute("markerUnits")));
    expect(units).toEqual(["userSpaceOnUse", "userSpaceOnUse", "userSpaceOnUse"]);
    await page.context().close();
  });

  it("shows hostile texts as texts, and a message of 10 MB piece by piece", async () => {
    const long = `${"x".repeat(10_000_000)} the end`;
    const url = await offlineFile("hostile", [await sampleRun(HOSTILE, "hostile"), await sampleRun(long, "long")]);
    const { page, faults } = await openPage(browser, url);
    await page.getByRole("link", { name: /alert/ }).click();
    for (const { id } of PANELS) await toPanel(page, id);
    await toPanel(page, "events");
    await eventRow(page, "message").click();
    const content = drawer(page).getByRole("region", { name: "Content of the message" });
    await expect.poll(() => content.textContent()).toContain(`<script>alert("message")</script>`);
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
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("says in words that a newer version wrote the run", async () => {
    const events = (await sampleRun()).map((event) => ({ ...event, v: 2 }) as unknown as RunEvent);
    const { page } = await openPage(browser, await offlineFile("newer", [events]));
    await expect.poll(() => page.getByRole("alert").textContent()).toMatch(/Expected events of version 1, got version 2/);
    await page.context().close();
  });

  it("compares two runs", async () => {
    const url = await offlineFile("two", [await sampleRun("Write a poem", "first"), await sampleRun("Write a song", "second")]);
    const { page, faults } = await openPage(browser, url);
    for (const run of ["first", "second"]) await page.getByRole("checkbox", { name: `Compare ${run}` }).check();
    await page.getByRole("link", { name: "Compare", exact: true }).click();
    await expect.poll(() => page.getByRole("main").textContent()).toContain("They first differ at activation #0 of Ann");
    expect(await violationsIn(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });
});

describe.runIf(program !== undefined)("the page, used with the keyboard", () => {
  it("selects, goes into the details, follows a cause, and comes back", async () => {
    const { page, faults } = await openPage(browser, await offlineFile("keys", [await sampleRun()]));
    await toPanel(page, "events");
    await eventRow(page, "act.ended").focus();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => drawer(page).evaluate((element) => element === document.activeElement)).toBe(true);
    await expect.poll(() => drawer(page).textContent()).toContain("Activation Ann#0~1");
    await drawer(page)
      .getByRole("button", { name: /From outside/ })
      .first()
      .focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => drawer(page).getByRole("heading", { level: 2 }).textContent()).toBe("Message");
    await page.keyboard.press("Escape");
    await expect.poll(() => drawer(page).count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.className)).toContain("event");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("reaches every control of every view with Tab alone, and shows where the focus is", async () => {
    const { page, faults } = await openPage(browser, await offlineFile("tab", [await sampleRun()]));
    for (const { id } of PANELS) {
      await toPanel(page, id);
      await page.locator(`.tabs a[aria-current][href$="/${id}"]`).waitFor();
      const controls = await page.evaluate(() => {
        (document.activeElement as HTMLElement | null)?.blur();
        const all = document.querySelectorAll<HTMLElement>("a[href], button, select, input, textarea, summary, [tabindex]");
        const open = [...all].filter((one) => one.tabIndex === 0 && !one.matches(":disabled") && one.checkVisibility());
        open.forEach((one, nth) => (one.dataset["stop"] = String(nth)));
        return open.length;
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
    }
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("keeps the theme that a person has chosen", async () => {
    const { page } = await openPage(browser, house.address());
    await page.getByLabel("Theme").selectOption("dark");
    await page.reload();
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
    await page.context().close();
  });
});

describe.runIf(program !== undefined)("the page of a server", () => {
  it("follows a run, publishes, pauses, proceeds, stops and resumes", async () => {
    await house.run("wait for the bread", "acts");
    const { page, faults } = await openPage(browser, house.address("acts"));
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await expect.poll(() => page.locator(".run-head").textContent()).toContain("Running");
    await button("Pause").click();
    await button("Proceed").click();
    await button("Say something").click();
    const form = page.getByRole("form", { name: "Say something to the run" });
    await form.getByLabel("Message").fill("make it two");
    await form.getByLabel("To").selectOption("Ann");
    expect(await violationsIn(page)).toEqual([]);
    await button("Publish").click();
    await expect.poll(() => page.locator(".run-head").textContent()).toContain("It goes to Ann");
    await button("Stop").click();
    await expect.poll(() => page.locator(".run-head .badge").first().textContent()).toBe("Stopped");
    await button("Resume").click();
    await expect.poll(() => button("Pause").count()).toBe(1);
    house.goOn();
    await expect.poll(async () => (house.goOn(), page.locator(".run-head .badge").first().textContent())).toBe("Finished");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("shows the text of a model while it comes, takes back that of a broken try, and tells a screen reader of the end alone", async () => {
    await house.run("wait, and talk about bread", "talk");
    const { page, faults } = await openPage(browser, house.address("talk"));
    page.setDefaultTimeout(5_000);
    const lane = page.locator(".lane-live");
    // A page hears the texts of calls that begin while it is open.
    await expect.poll(() => page.locator(".run-head").textContent()).toContain("Live");
    house.goOn();
    const say = () => expect.poll(() => house.say(), { timeout: 20_000 }).toBe(true);
    await say();
    await expect.poll(() => lane.textContent()).toBe("I think ");
    await say();
    await expect.poll(() => lane.textContent()).toBe("I think of cake");
    // The try breaks, so its text is void.
    await say();
    await expect.poll(() => lane.count()).toBe(0);
    await say();
    await expect.poll(() => lane.textContent()).toBe("Bread <b>with</b> ");
    await page.locator(".bar").last().click();
    const soFar = drawer(page).getByRole("region", { name: "Answer so far" });
    await expect.poll(() => soFar.textContent()).toBe("Bread <b>with</b> ");
    await drawer(page)
      .getByRole("button", { name: /talker/ })
      .click();
    await say();
    await expect.poll(() => soFar.textContent()).toBe("Bread <b>with</b> salt \\u202e");
    expect(await soFar.getAttribute("aria-live")).toBe("off");
    expect(await violationsIn(page)).toEqual([]);
    // The past has no text under way.
    await page.getByRole("slider").press("Home");
    await expect.poll(() => page.locator(".text-live, .lane-live").count()).toBe(0);
    await page.getByRole("button", { name: "Follow" }).click();
    await expect.poll(async () => (house.say(), page.locator(".run-head .badge").first().textContent())).toBe("Finished");
    await expect.poll(() => drawer(page).getByRole("status").textContent()).toBe("The answer is complete.");
    await expect.poll(() => page.locator(".text-live, .lane-live").count()).toBe(0);
    expect(await drawer(page).getByRole("region", { name: "Answer of the step" }).textContent()).toContain("and oil.");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("says that a run is read before its first event is here", async () => {
    await house.run("plain bread", "late");
    const { page, faults } = await openPage(browser, "about:blank");
    await page.route("**/events*", () => undefined);
    await page.goto(house.address("late"));
    await expect.poll(() => page.locator(".panel").textContent()).toMatch(/Reading the run.*On their way: \d+ events/);
    expect(await violationsIn(page)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("hires a role under another name, and retires it after a second press", async () => {
    await house.run("wait for a helper", "hiring");
    const { page, faults } = await openPage(browser, house.address("hiring"));
    await toPanel(page, "roles");
    await page.getByRole("button", { name: "Hire a role" }).click();
    const form = page.getByRole("form", { name: "Hire a role" });
    await form.getByLabel("Definition").selectOption("Bob");
    await form.getByLabel("Name in this run").fill("Ann");
    await form.getByRole("button", { name: "Hire" }).click();
    await expect.poll(() => form.getByRole("alert").textContent()).toMatch(/Ann/);
    await form.getByLabel("Name in this run").fill("Bea");
    expect(await violationsIn(page)).toEqual([]);
    await form.getByRole("button", { name: "Hire" }).click();
    const bea = page.getByRole("article", { name: "Role Bea" });
    await expect.poll(() => bea.count()).toBe(1);
    await bea.getByRole("button", { name: "Retire" }).click();
    await expect.poll(() => bea.textContent()).toContain("gets no further messages");
    expect(await violationsIn(page)).toEqual([]);
    await bea.getByRole("button", { name: "Retire Bea" }).click();
    await expect.poll(() => bea.locator(".detail-facts").first().textContent()).toContain("retired");
    await expect.poll(() => bea.getByRole("button", { name: /Retire/ }).count()).toBe(0);
    for (const id of ["graph", "lanes"]) {
      await toPanel(page, id);
      await expect.poll(() => page.locator(".panel").textContent(), { message: id }).toContain("retired");
    }
    await page.getByRole("slider").press("Home");
    await expect.poll(() => page.locator(".lane-names").textContent()).toContain("not hired yet");
    house.goOn();
    // An answer of the form that was refused has been told in words; the browser notes it as well.
    expect(faults.filter((fault) => !/status of 4\d\d/.test(fault))).toEqual([]);
    await page.context().close();
  });

  it("forks from a message with another content", async () => {
    await house.run("plain bread", "parent");
    const { page, faults } = await openPage(browser, house.address("parent"));
    await toPanel(page, "events");
    await eventRow(page, "message").click();
    await page.getByRole("button", { name: /Fork here/ }).click();
    await page.getByLabel("The message in the fork").fill("rye bread");
    await page.getByRole("button", { name: "Fork", exact: true }).click();
    await expect.poll(() => page.locator(".run-head").textContent()).toContain("Fork of parent");
    await expect.poll(() => page.locator(".run-head .badge").first().textContent()).toBe("Finished");
    await toPanel(page, "events");
    await expect.poll(() => page.locator(".panel .rows").textContent()).toContain("Baked: A plan for: rye bread");
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it("answers by a choice, by fields with faults, and in words; a second tab is told", async () => {
    for (const [idea, id] of [
      ["a choice", "choice"],
      ["an order", "order"],
      ["in words", "words"],
    ] as const)
      await house.run(idea, id);
    const { page, faults } = await openPage(browser, house.address("choice"));
    const second = await openPage(browser, house.address("choice"));
    await expect.poll(() => second.page.getByRole("radio").count()).toBe(2);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole("button", { name: "Answer" }).click();
    await expect.poll(() => page.getByRole("alert").textContent()).toBe("Choose an answer.");
    await page.getByRole("radio", { name: "A loaf" }).check();
    await page.getByRole("button", { name: "Answer" }).click();
    await expect.poll(() => page.locator(".run-head .badge").first().textContent()).toBe("Finished");
    await expect
      .poll(() => second.page.getByRole("status").allTextContents())
      .toContainEqual(expect.stringContaining("answered elsewhere"));
    await page.goto(house.address("order"));
    await page.reload();
    await page.getByLabel("loaves").fill("many");
    await page.getByLabel("flour").selectOption("rye");
    await page.getByRole("button", { name: "Answer" }).click();
    await expect.poll(() => page.getByRole("alert").textContent()).toMatch(/Expected a whole number/);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel("loaves").fill("3");
    await page.getByRole("button", { name: "Answer" }).click();
    await expect.poll(() => page.locator(".run-head .badge").first().textContent()).toBe("Finished");
    await page.goto(house.address("words"));
    await page.reload();
    await page.getByLabel("Your answer").fill("a cake");
    await page.getByRole("button", { name: "Answer" }).click();
    await expect.poll(() => page.locator(".run-head .badge").first().textContent()).toBe("Finished");
    expect([...faults, ...second.faults]).toEqual([]);
    for (const one of [page, second.page]) await one.context().close();
  });

  it("tells that the server is gone, and goes on without loss when it is back", async () => {
    await house.run("wait for a restart", "restart");
    const { page } = await openPage(browser, house.address("restart"));
    await expect.poll(() => page.locator(".run-head").textContent()).toContain("Live");
    await house.close();
    await expect.poll(() => page.locator(".run-head").textContent(), { timeout: 20_000 }).toContain("The server cannot be reached");
    await house.start();
    await expect.poll(() => page.locator(".run-head").textContent(), { timeout: 30_000 }).toContain("Live");
    await expect
      .poll(async () => (house.goOn(), page.locator(".run-head .badge").first().textContent()), { timeout: 20_000 })
      .toBe("Finished");
    await toPanel(page, "events");
    const { numbers, count } = await page.evaluate(() => ({
      numbers: [...document.querySelectorAll(".event-seq")].map((cell) => Number(cell.textContent)),
      count: document.querySelector(".panel .rows")?.getAttribute("aria-label"),
    }));
    expect(numbers).toEqual(numbers.map((_, place) => place));
    let recorded = 0;
    for await (const event of house.journal.read("restart", 0)) recorded = event.seq + 1;
    expect(count).toBe(`${recorded} events`);
    await page.context().close();
  });

  it("says what is wrong with the token, and takes another", async () => {
    const { page } = await openPage(browser, house.address().replace(/token=.*/, "token=another-token-of-nobody"));
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("The server refused the page");
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Open" }).click();
    await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toBe("Runs");
    await page.context().close();
  });
});
