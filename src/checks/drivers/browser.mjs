/* Pages in Chromium by `playwright-core`. Each is in a context of its own, which begins with empty storage. */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import vm from "node:vm";
import { chromium } from "playwright-core";
import { boundConsole, seenOf, showsNothing } from "./in-page.mjs";
import { mayBeMissing, order } from "./order.mjs";
import { BASE, collapse, cut, messageOf, PageOver, Problems, quote, StepFault, Unable, within } from "./page-problems.mjs";

/** @import { Browser, BrowserContext, Locator, Page } from "playwright-core" */
/** @import { PageStep } from "../acceptance.ts" */
/** @typedef {Extract<PageStep, { do: "upload" }>} Upload */
/** @typedef {{ count: number; hidden: number; text: string; values: string[] }} Seen */

const MAX_TEXT = 100_000;
const MAX_CONSOLE = 200;
const CLOSE_TIME = 2_000;
const LOOK_AGAIN = 100;
const HEIGHT = 800;
const ARGUMENTS = ["--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--disable-extensions"];
/** Closes the network without a sandbox: a proxy that is not there, also for this machine, and no names. */
const BLOCKED = [
  "--proxy-server=http://127.0.0.1:9",
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];
/** Chromium makes a socket in the temporary folder, and the system takes a path of 107 bytes at most for one. */
const MAX_TEMPORARY = 60;
/** Addresses without a request. */
const OWN = /^(data|blob|about|chrome-error):/;
/** @type {Browser} */
let browser;

/** @param {number} ms @returns {Promise<void>} */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function launch() {
  const args = order.blocks ? [...ARGUMENTS, ...BLOCKED] : ARGUMENTS;
  const env = { ...process.env, TMPDIR: temporary() };
  try {
    browser = await chromium.launch({ executablePath: order.executable, headless: true, chromiumSandbox: false, args, env });
  } catch (error) {
    const words = messageOf(error);
    throw new Error(`${words.split("\n")[0]} ${/\[err\] (.*(?:FATAL|error while loading).*)/.exec(words)?.[1] ?? ""}`, { cause: error });
  }
}

/** The temporary folder, or a link to it with a short name. Whoever gave the name removes the link. */
function temporary() {
  const folder = os.tmpdir();
  if (folder.length <= MAX_TEMPORARY || order.link === undefined) return folder;
  fs.rmSync(order.link, { force: true });
  fs.symlinkSync(folder, order.link);
  return order.link;
}

export async function stopBrowser() {
  await within(CLOSE_TIME, browser.close()).catch(killBrowser);
}

/** Browsers that this program started are its children. */
function killBrowser() {
  for (const name of fs.readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      const parent = fs
        .readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ")[1];
      if (Number(parent) === process.pid) process.kill(Number(name), "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

export async function freshPage() {
  const problems = new Problems();
  if (!browser.isConnected()) await launch();
  const looks = { viewport: { width: 1280, height: HEIGHT }, timezoneId: "UTC", locale: "en-US" };
  const context = await browser.newContext({ ...looks, acceptDownloads: false });
  await context.addInitScript(boundConsole, MAX_CONSOLE);
  const page = await context.newPage();
  page.setDefaultTimeout(order.stepTime);
  watch(context, page, problems);
  return new BrowserPage(context, page, problems);
}

/** @param {BrowserContext} context @param {Page} page @param {Problems} problems */
function watch(context, page, problems) {
  page.on("pageerror", ({ name, message, stack }) => {
    const line = /file:\/\/[^\s()]*?([^\s()/]+:\d+:\d+)/.exec(stack ?? "")?.[1];
    problems.error(`uncaught ${cut(`${name}: ${message}`, 300)}${line === undefined ? "" : ` (${line})`}`);
    problems.see("console", `error: uncaught ${name}: ${message}`);
  });
  page.on("request", (request) => {
    if (ownFile(request.url()) === undefined && !OWN.test(request.url())) problems.see("requests", `${request.method()} ${request.url()}`);
  });
  page.on("websocket", (socket) => problems.see("requests", `WS ${socket.url()}`));
  page.on("console", (message) => {
    problems.see("console", `${message.type()}: ${message.text()}`);
    // A resource that does not load is reported below. A page opened as a file has no manifest, and works without.
    if (message.type() !== "error" || /^(?:Failed to load resource|Access to manifest)/.test(message.text())) return;
    problems.error(`console.error: ${message.text()}`);
  });
  page.on("requestfailed", (request) => {
    const [url, own] = [request.url(), ownFile(request.url())];
    if (request.resourceType() === "manifest") return;
    if (own !== undefined && mayBeMissing(own)) return;
    if (own !== undefined) problems.error(`could not load ${own} (${request.failure()?.errorText ?? ""})`);
    else if (!OWN.test(url)) problems.note(`wanted ${cut(url, 200)}, and there is no network`);
  });
  page.on("dialog", (dialog) => {
    problems.disturb(`${dialog.type()} dialog ${quote(dialog.message())}, accepted`);
    dialog.accept(dialog.defaultValue()).catch(() => {});
  });
  page.on("download", (download) => {
    problems.disturb(`download of ${quote(download.suggestedFilename())}, not kept`);
    download.cancel().catch(() => {});
  });
  page.on("crash", () => problems.end(new PageOver("the page crashed")));
  page.on("framenavigated", (frame) => {
    if (frame === page.mainFrame() && !frame.url().startsWith("about:") && ownFile(frame.url()) === undefined)
      problems.disturb(`the page left the project for ${quote(frame.url())}`);
  });
  context.on("page", (other) => {
    if (other === page) return;
    problems.disturb(`window for ${quote(other.url())}, closed`);
    other.close().catch(() => {});
  });
}

/** @param {string} url */
function ownFile(url) {
  return url.startsWith(BASE) ? decodeURI(url.slice(BASE.length)) : undefined;
}

/** Playwright's words without its log: the first line, and why the element was no target. @param {unknown} error */
function plain(error) {
  const text = messageOf(error).replace(/\u001b\[[0-9;]*m/g, "");
  const reason = /^\s*- +(.*(?:intercepts pointer events|is not (?:visible|enabled|stable|editable)|outside of the viewport).*)$/gm;
  const why = [...text.matchAll(reason)].at(-1)?.[1];
  const first = collapse(text.split("\n")[0] ?? "").replace(/^(?:locator|page|keyboard)\.\w+: /i, "");
  return cut(first, 300) + (why === undefined ? "" : `; ${cut(collapse(why), 300)}`);
}

const TYPES = new Map(
  Object.entries({ ".csv": "text/csv", ".json": "application/json", ".md": "text/markdown", ".png": "image/png", ".txt": "text/plain" }),
);

/** Nothing is run here. @param {string} text */
function isScript(text) {
  try {
    return new vm.Script(text) instanceof vm.Script;
  } catch {
    return false;
  }
}

/** One page. Every wait has a limit: a page that does not answer is over. */
class BrowserPage {
  /** @param {BrowserContext} context @param {Page} page @param {Problems} problems */
  constructor(context, page, problems) {
    this.context = context;
    this.page = page;
    this.problems = problems;
    /** The time of the page's clock; undefined while that is the machine's. @type {number | undefined} */
    this.time = undefined;
  }

  /** From here on time stands still until a step moves it. Timers that are due until then run once. @param {number} time */
  async setClock(time) {
    const { clock } = this.page;
    if (this.time === undefined) await clock.install({ time: time - 1000 });
    await this.#moved(this.time === undefined || time >= this.time ? clock.pauseAt(time) : clock.setSystemTime(time));
    this.time = time;
  }

  /** Lets time pass, on the page's clock where it has one. @param {number} ms */
  async pass(ms) {
    if (this.time === undefined) return sleep(ms);
    await this.#moved(this.page.clock.runFor(ms));
    this.time += ms;
  }

  /** @param {Promise<void>} work */
  #moved(work) {
    return within(order.loadTime, work, "the page does not answer while its clock moves; a timer may run without end");
  }

  /** @param {string} address */
  open(address) {
    return this.#load(() => this.page.goto(address, { waitUntil: "load", timeout: order.loadTime }));
  }

  /** @param {() => Promise<unknown>} work */
  async #load(work) {
    try {
      await work();
    } catch (error) {
      if (error instanceof Error && error.name === "TimeoutError")
        throw new PageOver(`the page did not finish loading within ${order.loadTime} ms; a script may run without end`, { cause: error });
      throw new StepFault(plain(error), { cause: error });
    }
  }

  /** All elements; of a text, those that have exactly it before those that contain it. @param {string} at */
  async #all(at) {
    try {
      if (!at.startsWith("text=")) {
        const found = this.page.locator(`css=${at}`);
        await within(order.stepTime, found.count());
        return found;
      }
      const words = at
        .slice(5)
        .trim()
        .replace(/^(["'])(.*)\1$/, "$2");
      const exact = this.page.getByText(words, { exact: true });
      return (await within(order.stepTime, exact.filter({ visible: true }).count())) > 0 ? exact : this.page.getByText(words);
    } catch (error) {
      if (error instanceof PageOver) throw error;
      if (!/selector|parsing/i.test(messageOf(error))) throw new StepFault(plain(error), { cause: error });
      throw new StepFault(`expected a CSS selector or text=, got ${quote(at)}`, { cause: error });
    }
  }

  /** @param {string} at @returns {Promise<Locator>} */
  async #first(at) {
    for (const until = Date.now() + order.waitTime; ; await sleep(LOOK_AGAIN)) {
      const all = await this.#all(at);
      const shown = all.filter({ visible: true });
      if ((await shown.count()) > 0) return shown.first();
      if (Date.now() < until) continue;
      throw new StepFault(`expected an element ${quote(at)}, got none${hiddenWords(await all.count())}`);
    }
  }

  /** @param {PageStep} step */
  async act(step) {
    try {
      await this.#act(step);
    } catch (error) {
      if (error instanceof StepFault || error instanceof Unable || error instanceof PageOver) throw error;
      await within(order.stepTime, this.page.evaluate("1")).catch((fault) => {
        if (fault instanceof PageOver) throw fault;
      });
      throw new StepFault(plain(error), { cause: error });
    }
  }

  /** @param {PageStep} step @returns {Promise<unknown>} */
  async #act(step) {
    const timeout = order.stepTime;
    switch (step.do) {
      case "reload":
        // Timers of the steps before run first: what they throw counts.
        if (this.time === undefined) await within(order.stepTime, this.page.evaluate("new Promise((done) => setTimeout(done))"));
        return this.#load(() => this.page.reload({ waitUntil: "load", timeout: order.loadTime }));
      case "click":
        return (await this.#first(step.at)).click({ timeout });
      case "type":
        return this.#type(await this.#first(step.at), step.text);
      case "press":
        if (step.at === undefined) return within(timeout, this.page.keyboard.press(step.key));
        return (await this.#first(step.at)).press(step.key, { timeout });
      case "select":
        return (await this.#first(step.at)).selectOption(step.value, { timeout });
      case "drag":
        return (await this.#first(step.at)).dragTo(await this.#first(step.to), { timeout: timeout * 2 });
      case "viewport":
        return this.page.setViewportSize({ width: step.width, height: step.height ?? HEIGHT });
      case "upload":
        return this.#upload((await this.#all(step.at)).first(), step);
      default:
        throw new Unable(`there is no step ${quote(step.do)}`);
    }
  }

  /** A field for files may be hidden behind a button that opens the dialog for them. @param {Locator} field @param {Upload} step */
  async #upload(field, { path: name, content = "", base64 }) {
    const timeout = order.stepTime;
    const buffer = base64 === undefined ? Buffer.from(content) : Buffer.from(base64, "base64");
    const file = { name: path.posix.basename(name), mimeType: TYPES.get(path.extname(name)) ?? "application/octet-stream", buffer };
    if (await field.evaluate((element) => element.matches("input, label"), undefined, { timeout }))
      return field.setInputFiles(file, { timeout });
    const [chooser] = await Promise.all([this.page.waitForEvent("filechooser", { timeout }), field.click({ timeout })]);
    return chooser.setFiles(file, { timeout });
  }

  /** The value of a script: of its last expression, or what it returns. @param {string} code @returns {Promise<unknown>} */
  async run(code) {
    const text = [code, `(async () => {\n${code}\n})()`].find(isScript);
    if (text === undefined) throw new Unable(`expected a script in JavaScript, got ${quote(code)}`);
    try {
      return await within(order.stepTime, this.page.evaluate(text));
    } catch (error) {
      throw error instanceof PageOver ? error : new StepFault(plain(error), { cause: error });
    }
  }

  /** @param {string} key @returns {Promise<string | null>} */
  stored(key) {
    return within(
      order.stepTime,
      this.page.evaluate((name) => localStorage.getItem(name), key),
    );
  }

  /** @param {string} key @param {string} value */
  store(key, value) {
    return within(
      order.stepTime,
      this.page.evaluate(([name = "", text = ""]) => localStorage.setItem(name, text), [key, value]),
    );
  }

  /** Replaces the text of a field, key by key, as a user does. @param {Locator} field @param {string} text */
  async #type(field, text) {
    const timeout = order.stepTime;
    const type = await field.evaluate((element) => (element.tagName === "INPUT" ? Reflect.get(element, "type") : ""), undefined, {
      timeout,
    });
    if (type === "file") throw new Unable("a file field cannot be filled");
    if (/^(date|time|month|week|color|range|datetime-local)$/.test(type) || text === "" || text.length > 500)
      return field.fill(text, { timeout });
    await field.click({ timeout });
    await field.selectText({ timeout });
    return field.pressSequentially(text, { timeout: timeout * 2 });
  }

  /** @param {string} at @returns {Promise<Seen>} */
  async look(at) {
    const all = await this.#all(at);
    // A page that is just being replaced by the next one has no elements.
    const seen = await this.#asked(all.evaluateAll(seenOf, MAX_TEXT), { count: 0, hidden: 0, text: "", values: [] });
    // A page may have changed what its scripts use.
    return { count: Number(seen.count), hidden: Number(seen.hidden), text: String(seen.text), values: [...seen.values].map(String) };
  }

  isBlank() {
    return this.#asked(this.page.evaluate(showsNothing), true);
  }

  /** @template T @param {Promise<T>} answer @param {T} otherwise @returns {Promise<T>} */
  #asked(answer, otherwise) {
    return within(order.stepTime, answer).catch((error) => {
      if (error instanceof PageOver) throw error;
      return otherwise;
    });
  }

  /** @param {boolean} isOver */
  async close(isOver) {
    const closed = await within(CLOSE_TIME, this.context.close()).then(
      () => true,
      () => false,
    );
    if (closed && (!isOver || browser.isConnected())) return;
    killBrowser();
    await launch();
  }
}

/** @param {number} hidden */
export function hiddenWords(hidden) {
  return hidden > 0 ? ` shown (${hidden} hidden)` : "";
}
