// @module-tag pages
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { softwareCompany } from "../../../roles/index.ts";
import { defineAction, defineRole, memoryJournal, Team } from "../../../src/index.ts";
import type { Journal } from "../../../src/ports.ts";
import { readPage } from "../../../src/inspector/page-file.ts";
import { serving } from "../../server/served-team.ts";
import { TOKEN } from "./live-house.ts";
import { chooseSandbox, openWorkspace } from "../../../src/workspace/index.ts";
import { brief, roleModel } from "../../roles/adder.ts";
import { press } from "./press-run.ts";
import { badge, describeInBrowser, drawer, expectSoon, testBrowser, toPanel, violationsIn } from "./watched-page.ts";

const { folder, open } = testBrowser();

type Theme = "light" | "dark";

/** Serves a team, and opens its page. */
async function served(team: Team, run?: string, theme: Theme = "light"): Promise<Page> {
  const { url } = await serving({ team, token: TOKEN, page: readPage }).listen();
  return (await open(`${url}/#token=${TOKEN}${run === undefined ? "" : `&run=${run}`}`, { theme })).page;
}

const question = (page: Page) => page.getByRole("region", { name: /^Question of / });
const answer = (page: Page) => question(page).getByRole("button", { name: "Answer" });

describeInBrowser("a permission on the page", () => {
  it.each(["light", "dark"] as const)("is given once, and refused in words that the agent reads, in the theme %s", async (theme) => {
    const { team, printed } = press();
    await team.run("A poem about the sea", { id: "press" }).result;
    const page = await served(team, "press", theme);
    await expectSoon(() => badge(page)).toBe("Waiting");
    await expectSoon(() => question(page).getByRole("heading").innerText()).toBe("Cid asks");
    expect(await question(page).getByRole("region", { name: "The question" }).textContent()).toBe(
      'May Cid use the tool "print"?\n{\n  "page": 1\n}',
    );
    expect(await question(page).locator(".choice").allInnerTexts()).toEqual([
      "Yes, this time",
      "No",
      "Always: print, for the rest of this run",
    ]);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole("radio", { name: "Yes, this time" }).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    await expectSoon(() => question(page).getByRole("region", { name: "The question" }).textContent()).toContain('"page": 2');
    expect(printed).toEqual([1]);
    await question(page).getByLabel("Or in words: what to do instead, which refuses the call").fill("Print no more: the paper is dear.");
    await answer(page).click();
    await expectSoon(() => badge(page)).toBe("Finished");
    expect(printed).toEqual([1]);
    await toPanel(page, "lanes");
    await page.locator('.bar[title^="Cid#0"]').last().click();
    await drawer(page).getByRole("button", { name: "model large" }).last().click();
    await expectSoon(() => drawer(page).textContent()).toContain("the paper is dear");
    expect(await drawer(page).getByRole("region", { name: "Call 1 of message 3" }).textContent()).toBe('{\n  "page": 1\n}');
  });

  it("is given with other arguments, which must fit", async () => {
    const { team, printed } = press();
    await team.run("A poem about the sea", { id: "press" }).result;
    const page = await served(team, "press");
    await question(page).getByText("Change the arguments").click();
    const field = question(page).getByLabel("page");
    await expectSoon(() => field.inputValue()).toBe("1");
    await field.fill("one");
    await question(page).getByRole("button", { name: "Allow with these arguments" }).click();
    await expectSoon(() => question(page).getByRole("alert").first().innerText()).toContain("Expected");
    expect(await violationsIn(page)).toEqual([]);
    await field.fill("7");
    await question(page).getByRole("button", { name: "Allow with these arguments" }).click();
    await expectSoon(() => question(page).getByRole("region", { name: "The question" }).textContent()).toContain('"page": 2');
    expect(printed).toEqual([7]);
  });
});

/** A company whose criteria a person approves. It builds nothing. */
async function company(name: string): Promise<Team> {
  const workspace = await openWorkspace({ root: join(folder, name) });
  const roles = softwareCompany({ workspace, sandbox: await chooseSandbox("none"), approve: "prd", until: "design" });
  const model = roleModel({ Alice: [brief("S"), brief("S", { assumptions: ["Numbers are whole."] })] });
  const team = new Team({ roles, model, journal: memoryJournal() });
  await team.run("A command that adds two numbers", { id: "adder" }).result;
  return team;
}

describeInBrowser("an approval that the company asks for", () => {
  it.each(["light", "dark"] as const)("shows the criteria, takes what is different, and then a yes, in the theme %s", async (theme) => {
    const page = await served(await company(`yes-${theme}`), "adder", theme);
    await expectSoon(() => question(page).getByRole("heading").innerText()).toBe("Alice asks");
    const proposal = question(page).getByRole("region", { name: "The question" });
    const shown = await proposal.textContent();
    for (const part of ["it prints the sum", "Numbers are decimal.", "Is that what you want?"]) expect(shown).toContain(part);
    expect(await question(page).locator(".choice").allInnerTexts()).toEqual(["Yes, go on", "Stop: build nothing"]);
    expect(await violationsIn(page)).toEqual([]);
    await answer(page).click();
    await expectSoon(() => question(page).getByRole("alert").textContent()).toBe("Choose an answer.");
    await question(page).getByLabel("Or in words: say what is different").fill("Only whole numbers.");
    await page.keyboard.press("Enter");
    await expectSoon(() => proposal.textContent()).toContain("Numbers are whole.");
    await page.getByRole("radio", { name: "Yes, go on" }).check();
    await answer(page).click();
    await expectSoon(() => badge(page)).toBe("Finished");
    await toPanel(page, "files");
    await expectSoon(() => page.getByRole("navigation", { name: "Files" }).innerText()).toContain("docs/acceptance.json");
  });
});

/** Runs with several states, in one journal. */
async function severalRuns(journal: Journal): Promise<Team> {
  const Fail = defineAction({
    name: "Fail",
    run: (ctx) => {
      if (ctx.text.includes("fail")) throw new Error("It failed.");
      return ctx.text;
    },
  });
  const plain = new Team({ name: "Plain", roles: [defineRole({ name: "Sam", actions: [Fail] })], journal });
  await plain.run("It ends well", { id: "well" }).result;
  await plain.run("It shall fail", { id: "badly" }).result;
  const { team } = press(journal);
  await team.run("A poem about the sea", { id: "press" }).result;
  return team;
}

describeInBrowser("the list of runs", () => {
  it.each(["light", "dark"] as const)("has how each run stands and what it cost, and is accessible in the theme %s", async (theme) => {
    const page = await served(await severalRuns(memoryJournal()), undefined, theme);
    const rows = page.locator("tbody tr");
    await expectSoon(() => rows.count()).toBe(3);
    const told = await rows.evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll("th, td")].slice(1, 5).map((cell) => cell.textContent ?? "")),
    );
    expect(told).toEqual([
      ["A poem about the seapress", "Waiting", "$0.0118", "6"],
      ["It shall failbadly", "Failed", "$0.00", "0"],
      ["It ends wellwell", "Finished", "$0.00", "0"],
    ]);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole("checkbox", { name: "Compare press" }).press("Space");
    await expectSoon(() => page.getByRole("status").innerText()).toBe("Choose one more run to compare.");
    await page.getByRole("checkbox", { name: "Compare well" }).press("Space");
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole("link", { name: "Compare", exact: true }).press("Enter");
    const sums = page.getByRole("table", { name: "Sums of the runs" });
    await expectSoon(() => sums.getByRole("row", { name: /^Cost/ }).innerText()).toMatch(/\$0\.0118\s+\$0\.00\s+\$0\.0118 less/);
    expect(await violationsIn(page)).toEqual([]);
    await page.goBack();
    await page.getByRole("link", { name: "It shall fail" }).click();
    await expectSoon(() => page.locator(".run-notes").innerText()).toContain("It failed.");
  });
});
