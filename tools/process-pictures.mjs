// node tools/process-pictures.mjs: takes the pictures of docs/guides/processes.md, in both themes: processes that were played by hand, in the
// terminal and on the page. Needs a build and Chromium; with pngquant (apt install pngquant) the files are a third as large.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { root } from "./root.mjs";

const PICTURES = join(root, "docs/pictures");
const SIZE = { width: 1200, height: 960 };
const TOKEN = "token-of-the-pictures";
/** Lines of the conversation in the terminal, from one that is worth a look. */
const [TERMINAL, BEGIN, LINES] = ["pairs", /^Dan, Engineer to Mia/, 44];
const PAGES = ["scrum", "open-source"];

const work = mkdtempSync(join(tmpdir(), "troupe-pictures-"));
const store = join(work, "runs.db");
try {
  const server = await served([TERMINAL, ...PAGES]);
  const program = ["/usr/bin/chromium", "/usr/bin/google-chrome", process.env.CHROME_PATH ?? ""].find((path) => existsSync(path));
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  try {
    for (const theme of ["light", "dark"]) await takePictures(browser, server.url, theme);
  } finally {
    await browser.close();
    await server.close();
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Plays the processes with the answers in their files, and serves their runs. */
async function served(names) {
  const [{ Team }, { openCrew, readCrew }, { scriptedModel }, { createServer }, { sqlite }, { memoryWorkspace, refusedSandbox }] =
    await Promise.all(
      ["index", "../roles/index", "testing/index", "server/index", "adapters/sqlite", "workspace/index"].map(
        (path) => import(join(root, "dist/src", `${path}.js`)),
      ),
    );
  const journal = sqlite({ path: store });
  for (const name of names) {
    const { crew: file, idea, answers } = JSON.parse(readFileSync(join(root, `examples/processes/${name}.answers.json`), "utf8"));
    const asked = new Map();
    const model = scriptedModel(({ messages }) => {
      const role = /named (\w+)/.exec(messages[0].content)[1];
      asked.set(role, (asked.get(role) ?? -1) + 1);
      return JSON.stringify(answers.filter(({ by }) => by === role)[asked.get(role)].says);
    });
    const sandbox = refusedSandbox("nothing runs here", "");
    const { roles } = openCrew(await readCrew(file), { workspace: memoryWorkspace(), sandbox });
    await new Team({ name, roles, model, journal }).run(idea, { id: name, rounds: 600 }).result;
  }
  const page = readFileSync(join(root, "dist/src/inspector/page.html"), "utf8");
  const server = createServer({ team: new Team({ roles: [], journal }), token: TOKEN, page, recover: false });
  const { url } = await server.listen();
  return { url, close: () => server.close({ grace: 0 }) };
}

async function takePictures(browser, url, theme) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: theme, reducedMotion: "reduce" });
  const take = async (name) => {
    const path = join(PICTURES, `process-${name}-${theme}.png`);
    await page.screenshot({ path });
    spawnSync("pngquant", ["--force", "--skip-if-larger", "--ext", ".png", path]);
  };
  await page.setViewportSize({ width: 900, height: 860 });
  await page.setContent(terminal(theme));
  await take("terminal");
  await page.setViewportSize(SIZE);
  await page.goto(`${url}/#token=${TOKEN}`);
  await page.locator("tbody tr").nth(PAGES.length).waitFor();
  for (const name of PAGES) {
    await page.evaluate((hash) => (location.hash = hash), `/runs/${name}/talk`);
    await page.locator("article").nth(9).waitFor();
    await take(name);
  }
  await page.close();
}

/** What `troupe runs show pairs --talk` prints. */
function terminal(theme) {
  const command = [join(root, "dist/src/cli/main.js"), "runs", "show", TERMINAL, "--talk", "--store", store];
  const { stdout } = spawnSync(process.execPath, command, { encoding: "utf8" });
  const all = stdout.split("\n");
  const from = all.findIndex((line) => BEGIN.test(line));
  const lines = all.slice(from, from + LINES).map((line) => {
    const text = line.replace(/[&<]/g, (sign) => `&#${sign.charCodeAt(0)};`);
    return /^\S/.test(line) ? text.replace(/^[^,]+, [^,]+?(?= to |$)/, "<b>$&</b>") : text;
  });
  const colors = theme === "dark" ? "#e6e6e6; background: #16181d" : "#1c1e21; background: #fff";
  return `<body style="margin: 0; padding: 16px 24px; color: ${colors}"><pre style="font: 13.5px/1.27 monospace">$ troupe runs show ${TERMINAL} --talk\n …\n\n${lines.join("\n")}</pre>`;
}
