/**
 * The part of the program inside the sandbox that is the same for a browser and for a DOM: the text of a script for `node -e`, for Node 20.19
 * and later. The text of a page's means follows it (`page-browser.ts`, `page-dom.ts`), which defines `freshPage`, `stopPages` and `startPages`.
 *
 * It reads an order as JSON from standard input, plays the steps of each criterion on a page of its own, and prints one line of JSON for each
 * event. Each line begins with the order's nonce, which a page cannot know. Its reader checks all of it all the same.
 *
 * Every wait has a limit, and so has every criterion: a page that does not answer fails, and the next criterion gets a new page. Rules for
 * texts run here, regular expressions with a time limit.
 */
export const PAGE_DRIVER: string = String.raw`
const fs = require("node:fs"), path = require("node:path"), vm = require("node:vm");
const { pathToFileURL, fileURLToPath } = require("node:url");
const order = JSON.parse(fs.readFileSync(0, "utf8"));
const BASE = pathToFileURL(process.cwd() + "/").href;
const MOST_TEXT = 100000, MOST_LINE = 400, MOST_PROBLEMS = 30, MOST_DISTURBANCES = 20, LOOK_AGAIN = 100, SETTLE = 300;
const ends = Date.now() + order.totalTime;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const cut = (text, most = MOST_LINE) => { const all = String(text); return all.length <= most ? all : all.slice(0, most) + " [cut]"; };
const quote = (text) => JSON.stringify(cut(text, 200));
const collapse = (text) => text.replace(/\s+/g, " ").trim();

function tell(kind, data) {
  const bytes = Buffer.from(order.nonce + " " + JSON.stringify({ kind, ...data }) + "\n");
  for (let at = 0; at < bytes.length; ) {
    try { at += fs.writeSync(1, bytes, at); } catch (error) { if (error.code !== "EAGAIN") throw error; }
  }
}

/** A step failed on the page. */
class StepFault extends Error {}
/** A step cannot be done with these means. */
class Unable extends Error {}
/** The page is beyond use: it crashed, does not answer, or disturbs without end. */
class PageOver extends Error {}

function within(ms, work, words) {
  let timer;
  const limit = new Promise((_, reject) => { timer = setTimeout(() => reject(new PageOver(words)), ms); });
  work.catch(() => {});
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** Collects what happens on one page besides its steps. */
class Problems {
  constructor() { this.errors = []; this.notes = []; this.lacks = []; this.disturbances = 0; this.over = new Promise((_, reject) => { this.end = reject; }); this.over.catch(() => {}); }
  error(what) { this.add(this.errors, what); }
  note(what) { this.add(this.notes, what); }
  /** The page wants what these means do not have: then its failures say nothing. */
  lack(what) { this.add(this.lacks, what); }
  add(list, what) { const line = cut(collapse(cut(what, 4000).replaceAll(BASE, ""))); if (list.length < MOST_PROBLEMS && !list.includes(line)) list.push(line); }
  /** A dialog, a window, a download: a few are told, many end the page. */
  disturb(what) {
    this.note(what);
    this.disturbances += 1;
    if (this.disturbances >= MOST_DISTURBANCES) this.end(new PageOver(MOST_DISTURBANCES + " times and more: " + cut(what, 200)));
  }
  get lackWords() { return this.lacks.length === 0 ? undefined : "the page uses what a DOM does not have (" + this.lacks.join(", ") + ")"; }
  told() { return this.lacks.length === 0 ? { errors: this.errors, notes: this.notes } : { errors: [], notes: [...this.notes, ...this.errors].slice(0, MOST_PROBLEMS) }; }
}

function addressOf(given) {
  const wanted = (given ?? order.open).replace(/^\/+/, "") || order.open;
  let address;
  try { address = new URL(wanted, BASE); } catch { throw new Unable("expected the path of a page of the project, got " + quote(wanted)); }
  if (!address.href.startsWith(BASE)) throw new Unable("expected the path of a page of the project, got " + quote(wanted));
  const file = fileURLToPath(new URL(address.pathname, BASE));
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new StepFault("expected the page " + quote(path.relative(process.cwd(), file)) + ", which is not in the project");
  if (!found.isDirectory()) return address.href;
  if (!fs.existsSync(path.join(file, "index.html"))) throw new StepFault("expected a page in the folder " + quote(wanted) + ", which has no index.html");
  return pathToFileURL(path.join(file, "index.html")).href + address.search + address.hash;
}

function matches(source, texts) {
  try {
    return vm.runInNewContext("texts.some((text) => new RegExp(source, 'm').test(text))", { source, texts }, { timeout: order.ruleTime });
  } catch (error) {
    if (error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") throw new Unable("the regular expression " + quote(source) + " takes too long");
    throw new Unable("expected a regular expression, got " + quote(source) + ": " + cut(error.message, 100));
  }
}

/** The fault of a text, in words; undefined when it keeps the rule. Runs of white space count as one space where that helps. */
function ruleFault(text, rule) {
  const forms = [text.trim(), collapse(text)];
  if (rule.equals !== undefined && forms[0] !== rule.equals.trim() && forms[1] !== collapse(rule.equals)) return "the text " + quote(rule.equals) + ", got " + quote(forms[1]);
  for (const part of rule.contains ?? []) if (!forms.some((form) => form.includes(part))) return "a text with " + quote(part) + ", got " + quote(forms[1]);
  for (const part of rule.lacks ?? []) if (forms.some((form) => form.includes(part))) return "a text without " + quote(part) + ", got " + quote(forms[1]);
  if (rule.matches !== undefined && !matches(rule.matches, forms)) return "a text that matches " + quote(rule.matches) + ", got " + quote(forms[1]);
  return undefined;
}

const elements = (count) => (count === 1 ? "1 element" : count + " elements");
const hiddenWords = (seen) => (seen.hidden > 0 ? " shown (" + seen.hidden + " hidden)" : "");

/** The fault of what is seen, in words. Elements that are not shown do not count. */
function expectFault(seen, step) {
  const { count, visible, value, at } = step;
  const hasRule = ["equals", "contains", "lacks", "matches"].some((part) => step[part] !== undefined);
  const onlyLacks = hasRule && step.equals === undefined && step.contains === undefined && step.matches === undefined;
  if (count !== undefined && seen.count !== count) return "expected " + elements(count) + " " + quote(at) + ", got " + seen.count + hiddenWords(seen);
  if (visible === false && seen.count > 0) return "expected " + quote(at) + " not to be visible, got " + elements(seen.count);
  const mustBe = visible === true || value !== undefined || (hasRule && !onlyLacks) || (!hasRule && count === undefined && visible === undefined);
  if (mustBe && seen.count === 0) return "expected an element " + quote(at) + ", got none" + hiddenWords(seen);
  if (value !== undefined && !seen.values.includes(value)) return "expected " + quote(at) + " to have the value " + quote(value) + ", got " + quote(seen.values[0] ?? "no field");
  const fault = hasRule ? ruleFault(seen.text, step) : undefined;
  return fault === undefined ? undefined : "expected " + quote(at) + " to have " + fault;
}

async function expectOf(page, step) {
  for (const until = Date.now() + order.stepTime; ; await sleep(LOOK_AGAIN)) {
    const seen = await page.look(step.at);
    const fault = expectFault(seen, step);
    // The result must not depend on an element that may or may not be hidden.
    const isSure = seen.doubt === undefined || (fault === undefined) === (expectFault(seen.doubt, step) === undefined);
    if (fault === undefined && isSure) return;
    if (Date.now() < until) continue;
    if (!isSure) throw new Unable("a style may hide " + quote(step.at) + ", which a DOM without layout cannot tell");
    throw new StepFault(fault);
  }
}

function stepOf(page, step) {
  switch (step.do) {
    case "open": return page.open(addressOf(step.path));
    case "expect": return expectOf(page, step);
    case "wait": return sleep(step.ms);
    default: return page.act(step);
  }
}

function stepWords(step) {
  const target = step.at === undefined ? "" : " " + quote(step.at);
  const given = step.text ?? step.key ?? step.value ?? step.to ?? step.path;
  return step.do + target + (step.do === "expect" || given === undefined ? "" : " " + quote(given));
}

/** Plays steps and returns the outcome with the first fault in words. */
async function play(page, steps) {
  const all = steps[0]?.do === "open" ? steps : [{ do: "open" }, ...steps];
  const shift = all.length - steps.length;
  for (const [index, step] of all.entries()) {
    const name = index < shift ? "opening" : "step " + (index + 1 - shift) + " (" + stepWords(step) + ")";
    try {
      await Promise.race([stepOf(page, step), page.problems.over]);
    } catch (error) {
      const outcome = error instanceof Unable ? "not checked" : "failed";
      const led = all.slice(shift, index), open = all.length - index - 1;
      const before = led.length === 0 ? "" : "; before it: " + cut(led.map(stepWords).join(", "), 400);
      const after = open <= 0 ? "" : "; " + (open === 1 ? "1 later step was" : open + " later steps were") + " not reached";
      return { outcome, evidence: name + ": " + cut(error.message, 900) + before + after, isOver: error instanceof PageOver };
    }
  }
  return { outcome: "proven", evidence: steps.length + " steps: " + cut(steps.map(stepWords).join(", "), 600), isOver: false };
}

async function check(criterion) {
  if (Date.now() > ends) return { outcome: "not checked", evidence: "the time for page checks (" + order.totalTime + " ms) was over" };
  tell("begun", { id: criterion.id });
  const page = await freshPage();
  const time = Math.min(order.criterionTime, Math.max(1000, ends - Date.now()));
  const words = "the steps did not end within " + time + " ms, so the page may run a script without end";
  const { outcome, evidence, isOver } = await within(time, play(page, criterion.steps), words).catch((error) => ({ outcome: "failed", evidence: cut(error.message), isOver: true }));
  await page.close(isOver);
  const lacks = outcome === "failed" ? page.problems.lackWords : undefined;
  return { outcome: lacks === undefined ? outcome : "not checked", evidence: cut(lacks === undefined ? evidence : evidence + "; " + lacks, 1500), ...page.problems.told() };
}

/** Opens the page without steps: its errors, whether it shows anything, and a picture. */
async function opening() {
  const page = await freshPage();
  let fault, isOver = false, isDead = false, picture;
  try {
    await Promise.race([page.open(addressOf()), page.problems.over]);
    await sleep(SETTLE);
    const until = Date.now() + order.stepTime;
    while ((await page.isBlank()) && Date.now() < until) await sleep(LOOK_AGAIN);
    if (page.problems.lackWords === undefined && (await page.isBlank())) fault = "the page shows nothing: no text, no picture, no field";
    if (order.picture) picture = await page.picture();
  } catch (error) {
    fault = cut(error.message, 900);
    isOver = error instanceof PageOver;
    isDead = true;
  }
  await page.close(isOver);
  return { fault, isDead, picture, ...page.problems.told() };
}

async function main() {
  const means = await startPages();
  tell("started", { means });
  const opened = order.skipOpening ? undefined : await opening();
  if (opened !== undefined) tell("opened", opened);
  for (const criterion of order.criteria) {
    const opensFirst = criterion.steps[0]?.path === undefined;
    const isDead = opened?.isDead === true && opensFirst;
    tell("result", { id: criterion.id, ...(isDead ? { outcome: "failed", evidence: "opening: " + opened.fault } : await check(criterion)) });
  }
  tell("done", {});
  await stopPages();
  process.exit(0);
}
process.on("unhandledRejection", () => {});
// Its parent is the sandbox; where there is none, nothing else ends this program and its browser with it.
const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) process.exit(1); }, 500).unref();
setImmediate(() => main().catch((error) => { tell("trouble", { reason: cut(error.message ?? error, 1500) }); process.exit(1); }));
`;
