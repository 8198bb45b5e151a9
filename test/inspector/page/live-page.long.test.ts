// @module-tag pages
import { afterAll, beforeAll, expect, it } from "vitest";
import { LiveHouse, TOKEN } from "./live-house.ts";
import { badge, describeInBrowser, drawer, eventRow, expectSoon, testBrowser, toPanel, violationsIn } from "./watched-page.ts";

const { open } = testBrowser();
const house = new LiveHouse();

beforeAll(() => house.start());
afterAll(() => house.close());

describeInBrowser("the page of a server", () => {
  it("follows a run, publishes, pauses, proceeds, stops and resumes", async () => {
    await house.run("wait for the bread", "acts");
    const { page } = await open(house.address("acts"));
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await expectSoon(() => page.locator(".run-head").textContent()).toContain("Running");
    await button("Pause").click();
    await button("Proceed").click();
    await button("Say something").click();
    const form = page.getByRole("form", { name: "Say something to the run" });
    await form.getByLabel("Message").fill("make it two");
    await form.getByLabel("To").selectOption("Ann");
    expect(await violationsIn(page)).toEqual([]);
    await button("Publish").click();
    await expectSoon(() => page.locator(".run-head").textContent()).toContain("It goes to Ann");
    await button("Stop").click();
    await expectSoon(() => badge(page)).toBe("Stopped");
    await button("Resume").click();
    await expectSoon(() => button("Pause").count()).toBe(1);
    house.goOn();
    await expectSoon(async () => (house.goOn(), badge(page))).toBe("Finished");
  });

  it("shows the text of a model while it comes, takes back that of a broken try, and tells a screen reader of the end alone", async () => {
    await house.run("wait, and talk about bread", "talk");
    const { page } = await open(house.address("talk"));
    await toPanel(page, "lanes");
    const lane = page.locator(".lane-live");
    // A page hears the texts of calls that begin while it is open.
    await expectSoon(() => page.locator(".run-head").textContent()).toContain("Live");
    house.goOn();
    const say = () => expectSoon(() => house.say()).toBe(true);
    await say();
    await expectSoon(() => lane.textContent()).toBe("I think ");
    await say();
    await expectSoon(() => lane.textContent()).toBe("I think of cake");
    // The try breaks, so its text is void.
    await say();
    await expectSoon(() => lane.count()).toBe(0);
    await say();
    await expectSoon(() => lane.textContent()).toBe("Bread <b>with</b> ");
    await page.locator(".bar").last().click();
    const soFar = drawer(page).getByRole("region", { name: "Answer so far" });
    await expectSoon(() => soFar.textContent()).toBe("Bread <b>with</b> ");
    await drawer(page)
      .getByRole("button", { name: /talker/ })
      .click();
    await say();
    await expectSoon(() => soFar.textContent()).toBe("Bread <b>with</b> salt \\u202e");
    expect(await soFar.getAttribute("aria-live")).toBe("off");
    expect(await violationsIn(page)).toEqual([]);
    // The past has no text under way.
    await page.getByRole("slider").press("Home");
    await expectSoon(() => page.locator(".text-live, .lane-live").count()).toBe(0);
    await page.getByRole("button", { name: "Follow" }).click();
    await expectSoon(async () => (house.say(), badge(page))).toBe("Finished");
    await expectSoon(() => drawer(page).getByRole("status").textContent()).toBe("The answer is complete.");
    await expectSoon(() => page.locator(".text-live, .lane-live").count()).toBe(0);
    expect(await drawer(page).getByRole("region", { name: "Answer of the step" }).textContent()).toContain("and oil.");
  });

  it("says that a run is read before its first event is here", async () => {
    await house.run("plain bread", "late");
    const { page } = await open("about:blank");
    await page.route("**/events*", () => undefined);
    await page.goto(house.address("late"));
    await expectSoon(() => page.locator(".panel").textContent()).toMatch(/Reading the run.*On their way: \d+ events/);
    expect(await violationsIn(page)).toEqual([]);
  });

  it("hires a role under another name, and retires it after a second press", async () => {
    await house.run("wait for a helper", "hiring");
    const { page, faults } = await open(house.address("hiring"), { mayFail: true });
    await toPanel(page, "roles");
    await page.getByRole("button", { name: "Hire a role" }).click();
    const form = page.getByRole("form", { name: "Hire a role" });
    await form.getByLabel("Definition").selectOption("Bob");
    await form.getByLabel("Name in this run").fill("Ann");
    await form.getByRole("button", { name: "Hire" }).click();
    await expectSoon(() => form.getByRole("alert").textContent()).toMatch(/Ann/);
    await form.getByLabel("Name in this run").fill("Bea");
    expect(await violationsIn(page)).toEqual([]);
    await form.getByRole("button", { name: "Hire" }).click();
    const bea = page.getByRole("article", { name: "Role Bea" });
    await expectSoon(() => bea.count()).toBe(1);
    await bea.getByRole("button", { name: "Retire" }).click();
    await expectSoon(() => bea.textContent()).toContain("gets no further messages");
    expect(await violationsIn(page)).toEqual([]);
    await bea.getByRole("button", { name: "Retire Bea" }).click();
    await expectSoon(() => bea.locator(".detail-facts").first().textContent()).toContain("retired");
    await expectSoon(() => bea.getByRole("button", { name: /Retire/ }).count()).toBe(0);
    for (const id of ["graph", "lanes"]) {
      await toPanel(page, id);
      await expectSoon(() => page.locator(".panel").textContent(), { message: id }).toContain("retired");
    }
    await page.getByRole("slider").press("Home");
    await expectSoon(() => page.locator(".lane-names").textContent()).toContain("not hired yet");
    house.goOn();
    // An answer of the form that was refused has been told in words; the browser notes it as well.
    expect(faults.filter((fault) => !/status of 4\d\d/.test(fault))).toEqual([]);
  });

  it("forks from a message with another content", async () => {
    await house.run("plain bread", "parent");
    const { page } = await open(house.address("parent"));
    await toPanel(page, "events");
    await eventRow(page, "message").click();
    await page.getByRole("button", { name: /Fork here/ }).click();
    await page.getByLabel("The message in the fork").fill("rye bread");
    await page.getByRole("button", { name: "Fork", exact: true }).click();
    await expectSoon(() => page.locator(".run-head").textContent()).toContain("Fork of parent");
    await expectSoon(() => badge(page)).toBe("Finished");
    await toPanel(page, "events");
    await expectSoon(() => page.locator(".panel .rows").textContent()).toContain("Baked: A plan for: rye bread");
  });

  it("answers by a choice, by fields with faults, and in words; a second tab is told", async () => {
    for (const [idea, id] of [
      ["a choice", "choice"],
      ["an order", "order"],
      ["in words", "words"],
    ] as const)
      await house.run(idea, id);
    const { page } = await open(house.address("choice"));
    const second = await open(house.address("choice"));
    await expectSoon(() => second.page.getByRole("radio").count()).toBe(2);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole("button", { name: "Answer" }).click();
    await expectSoon(() => page.getByRole("alert").textContent()).toBe("Choose an answer.");
    await page.getByRole("radio", { name: "A loaf" }).check();
    await page.getByRole("button", { name: "Answer" }).click();
    await expectSoon(() => badge(page)).toBe("Finished");
    await expectSoon(() => second.page.getByRole("status").allTextContents()).toContainEqual(expect.stringContaining("answered elsewhere"));
    await page.goto(house.address("order"));
    await page.reload();
    await page.getByLabel("loaves").fill("many");
    await page.getByLabel("flour").selectOption("rye");
    await page.getByRole("button", { name: "Answer" }).click();
    await expectSoon(() => page.getByRole("alert").textContent()).toMatch(/Expected a whole number/);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel("loaves").fill("3");
    await page.getByRole("button", { name: "Answer" }).click();
    await expectSoon(() => badge(page)).toBe("Finished");
    await page.goto(house.address("words"));
    await page.reload();
    await page.getByLabel("Your answer").fill("a cake");
    await page.getByRole("button", { name: "Answer" }).click();
    await expectSoon(() => badge(page)).toBe("Finished");
  });

  it("says what is wrong with the token, and takes another", async () => {
    const { page } = await open(house.address().replace(/token=.*/, "token=another-token-of-nobody"), { mayFail: true });
    await expectSoon(() => page.getByRole("alert").textContent()).toContain("The server refused the page");
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Open" }).click();
    await expectSoon(() => page.getByRole("heading", { level: 1 }).textContent()).toBe("Runs");
  });

  it("keeps the theme that a person has chosen", async () => {
    const { page } = await open(house.address());
    await page.getByLabel("Theme").selectOption("dark");
    await page.reload();
    await expectSoon(() => page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
  });
});
