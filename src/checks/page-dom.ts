import { DOM_CHILD } from "./page-dom-process.ts";

/**
 * The part of the page driver for a DOM, by `happy-dom`: see `page-driver.ts`. Each page is a process of its own ({@link DOM_CHILD}), because
 * scripts of a page run in the process of the DOM: one that loops is killed with it. The driver keeps the order, its nonce and all rules.
 *
 * A DOM has no layout. What a style may hide is not known to be seen, and nothing can be dragged: such steps are not checked.
 */
const DOM_PARENT: string = String.raw`
const { spawn } = require("node:child_process");
const START_TIME = 20000;
const pages = new Set();

/** The process of the next page starts while a page is used; as many as will be opened at most. */
let spare, pagesLeft = order.criteria.length + (order.skipOpening ? 0 : 1);

/** Without the package the first process ends at once, and no page can be checked. */
async function startPages() {
  require.resolve(order.driver);
  spare = startPage();
  await hasStarted(spare);
  return "a DOM by happy-dom";
}

function hasStarted(page) {
  return Promise.race([within(START_TIME, page.started, "the process of the DOM did not start"), page.problems.over]);
}

async function stopPages() {
  for (const page of pages) page.child.kill("SIGKILL");
}

class DomPage {
  constructor(child, problems) {
    this.child = child;
    this.problems = problems;
    this.waiting = new Map();
    this.asked = 0;
    this.started = new Promise((resolve) => { this.start = resolve; });
    child.on("message", (message) => this.hear(message));
    child.on("exit", () => problems.end(new PageOver("the page ended the process of the DOM")));
    child.on("error", () => problems.end(new PageOver("the process of the DOM could not be started")));
  }

  hear(message) {
    if (typeof message !== "object" || message === null) return;
    const text = cut(message.text ?? "", 4000);
    if (message.kind === "error") this.problems.error(text);
    else if (message.kind === "note") this.problems.note(text);
    else if (message.kind === "lack") this.problems.lack(text);
    else if (message.kind === "ready") this.start();
    else if (message.kind === "disturb") this.problems.disturb(text);
    else this.waiting.get(message.call)?.(message);
  }

  async ask(time, what, given) {
    const call = (this.asked += 1);
    const answer = new Promise((resolve) => this.waiting.set(call, resolve));
    this.child.send({ call, what, given, times: { step: order.stepTime, load: order.loadTime } }, () => {});
    const words = what === "open" ? "the page did not finish loading within " + time + " ms; a script may run without end" : "the page does not answer; a script may run without end";
    const { fault, unable, value } = await within(time, answer, words);
    this.waiting.delete(call);
    if (unable !== undefined) throw new Unable(cut(unable, 900));
    if (fault !== undefined) throw new StepFault(cut(fault, 900));
    return value;
  }

  /** A page opened as a file has no modules in a browser: there it would be dead. */
  async open(address) {
    const text = fs.readFileSync(fileURLToPath(address.split(/[?#]/)[0]), "utf8").replace(/<!--[^]*?-->/g, "");
    if (/<script\b[^>]*\btype=["']?module\b[^>]*\bsrc=|<script\b[^>]*\bsrc=[^>]*\btype=["']?module\b/i.test(text) || /<script\b[^>]*\btype=["']?module\b[^>]*>[^<]*\bimport\b[^<;]*["']\.{0,2}\//i.test(text)) {
      this.problems.error("a module script");
      throw new StepFault("the page needs a module script, and a browser loads none for a page opened as a file");
    }
    await this.ask(order.loadTime, "open", { path: address.slice(BASE.length) });
  }

  async act(step) {
    if (step.do === "drag") throw new Unable("a DOM without layout cannot drag");
    await this.ask(step.do === "reload" ? order.loadTime : order.stepTime * 3, step.do, step);
  }

  async look(at) {
    const seen = Object(await this.ask(order.stepTime, "look", { at }));
    return { ...this.seen(seen), doubt: this.seen(Object(seen.doubt)) };
  }

  seen({ count, hidden, text, values }) {
    return { count: Number(count), hidden: Number(hidden), text: cut(text ?? "", MOST_TEXT), values: (Array.isArray(values) ? values : []).map((one) => cut(one, 2000)) };
  }

  async isBlank() { return (await this.ask(order.stepTime, "blank", {})) === true; }

  async picture() { return undefined; }

  async close() {
    pages.delete(this);
    this.child.kill("SIGKILL");
  }
}

async function freshPage() {
  const page = spare;
  await hasStarted(page).catch((error) => page.problems.end(error));
  pagesLeft -= 1;
  spare = pagesLeft > 0 ? startPage() : undefined;
  return page;
}

function startPage() {
  const child = spawn(process.execPath, ["--input-type=commonjs", "-e", DOM_CHILD, order.driver], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const page = new DomPage(child, new Problems());
  pages.add(page);
  return page;
}
`;

/** The whole part for a DOM: the driver's, with the program of its child. */
export const DOM_PAGES: string = `const DOM_CHILD = ${JSON.stringify(DOM_CHILD)};\n${DOM_PARENT}`;
