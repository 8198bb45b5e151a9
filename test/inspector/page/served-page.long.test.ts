// @module-tag pages
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { defineAction, defineRole, memoryJournal, Team } from "../../../src/index.ts";
import { readPage } from "../../../src/inspector/page-file.ts";
import { openaiStub } from "../../../src/testing/index.ts";
import { board } from "../../../src/tools/index.ts";
import { type Child, start } from "../../cli/child.ts";
import { serving } from "../../server/served-team.ts";
import { TOKEN } from "./live-house.ts";
import { badge, describeInBrowser, drawer, eachPanel, expectSoon, testBrowser, toPanel, violationsIn, WITH_BOARD } from "./watched-page.ts";

const HOSTILE = `<script>alert("x")</script><img src=x onerror=alert(1)><a href="javascript:alert(2)">go</a> \u202etxet desrever\u202c \u2066 \u0000\u001b]0;owned\u0007 --></style></textarea>`;

const { folder, open } = testBrowser();

/** A team whose names, messages, tasks, questions and choices are all hostile. */
function hostileTeam(): Team {
  const tasks = board();
  const Ask = defineAction({
    name: HOSTILE,
    run: async (ctx) => {
      await tasks.at(ctx).add({ title: HOSTILE });
      const bread = await ctx.human.ask(`${HOSTILE} ${ctx.text}`, { choices: [{ value: "a", label: HOSTILE }, "b"], words: HOSTILE });
      return `${HOSTILE} ${bread}`;
    },
  });
  const role = defineRole({ name: HOSTILE, profile: HOSTILE, goal: HOSTILE, actions: [Ask] });
  return new Team({ name: HOSTILE, roles: [role], journal: memoryJournal() });
}

describeInBrowser("the page of a server", () => {
  it("shows script and bidi texts of roles, questions, choices and errors as texts, and runs none", async () => {
    const { url } = await serving({ team: hostileTeam(), token: TOKEN, page: readPage }).listen();
    const client = createClient({ url, token: TOKEN });
    const { id } = await client.start({ idea: HOSTILE, id: "hostile" });
    for await (const event of client.events(id)) void event;
    const { page } = await open(`${url}/#token=${TOKEN}`);
    await page.getByRole("link", { name: /alert/ }).first().click();
    await expectSoon(() => page.locator(".question").textContent()).toContain(`<script>alert("x")</script>`);
    await eachPanel(page, WITH_BOARD, async (panel) => expect(await violationsIn(page), panel).toEqual([]));
    await page
      .getByLabel(/Another answer|other|<script>/i)
      .last()
      .fill(HOSTILE);
    await page.getByRole("button", { name: "Answer" }).click();
    await expectSoon(() => badge(page)).toBe("Finished");
    await toPanel(page, "events");
    await page.locator(".event", { hasText: "act.ended" }).first().click();
    await expectSoon(() => page.getByRole("complementary").textContent()).toContain("alert");
    // Characters that turn the direction of a text are shown by their numbers.
    expect(await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText))).toBe(false);
    expect(await page.locator("img, .run script, .run iframe, .run a[href^='javascript']").count()).toBe(0);
  });
});

/** A picture of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describeInBrowser("the files of a message on the page of a server", () => {
  it("are listed with their types and sizes, and a picture is shown on request", async () => {
    const Look = defineAction({ name: "Look", run: () => "Seen." });
    const team = new Team({ name: "eyes", roles: [defineRole({ name: "Eva", actions: [Look] })], journal: memoryJournal() });
    const { url } = await serving({ team, token: TOKEN, page: readPage }).listen();
    const client = createClient({ url, token: TOKEN });
    const files = [
      { name: "pixel.png", data: PIXEL },
      { name: `<b>.html`, data: Buffer.from(HOSTILE).toString("base64") },
    ];
    await client.start({ idea: "Look at these", id: "files", files });
    for await (const event of client.events("files")) void event;
    const { page } = await open(`${url}/#token=${TOKEN}`);
    await page
      .getByRole("link", { name: /Look at these/ })
      .first()
      .click();
    await expectSoon(() => badge(page)).toBe("Finished");
    await page.getByRole("article", { name: "Message 1 from The user" }).getByRole("button", { name: "Details" }).click();
    const listed = drawer(page).getByRole("listitem").filter({ hasText: "bytes" });
    await expectSoon(() => listed.allTextContents()).toEqual([
      "pixel.png image/png, 70 bytes Show",
      expect.stringMatching(/^<b>\.html text\/html, \d+ bytes $/),
    ]);
    await listed.first().getByRole("button", { name: "Show" }).click();
    await expectSoon(() =>
      drawer(page)
        .getByRole("img", { name: "pixel.png" })
        .evaluate((image) => (image as HTMLImageElement).naturalWidth),
    ).toBe(1);
    expect(await violationsIn(page)).toEqual([]);
  });
});

const CREW = `
name: writers
roles:
  - name: Ann
    actions: [{ name: Draft, prompt: "Draft: {{text}}" }]
  - name: Ben
    actions: [{ name: Polish, on: Draft, prompt: "Polish: {{text}}" }]
  - name: Cid
    actions: [{ name: Print, on: Polish, prompt: "Print: {{text}}" }]
`;

async function serve(url: string, port: string): Promise<{ readonly child: Child; readonly url: string }> {
  const words = ["serve", "--crew", "crew.yaml", "--base-url", url, "--model", "stub-1", "--price", "1,4", "--sandbox", "none", "--json"];
  const env = { TROUPE_TOKEN: TOKEN, OPENAI_API_KEY: "sk-test-0123456789abcdefghij" };
  const child = start([...words, "--port", port], { cwd: folder, env });
  await child.until("stdout", /"serving"/);
  return { child, url: (JSON.parse(child.said.stdout.trim().split("\n")[0] ?? "") as { readonly url: string }).url };
}

describeInBrowser("the page of troupe serve", () => {
  it("says that the server was killed, and goes on without loss or doubling when it is there again", { timeout: 900_000 }, async () => {
    writeFileSync(join(folder, "crew.yaml"), CREW);
    let asked = 0;
    let answer = (): void => undefined;
    const gate = new Promise<void>((resolve) => (answer = resolve));
    await using stub = await openaiStub({
      handler: async () => {
        asked += 1;
        if (asked === 2) await gate;
        return { text: `text ${asked}` };
      },
    });
    const first = await serve(stub.url, "0");
    const client = createClient({ url: first.url, token: TOKEN });
    const { id } = await client.start({ idea: "a story" });
    const { page } = await open(`${first.url}/#token=${TOKEN}&run=${id}`, { mayFail: true });
    const head = (): Promise<string | null> => page.locator(".run-head").textContent();
    await expectSoon(() => asked).toBe(2);
    await expectSoon(head).toContain("Live");
    first.child.process.kill("SIGKILL");
    await first.child.ended;
    await expectSoon(head).toContain("The server cannot be reached");
    expect(await violationsIn(page)).toEqual([]);
    answer();
    const second = await serve(stub.url, new URL(first.url).port);
    await expectSoon(head).toContain("Live");
    await expectSoon(() => badge(page)).toBe("Finished");
    await toPanel(page, "events");
    const events = [];
    for await (const event of client.events(id)) events.push(event);
    expect(events.some(({ type }) => type === "run.resumed")).toBe(true);
    await expectSoon(() => page.locator(".panel .rows").getAttribute("aria-label")).toBe(`${events.length} events`);
    const numbers = await page.evaluate(() => [...document.querySelectorAll(".event-seq")].map((cell) => Number(cell.textContent)));
    expect(numbers).toEqual(numbers.map((_, index) => index));
    second.child.process.kill("SIGTERM");
    expect(await second.child.ended).toBe(0);
  });
});
