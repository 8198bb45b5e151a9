/**
 * The part of the page driver for Chromium, by `playwright-core`: see `page-driver.ts`. Each page is in a context of its own, which begins
 * with empty storage. The order names the browser (`executable`), the package (`driver`), and `blocks`: true where no sandbox closes the
 * network, so that Chromium has to.
 */
export const BROWSER_PAGES: string = String.raw`
const MOST_PICTURE = 1500000, MOST_CONSOLE = 200, CLOSE_TIME = 2000;
const ARGUMENTS = ["--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--disable-extensions"];
/** A proxy that is not there, also for this machine, and no names. */
const BLOCKED = ["--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp"];
/** Chromium makes a socket in the temporary folder, and the system takes a path of 107 bytes at most for one. */
const LONGEST_TEMPORARY = 60;
let browser, chromium;

async function launch() {
  const options = { executablePath: order.executable, headless: true, chromiumSandbox: false, args: order.blocks ? [...ARGUMENTS, ...BLOCKED] : ARGUMENTS };
  try {
    browser = await chromium.launch({ ...options, env: { ...process.env, TMPDIR: temporary() } });
  } catch (error) {
    const words = String(error.message);
    throw new Error(words.split("\n")[0] + " " + (/\[err\] (.*(?:FATAL|error while loading).*)/.exec(words)?.[1] ?? ""));
  }
}

/** The temporary folder, or a link to it with a short name. Whoever gave the name removes the link. */
function temporary() {
  const folder = require("node:os").tmpdir();
  if (folder.length <= LONGEST_TEMPORARY || order.link === undefined) return folder;
  fs.rmSync(order.link, { force: true });
  fs.symlinkSync(folder, order.link);
  return order.link;
}

async function startPages() {
  ({ chromium } = require(order.driver));
  await launch();
  return "Chromium " + browser.version();
}

async function stopPages() {
  await within(CLOSE_TIME, browser.close(), "").catch(killBrowser);
}

/** Browsers that this program started are its children. */
function killBrowser() {
  for (const name of fs.readdirSync("/proc")) {
    try {
      if (/^\d+$/.test(name) && Number(fs.readFileSync("/proc/" + name + "/stat", "utf8").replace(/^.*\) /, "").split(" ")[1]) === process.pid) process.kill(Number(name), "SIGKILL");
    } catch {}
  }
}

/** Runs in the page before its own scripts: what it prints without end would fill this program. */
function boundConsole(most) {
  for (const name of Object.keys(console)) {
    const real = console[name];
    if (typeof real !== "function") continue;
    let left = most;
    console[name] = (...given) => {
      left -= 1;
      if (left >= 0) return real.apply(console, given.slice(0, 5).map((one) => (typeof one === "string" ? one.slice(0, 2000) : one)));
    };
  }
}

/** Runs in the page: what a user sees of elements. */
function seenOf(list, most) {
  const isShown = (element) => {
    const box = element.closest("option, optgroup") === null ? element : (element.closest("select") ?? element);
    if (document.head !== null && document.head.contains(box)) return true;
    if (getComputedStyle(box).display === "contents") return box.parentElement !== null && isShown(box.parentElement);
    return box.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  };
  const labelOf = (field) => field.selectedOptions?.[0]?.label ?? "";
  const isField = (element) => ["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName);
  const textOf = (element) => (!isField(element) ? (element.innerText ?? element.textContent) : element.tagName === "SELECT" ? labelOf(element) : element.value);
  const valuesOf = (element) => {
    if (element === undefined) return [];
    if (["checkbox", "radio"].includes(element.type)) return element.checked ? [element.value, "on", "true", "checked"] : ["off", "false", "unchecked"];
    if (element.tagName === "SELECT") return [element.value, labelOf(element)];
    return isField(element) ? [element.value] : element.isContentEditable ? [element.innerText.trim()] : [element.getAttribute("value") ?? ""];
  };
  // Letters as they are written: a style may show them in capitals.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { text-transform: none !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const shown = list.filter(isShown);
  const seen = { count: shown.length, hidden: list.length - shown.length, text: shown.map(textOf).join("\n").slice(0, most), values: valuesOf(shown[0]).map((one) => String(one).slice(0, 2000)) };
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  return seen;
}

/** Runs in the page. */
function showsNothing() {
  if (document.body === null) return true;
  const things = [...document.body.querySelectorAll("img, svg, canvas, video, audio, input, button, textarea, select, iframe, object, embed")];
  return document.body.innerText.trim() === "" && !things.some((one) => one.checkVisibility());
}

const place = (stack) => /(?:file:\/\/)[^\s()]*?([^\s()/]+:\d+:\d+)/.exec(stack ?? "")?.[1];
const ownFile = (url) => (url.startsWith(BASE) ? decodeURI(url.slice(BASE.length)) : undefined);

function watch(context, page, problems) {
  page.on("pageerror", (error) => {
    const words = (error?.name ?? "Error") + ": " + (error?.message ?? String(error));
    const where = place(error?.stack);
    problems.error("uncaught " + cut(words, 300) + (where === undefined ? "" : " (" + where + ")"));
  });
  page.on("console", (message) => {
    // A resource that does not load is told once, below. A page opened as a file has no manifest, and works without.
    if (message.type() !== "error" || /^(?:Failed to load resource|Access to manifest)/.test(message.text())) return;
    problems.error("console.error: " + message.text());
  });
  page.on("requestfailed", (request) => {
    const [url, own] = [request.url(), ownFile(request.url())];
    if (request.resourceType() === "manifest") return;
    if (own !== undefined) problems.error("could not load " + own + " (" + (request.failure()?.errorText ?? "") + ")");
    else if (!/^(data|blob):/.test(url)) problems.note("wanted " + cut(url, 200) + ", and there is no network");
  });
  page.on("dialog", (dialog) => {
    problems.disturb(dialog.type() + " dialog " + quote(dialog.message()) + ", accepted");
    dialog.accept(dialog.defaultValue()).catch(() => {});
  });
  page.on("download", (download) => { problems.disturb("download of " + quote(download.suggestedFilename()) + ", not kept"); download.cancel().catch(() => {}); });
  page.on("crash", () => problems.end(new PageOver("the page crashed")));
  page.on("framenavigated", (frame) => {
    if (frame === page.mainFrame() && !/^about:/.test(frame.url()) && ownFile(frame.url()) === undefined) problems.disturb("the page left the project for " + quote(frame.url()));
  });
  context.on("page", (other) => { if (other !== page) { problems.disturb("window for " + quote(other.url()) + ", closed"); other.close().catch(() => {}); } });
}

/** Playwright's words without its log: the first line, and why the element was no target. */
function plain(error) {
  const text = String(error.message).replace(/\u001b\[[0-9;]*m/g, "");
  const why = [...text.matchAll(/^\s*- +(.*(?:intercepts pointer events|is not (?:visible|enabled|stable|editable)|outside of the viewport).*)$/gm)].at(-1)?.[1];
  return cut(collapse(text.split("\n")[0].replace(/^(?:locator|page|keyboard)\.\w+: /i, "")), 300) + (why === undefined ? "" : "; " + cut(collapse(why), 300));
}

class BrowserPage {
  constructor(context, page, problems) { this.context = context; this.page = page; this.problems = problems; }

  async open(address) {
    await this.load(() => this.page.goto(address, { waitUntil: "load", timeout: order.loadTime }));
  }

  async load(work) {
    try {
      await work();
    } catch (error) {
      if (error.name === "TimeoutError") throw new PageOver("the page did not finish loading within " + order.loadTime + " ms; a script may run without end");
      throw new StepFault(plain(error));
    }
  }

  /** All elements, and those with exactly this text before those that contain it. */
  async all(at) {
    try {
      if (!at.startsWith("text=")) {
        const found = this.page.locator("css=" + at);
        await within(order.stepTime, found.count(), "");
        return found;
      }
      const words = at.slice(5).trim().replace(/^(["'])(.*)\1$/, "$2");
      const exact = this.page.getByText(words, { exact: true });
      return (await within(order.stepTime, exact.filter({ visible: true }).count(), "")) > 0 ? exact : this.page.getByText(words);
    } catch (error) {
      if (error instanceof PageOver) throw new PageOver("the page does not answer; a script may run without end");
      if (/selector|parsing/i.test(error.message)) throw new StepFault("expected a CSS selector or text=, got " + quote(at));
      throw new StepFault(plain(error));
    }
  }

  async first(at) {
    for (const until = Date.now() + order.stepTime; ; await sleep(LOOK_AGAIN)) {
      const all = await this.all(at);
      const shown = all.filter({ visible: true });
      if ((await shown.count()) > 0) return shown.first();
      if (Date.now() < until) continue;
      const hidden = await all.count();
      throw new StepFault("expected an element " + quote(at) + ", got none" + hiddenWords({ hidden }));
    }
  }

  async act(step) {
    try {
      await this.doStep(step);
    } catch (error) {
      if (error instanceof StepFault || error instanceof Unable || error instanceof PageOver) throw error;
      const answers = await within(order.stepTime, this.page.evaluate("1"), "").then(() => true, (fault) => !(fault instanceof PageOver));
      if (!answers) throw new PageOver("the page does not answer; a script may run without end");
      throw new StepFault(plain(error));
    }
  }

  async doStep(step) {
    const timeout = order.stepTime;
    switch (step.do) {
      case "reload": return this.load(() => this.page.reload({ waitUntil: "load", timeout: order.loadTime }));
      case "click": return (await this.first(step.at)).click({ timeout });
      case "type": return this.type(await this.first(step.at), step.text);
      case "press": return step.at === undefined ? within(timeout, this.page.keyboard.press(step.key), "the page does not answer") : (await this.first(step.at)).press(step.key, { timeout });
      case "select": return (await this.first(step.at)).selectOption(step.value, { timeout });
      case "drag": return (await this.first(step.at)).dragTo(await this.first(step.to), { timeout: timeout * 2 });
      default: throw new Unable("there is no step " + quote(step.do));
    }
  }

  /** Replaces the text of a field, key by key, as a user does. */
  async type(field, text) {
    const timeout = order.stepTime;
    const type = await field.evaluate((element) => (element.tagName === "INPUT" ? element.type : ""), undefined, { timeout });
    if (type === "file") throw new Unable("a file field cannot be filled");
    if (/^(date|time|month|week|color|range|datetime-local)$/.test(type) || text === "" || text.length > 500) return field.fill(text, { timeout });
    await field.click({ timeout });
    await field.selectText({ timeout });
    await field.pressSequentially(text, { timeout: timeout * 2 });
  }

  async look(at) {
    const all = await this.all(at);
    const answer = all.evaluateAll(seenOf, MOST_TEXT);
    const seen = await within(order.stepTime, answer, "the page does not answer; a script may run without end").catch((error) => {
      // A page that is just being replaced by the next one has no elements.
      if (error instanceof PageOver) throw error;
      return { count: 0, hidden: 0, text: "", values: [] };
    });
    return { count: Number(seen.count), hidden: Number(seen.hidden), text: String(seen.text), values: [...seen.values].map(String) };
  }

  isBlank() {
    return within(order.stepTime, this.page.evaluate(showsNothing), "the page does not answer; a script may run without end").catch((error) => {
      if (error instanceof PageOver) throw error;
      return true;
    });
  }

  async picture() {
    const bytes = await this.page.screenshot({ type: "png", timeout: 5000 }).catch(() => undefined);
    return bytes === undefined || bytes.length > MOST_PICTURE ? undefined : bytes.toString("base64");
  }

  async close(isOver) {
    const closed = await within(CLOSE_TIME, this.context.close(), "").then(() => true, () => false);
    if (closed && (!isOver || browser.isConnected())) return;
    killBrowser();
    await launch();
  }
}

async function freshPage() {
  const problems = new Problems();
  if (!browser.isConnected()) await launch();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: false });
  await context.addInitScript(boundConsole, MOST_CONSOLE);
  const page = await context.newPage();
  page.setDefaultTimeout(order.stepTime);
  watch(context, page, problems);
  return new BrowserPage(context, page, problems);
}
`;
