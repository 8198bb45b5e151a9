// @module-tag pages
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import type { RunEvent } from "../../../src/index.ts";
import { POEM, pressRun } from "./press-run.ts";
import { describeInBrowser, drawer, expectSoon, offlineFile, testBrowser, toPanel, violationsIn } from "./watched-page.ts";

const { folder, open } = testBrowser();
let events: readonly RunEvent[];
let url: string;

beforeAll(async () => {
  events = await pressRun();
  url = await offlineFile(folder, "press", [events]);
});

/** Opens a view of the run. */
async function inView(panel: string): Promise<Page> {
  const { page } = await open(url);
  await toPanel(page, panel);
  await page.locator(`.tabs a[aria-current][href$="/${panel}"]`).waitFor();
  return page;
}

/** The number of the first event of a kind. */
function seqOf(isIt: (event: RunEvent) => boolean): number {
  return events.find(isIt)?.seq ?? -1;
}

async function standAt(page: Page, seq: number): Promise<void> {
  await page.getByRole("slider").fill(String(seq));
  await expectSoon(() => page.locator(".scrubber-words").innerText()).toMatch(new RegExp(`^${seq} / `));
}

/** The texts of the cells of a table, row by row. */
function cellsOf(table: Locator): Promise<readonly (readonly string[])[]> {
  return table
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent ?? "")));
}

/** The facts of a part of the page, by their names. */
async function factsOf(part: Locator): Promise<Readonly<Record<string, string>>> {
  const facts = await part
    .locator("dl > div")
    .evaluateAll((all) =>
      all.map((one) => [one.querySelector("dt")?.textContent ?? "", one.querySelector("dd")?.textContent ?? ""] as const),
    );
  return Object.fromEntries(facts);
}

const title = (page: Page): Promise<string | null> => drawer(page).getByRole("heading", { level: 2 }).textContent();
const focused = (page: Page): Promise<string | null> => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? null);

describeInBrowser("the view of files", () => {
  it("shows two versions of a file, what changed, the whole text, and the messages that led to it", async () => {
    const page = await inView("files");
    await page.getByRole("button", { name: "poem.md 2 versions" }).click();
    const file = page.getByRole("article", { name: "File poem.md" });
    await expectSoon(() => cellsOf(file)).toEqual([
      ["1", "1", " ", "The sea is <b>grey</b>."],
      ["2", "", "−removed", "It sleeps."],
      ["", "2", "+added", "It sings."],
      ["", "3", "+added", "The end."],
    ]);
    expect(await file.textContent()).toContain("2 lines added, 1 removed");
    await page.getByRole("combobox", { name: "Version" }).focus();
    await page.keyboard.press("ArrowUp");
    await expectSoon(async () => (await cellsOf(file)).map((row) => row.slice(2))).toEqual([
      ["+added", "The sea is <b>grey</b>."],
      ["+added", "It sleeps."],
    ]);
    const whole = file.getByRole("button", { name: "Whole file" });
    await whole.press("Space");
    expect(await whole.getAttribute("aria-pressed")).toBe("true");
    expect(await file.getByRole("region", { name: "Content" }).textContent()).toBe(POEM[0]);
    await page.getByRole("combobox", { name: "Version" }).selectOption({ index: 1 });
    expect(await file.getByRole("region", { name: "Content" }).textContent()).toBe(POEM[1]);
  });

  it("shows the files as they were at an event", async () => {
    const page = await inView("files");
    const names = page.getByRole("navigation", { name: "Files" }).getByRole("button");
    expect(await names.allInnerTexts()).toEqual(["notes.md\n1 version", "poem.md\n2 versions", "poem.md\nfork side, 1 version"]);
    await names.last().click();
    await expectSoon(() => page.getByRole("article", { name: "File poem.md" }).innerText()).toContain("A side line.");
    await standAt(
      page,
      seqOf((event) => event.type === "step.ended" && event.value === null),
    );
    await expectSoon(() => names.allInnerTexts()).toEqual(["poem.md\n1 version"]);
    await standAt(page, 1);
    await expectSoon(() => page.locator(".panel").textContent()).toBe("No file has been written up to this event.");
  });
});

describeInBrowser("the view of costs", () => {
  it("has what each role and each model cost, and grows with the run", async () => {
    const page = await inView("costs");
    expect(await factsOf(page.locator(".costs"))).toEqual({
      Cost: "$0.0118",
      Budget: "$2.00",
      Tokens: "3,820 in, 860 out",
      Calls: "6, 1 retry",
    });
    expect(await page.locator(".cost-budget").innerText()).toMatch(/Of the budget\s+1%/);
    expect(await cellsOf(page.getByRole("region", { name: "By role" }))).toEqual([
      ["Ann", "$0.0058", "49%", "2", "1", "3,000", "700"],
      ["Cid", "$0.0050", "43%", "1", "0", "300", "50"],
      ["Bob", "$0.0009", "8%", "1", "0", "500", "100"],
      ["Dee", "< $0.0001", "1%", "2", "0", "20", "10"],
    ]);
    expect(await cellsOf(page.getByRole("region", { name: "By model" }))).toEqual([
      ["small", "$0.0068", "57%", "5", "1", "3,520", "810"],
      ["large", "$0.0050", "43%", "1", "0", "300", "50"],
    ]);
    await page.getByRole("region", { name: "By role" }).getByRole("button", { name: "Cid" }).click();
    await expectSoon(() => title(page)).toBe("Cid");
    await standAt(
      page,
      seqOf(({ type }) => type === "step.started"),
    );
    await expectSoon(() => page.locator(".costs").innerText()).toContain("Nothing has been spent.");
    expect((await factsOf(page.locator(".costs")))["Reserved"]).toMatch(/^\$0\.\d{4} for calls under way$/);
  });
});

describeInBrowser("the view of roles", () => {
  it("has the plan, the state and the memory of a role, and what it took before them", async () => {
    const page = await inView("roles");
    await page.getByRole("navigation", { name: "Roles" }).getByRole("button", { name: "Ann" }).click();
    const ann = page.getByRole("article", { name: "Role Ann" });
    const part = (name: string | RegExp) => ann.locator("section", { has: page.getByRole("heading", { name }) });
    expect(await ann.innerText()).toMatch(/Writer\s+Write poems that one remembers/);
    expect(await factsOf(ann)).toEqual({
      Now: "waits for mail",
      Acted: "1 time",
      Hears: "UserRequirement",
      Actions: "Draft, Polish",
      Mode: "plan_and_act",
    });
    expect(await part("Plan (2 of 2 done)").getByRole("listitem").allInnerTexts()).toEqual([
      "✓\ndraft Draft the poem done",
      "✓\npolish Polish the draft done, after draft",
    ]);
    expect(JSON.parse((await ann.getByRole("region", { name: "State" }).textContent()) ?? "")).toEqual({ drafts: 2 });
    expect(
      await part(/^Memory \(4\)/)
        .getByRole("button")
        .allInnerTexts(),
    ).toEqual([
      "Ann\nPolish\nA draft. A poem.",
      "Ann\nPolish\nA poem.",
      "Ann\nDraft\nA draft.",
      "from outside\nUserRequirement\nA poem about the sea",
    ]);
    await part(/^Memory/)
      .getByRole("button", { name: /from outside/ })
      .click();
    await expectSoon(() => title(page)).toBe("Message");
    await page.keyboard.press("Escape");
    await standAt(
      page,
      seqOf(({ type }) => type === "step.started"),
    );
    await expectSoon(() => ann.locator("h3").allInnerTexts()).toEqual(["Mailbox (1)", "State", "Memory (0), newest first"]);
    expect(await part("Mailbox (1)").getByRole("button").allInnerTexts()).toEqual(["from outside\nUserRequirement\nA poem about the sea"]);
    await ann.getByRole("button", { name: "Ann#0~1" }).click();
    await expectSoon(() => title(page)).toBe("Activation Ann#0~1");
  });
});

describeInBrowser("the graph of roles", () => {
  const queues = async (page: Page) =>
    (await cellsOf(page.getByRole("region", { name: "Subscriptions and queues" }))).map((row) => row.join(" "));

  it("has subscriptions, the depth of each queue, and who spoke to whom how often", async () => {
    const page = await inView("graph");
    expect(await queues(page)).toEqual(["Ann UserRequirement 0 1", "Bob Polish 0 1", "Cid Review 1 0", "Dee Polish, Review 0 2"]);
    expect(await cellsOf(page.getByRole("region", { name: "Messages between roles" }))).toEqual([
      ["outside", "Ann", "1", "0", "UserRequirement 1", "it watches"],
      ["Ann", "Bob", "1", "0", "Polish 1", "it watches"],
      ["Ann", "Dee", "1", "0", "Polish 1", "it watches"],
      ["Bob", "Cid", "1", "0", "Review 1", "it watches"],
      ["Bob", "Dee", "1", "0", "Review 1", "it watches"],
    ]);
    const graph = page.getByRole("region", { name: "Graph of the roles" });
    expect((await graph.getByRole("button").allInnerTexts()).map((text) => text.split("\n").slice(0, 3))).toEqual([
      ["Ann", "Writer", "empty queue"],
      ["Bob", "Reviewer", "empty queue"],
      ["Cid", "Printer", "● acts, 1 waiting"],
      ["Dee", "Archivist", "empty queue"],
    ]);
    expect(await graph.locator(".edge").count()).toBe(5);
    await standAt(
      page,
      seqOf(({ type }) => type === "round.ended"),
    );
    await expectSoon(() => queues(page)).toEqual(["Ann UserRequirement 0 1", "Bob Polish 1 0", "Cid Review 0 0", "Dee Polish, Review 1 0"]);
  });
});

describeInBrowser("the swimlanes", () => {
  const acts = async (bars: Locator) =>
    (await bars.evaluateAll((all) => all.map((bar) => bar.getAttribute("title") ?? ""))).toSorted((a, b) => (a < b ? -1 : 1));

  it("light up the chain of causes of a chosen message, and the details name it", async () => {
    const page = await inView("lanes");
    expect(await page.locator(".in-chain, .faint").count()).toBe(0);
    await page.getByRole("button", { name: "Message Review to Cid, Dee: Good." }).click();
    await expectSoon(() => acts(page.locator(".bar.in-chain"))).toEqual(["Ann#0~1", "Bob#0~1", "Cid#0~1", "Dee#1~1"]);
    expect(await acts(page.locator(".bar.faint"))).toEqual(["Dee#0~1"]);
    // To Ann and to Bob; those to Cid and to Dee are the chosen message itself.
    expect(await page.locator(".arrow.in-chain").count()).toBe(2);
    expect(await page.locator(".arrow.chosen").count()).toBe(2);
    expect(await page.locator(".arrow.faint").count()).toBe(1);
    const look = (bar: string) =>
      page.locator(`.bar[title="${bar}"]`).evaluate((element) => {
        const { opacity, borderTopWidth } = getComputedStyle(element);
        return [Number(opacity), Number.parseFloat(borderTopWidth)];
      });
    expect(await look("Bob#0~1")).toEqual([1, 2]);
    expect(await look("Dee#0~1")).toEqual([0.3, 1]);
    expect(await page.getByRole("toolbar").getByRole("status").innerText()).toContain("Chain of causes: 4 messages, 4 activations.");
    const chain = drawer(page).locator("section", { hasText: "Cause chain" }).getByRole("listitem");
    expect((await chain.allInnerTexts()).map((text) => text.replace(/\s+/g, " "))).toEqual([
      "From outside UserRequirement A poem about the sea",
      "Ann#0~1 took effect",
      "Ann Polish A draft. A poem.",
      "Bob#0~1 took effect",
      "This message",
      "Cid#0~1 under way",
      "Dee#1~1 took effect",
      "Dee Keep kept again",
    ]);
    await chain.getByRole("button", { name: /Ann#0~1/ }).click();
    await expectSoon(() => title(page)).toBe("Activation Ann#0~1");
    await page.getByRole("button", { name: "Close the details" }).click();
    await expectSoon(() => page.locator(".in-chain, .faint").count()).toBe(0);
  });

  it("are walked with the arrow keys: the details follow, Enter goes into them, and Escape comes back", async () => {
    const page = await inView("lanes");
    const bar = (act: string) => new RegExp(`^${act}: `);
    await page.getByRole("button", { name: bar("Ann#0~1") }).focus();
    for (const [key, act] of [
      ["ArrowDown", "Bob#0~1"],
      ["ArrowDown", "Cid#0~1"],
      ["ArrowDown", "Dee#1~1"],
      ["ArrowLeft", "Dee#0~1"],
      ["End", "Dee#1~1"],
      ["Home", "Dee#0~1"],
      ["ArrowRight", "Dee#1~1"],
      ["ArrowUp", "Cid#0~1"],
    ] as const) {
      await page.keyboard.press(key);
      await expectSoon(() => title(page), { message: `${key} to ${act}` }).toBe(`Activation ${act}`);
      expect(await focused(page), `${key} to ${act}`).toMatch(bar(act));
    }
    // Nothing is further to the left, so the key does nothing.
    await page.keyboard.press("ArrowLeft");
    expect(await focused(page)).toMatch(bar("Cid#0~1"));
    await page.keyboard.press("Enter");
    await expectSoon(() => drawer(page).evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Escape");
    await expectSoon(() => drawer(page).count()).toBe(0);
    expect(await focused(page)).toMatch(bar("Cid#0~1"));
    await page.keyboard.press("ArrowUp");
    await expectSoon(() => title(page)).toBe("Activation Bob#0~1");
    await page.keyboard.press("Escape");
    await expectSoon(() => drawer(page).count()).toBe(0);
    expect(await focused(page)).toMatch(bar("Bob#0~1"));
  });
});

describeInBrowser("the details", () => {
  it("have the prompt, the answer, the tokens, the cost and the tries of a call", async () => {
    const page = await inView("lanes");
    await page.locator('.bar[title="Ann#0~1"]').click();
    const details = drawer(page);
    expect(await factsOf(details)).toMatchObject({
      Role: "Ann",
      Attempt: "1 of activation #0",
      Result: "took effect",
      Cost: "$0.0058",
      Tokens: "3,000 in, 700 out",
      Retries: "1",
    });
    const steps = details.locator("section", { hasText: "Did 4 steps" }).getByRole("listitem");
    expect((await steps.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim())).toEqual([
      "model small 2 tries $0.0018",
      "step write file",
      "model small $0.0040",
      "step write file",
    ]);
    await steps.first().getByRole("button").click();
    await expectSoon(() => title(page)).toBe("Model call");
    expect(await factsOf(details)).toMatchObject({ Model: "small", Result: "answered", Cost: "$0.0018", Tokens: "1,000 in, 200 out" });
    const calls = await details.locator("section", { hasText: "2 tries" }).getByRole("listitem").allInnerTexts();
    expect(calls[0]).toMatch(/^Try 1: failed with MODEL_RATE_LIMIT: Too many requests\.[^]*\$0\.00$/);
    expect(calls[1]).toMatch(/^Try 2: answered[^]*\$0\.0018$/);
    expect(await details.getByRole("region", { name: "Message 1 of the prompt" }).textContent()).toContain("You are a Writer, named Ann");
    expect(await details.getByRole("region", { name: "Message 2 of the prompt" }).textContent()).toContain("A poem about the sea");
    expect(await details.getByRole("region", { name: "Answer of the step" }).textContent()).toBe("A draft.");
    const recorded = details.getByRole("region", { name: "Request and answer as recorded" });
    expect(await recorded.isVisible()).toBe(false);
    await details.getByText("Everything that is recorded").press("Enter");
    await expectSoon(() => recorded.isVisible()).toBe(true);
    expect(await recorded.textContent()).toContain('"finishReason"');
  });
});

describeInBrowser("each view with content", () => {
  it.each(["light", "dark"] as const)("is accessible in the theme %s", async (theme) => {
    const { page } = await open(url, { theme });
    const check = async (what: string) => expect(await violationsIn(page), `${what}, ${theme}`).toEqual([]);
    await toPanel(page, "files");
    await page.getByRole("button", { name: "poem.md 2 versions" }).click();
    await page.locator(".diff").waitFor();
    await check("a difference");
    await page.getByRole("button", { name: "Whole file" }).click();
    await check("a whole file");
    await toPanel(page, "costs");
    await page.getByRole("region", { name: "By model" }).waitFor();
    await check("costs");
    await toPanel(page, "roles");
    await page.getByRole("navigation", { name: "Roles" }).getByRole("button", { name: "Ann" }).click();
    await page.getByRole("heading", { name: /^Plan/ }).waitFor();
    await check("a role with a plan");
    await page.getByRole("navigation", { name: "Roles" }).getByRole("button", { name: "Cid" }).click();
    await page.getByRole("region", { name: "Question", exact: true }).waitFor();
    await check("a role that asks");
    await toPanel(page, "graph");
    await page.getByRole("region", { name: "Graph of the roles" }).getByRole("button", { name: "Bob" }).click();
    await check("a chosen role");
    await toPanel(page, "lanes");
    await page.locator('.bar[title="Ann#0~1"]').click();
    await page.locator(".bar.in-chain").first().waitFor();
    await check("a chain of causes");
    await drawer(page).getByRole("button", { name: "model small" }).first().click();
    await page.getByRole("region", { name: "Answer of the step" }).waitFor();
    await check("a model call");
  });
});
