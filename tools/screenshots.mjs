// node tools/screenshots.mjs: takes the pictures of the inspector in docs/pictures/, eight views in both themes. Plays bundled ideas, which cost
// nothing, and needs Chromium; with pngquant (apt install pngquant) the files are a third as large.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { z } from "zod";
import { root } from "./root.mjs";

const PICTURES = join(root, "docs/pictures");
const SIZE = { width: 1200, height: 720 };
/** The picture of the first page, with room for the lanes alone. */
const FIRST = { width: 1200, height: 600 };
/** The roles and their messages in the graph. */
const ROLES = { x: 250, y: 186, width: 650, height: 474 };
const TOKEN = "token-of-the-pictures";

const work = mkdtempSync(join(tmpdir(), "troupe-pictures-"));
const store = join(work, "runs.db");
mkdirSync(PICTURES, { recursive: true });
try {
  for (const idea of ["2048", "life", "todo", "shopping"]) play(idea);
  const server = await serve();
  try {
    await takePictures((await server.listen()).url, await server.runs());
  } finally {
    await server.close();
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function play(idea) {
  const command = join(root, "dist/src/cli/main.js");
  const options = ["demo", idea, "--store", store, "--out", join(work, idea), "--quiet"];
  const { status, stderr } = spawnSync(process.execPath, [command, ...options], { cwd: work, encoding: "utf8" });
  if (status !== 0) throw new Error(`The idea ${idea} ended with ${status}: ${stderr}`);
}

/** A server over the same runs, with a team that asks a person for a typed answer. */
async function serve() {
  const { defineAction, defineRole, Team } = await import(join(root, "dist/src/index.js"));
  const { createServer } = await import(join(root, "dist/src/server/index.js"));
  const { sqlite } = await import(join(root, "dist/src/adapters/sqlite.js"));
  const { readFileSync } = await import("node:fs");
  const journal = sqlite({ path: store });
  const Plan = defineAction({ name: "PlanMenu", run: (ctx) => `A menu for: ${ctx.text}` });
  const Book = defineAction({
    name: "BookTable",
    run: async (ctx) => {
      const Booking = z.object({
        guests: z.int().min(1).max(40).describe("How many people come."),
        day: z.iso.date().describe("The day of the dinner."),
        room: z.enum(["garden", "hall", "terrace"]),
        wishes: z.string().optional().describe("Anything that the kitchen should know."),
      });
      return `Booked: ${JSON.stringify(await ctx.human.ask("Which table shall I book for the dinner?", { schema: Booking }))}`;
    },
  });
  const ada = defineRole({ name: "Ada", profile: "Host", goal: "Plan a dinner that the guests like", actions: [Plan] });
  const ben = defineRole({ name: "Ben", profile: "Booking clerk", goal: "Book what was planned", watch: [Plan], actions: [Book] });
  const team = new Team({ name: "Dinner", roles: [ada, ben], journal });
  await team.run("Plan a dinner for the board on Friday", { id: "dinner" }).result;
  const server = createServer({
    team,
    token: TOKEN,
    page: readFileSync(join(root, "dist/src/inspector/page.html"), "utf8"),
    recover: false,
  });
  return {
    listen: () => server.listen(),
    close: () => server.close({ grace: 0 }),
    runs: async () => (await journal.runs()).map(({ runId }) => runId),
  };
}

function openBrowser() {
  const program = ["/usr/bin/chromium", "/usr/bin/google-chrome", process.env.CHROME_PATH ?? ""].find((path) => existsSync(path));
  return chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
}

async function takePictures(url, runs) {
  const browser = await openBrowser();
  try {
    for (const theme of ["light", "dark"]) {
      const page = await browser.newPage({ viewport: SIZE, colorScheme: theme, reducedMotion: "reduce" });
      await takeViews(page, theme, url, runs);
      await page.close();
    }
  } finally {
    await browser.close();
  }
}

async function takeViews(page, theme, url, [game = "", , , shop = ""]) {
  const take = async (name, size = SIZE) => {
    await page.setViewportSize(size);
    await page.mouse.move(0, 0);
    const path = join(PICTURES, `inspector-${name}-${theme}.png`);
    await page.screenshot({ path });
    spawnSync("pngquant", ["--force", "--skip-if-larger", "--ext", ".png", path]);
  };
  await page.goto(`${url}/#token=${TOKEN}`);
  await page.locator("tbody tr").nth(4).waitFor();
  for (const place of [2, 3]) await page.getByRole("checkbox").nth(place).check();
  await page.getByRole("link", { name: "Compare", exact: true }).waitFor();
  await take("runs");
  const go = async (run, panel) => {
    await page.evaluate((hash) => (location.hash = hash), `/runs/${run}/${panel}`);
    await page.locator(".facts .badge").nth(1).filter({ hasText: "Live" }).waitFor();
    await page.locator(".facts dd").nth(3).waitFor();
  };
  await go(game, "lanes");
  await page.locator(".panel-choice select").selectOption({ label: "160 events" });
  await page
    .getByRole("button", { name: /^Message WriteTasks|^Message WriteCode/ })
    .first()
    .click();
  await take("lanes");
  await take("run", FIRST);
  await go(game, "graph");
  await page.getByRole("button", { name: "Close the details" }).click();
  await take("graph");
  await page.screenshot({ path: join(root, `docs/public/roles-${theme}.png`), clip: ROLES });
  await go(shop, "talk");
  await take("result");
  await page.getByRole("article", { name: "Message 2 from" }).evaluate((message) => message.scrollIntoView());
  await take("talk");
  await go(shop, "files");
  await page
    .getByRole("button", { name: /cli\.mjs/ })
    .first()
    .click();
  await take("files");
  await go("dinner", "lanes");
  await page.getByLabel("guests").fill("12");
  await page.getByLabel("guests").blur();
  await take("question");
}
