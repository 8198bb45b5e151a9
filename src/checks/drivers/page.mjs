/* Plays the steps of each criterion on a page of its own, inside the sandbox. A page that does not answer fails its criterion alone. */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { freshPage, hiddenWords, launch, sleep, stopBrowser } from "./browser.mjs";
import { order, report, root, writeGiven } from "./order.mjs";
import { BASE, collapse, cut, messageOf, PageOver, quote, StepFault, Unable, within } from "./page-problems.mjs";
import { matches, RuleError } from "./text-rules.mjs";

/** @import { PageStep, TextRule } from "../acceptance.ts" */
/** @import { Seen } from "./browser.mjs" */
/** @typedef {Awaited<ReturnType<typeof freshPage>>} FreshPage */

const SETTLE = 300;
const LOOK_AGAIN = 100;
const ends = Date.now() + order.totalTime;

/** The address of a page of the project. @param {string} [given] */
function addressOf(given) {
  const wanted = (given ?? order.open).replace(/^\/+/, "") || order.open;
  const address = URL.canParse(wanted, BASE) ? new URL(wanted, BASE) : undefined;
  if (address?.href.startsWith(BASE) !== true) throw new Unable(`expected the path of a page of the project, got ${quote(wanted)}`);
  const file = fileURLToPath(new URL(address.pathname, BASE));
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new StepFault(`expected the page ${quote(path.relative(root, file))}, which is not in the project`);
  if (!found.isDirectory()) return address.href;
  const index = path.join(file, "index.html");
  if (!fs.existsSync(index)) throw new StepFault(`expected a page in the folder ${quote(wanted)}, which has no index.html`);
  return pathToFileURL(index).href + address.search + address.hash;
}

/** The fault of a text; undefined when it keeps the rule. Runs of white space count as one space where that helps. @param {string} text @param {TextRule} rule */
function ruleFault(text, { equals, contains = [], lacks = [], matches: pattern }) {
  const forms = [text.trim(), collapse(text)];
  const got = `got ${quote(forms[1])}`;
  if (equals !== undefined && forms[0] !== equals.trim() && forms[1] !== collapse(equals)) return `the text ${quote(equals)}, ${got}`;
  const missing = contains.find((part) => !forms.some((form) => form.includes(part)));
  if (missing !== undefined) return `a text with ${quote(missing)}, ${got}`;
  const extra = lacks.find((part) => forms.some((form) => form.includes(part)));
  if (extra !== undefined) return `a text without ${quote(extra)}, ${got}`;
  return pattern === undefined || matches(pattern, forms, order.ruleTime) ? undefined : `a text that matches ${quote(pattern)}, ${got}`;
}

/** @param {number} count */
function elements(count) {
  return count === 1 ? "1 element" : `${count} elements`;
}

/** The fault of what is seen. Elements that are not shown do not count. @param {Seen} seen @param {Extract<PageStep, { do: "expect" }>} step */
function expectFault(seen, step) {
  const { count, visible, value, at } = step;
  const hasRule = ["equals", "contains", "lacks", "matches"].some((part) => part in step);
  const onlyLacks = hasRule && step.equals === undefined && step.contains === undefined && step.matches === undefined;
  if (count !== undefined && seen.count !== count)
    return `expected ${elements(count)} ${quote(at)}, got ${seen.count}${hiddenWords(seen.hidden)}`;
  if (visible === false && seen.count > 0) return `expected ${quote(at)} not to be visible, got ${elements(seen.count)}`;
  const isAsked = hasRule || count !== undefined || visible !== undefined;
  const mustBe = visible === true || value !== undefined || (hasRule && !onlyLacks) || !isAsked;
  if (mustBe && seen.count === 0) return `expected an element ${quote(at)}, got none${hiddenWords(seen.hidden)}`;
  if (value !== undefined && !seen.values.includes(value))
    return `expected ${quote(at)} to have the value ${quote(value)}, got ${quote(seen.values[0] ?? "no field")}`;
  const fault = hasRule ? ruleFault(seen.text, step) : undefined;
  return fault === undefined ? undefined : `expected ${quote(at)} to have ${fault}`;
}

/** Looks until nothing is wrong. @param {() => Promise<string | undefined>} look */
async function holds(look) {
  for (const until = Date.now() + order.waitTime; ; await sleep(LOOK_AGAIN)) {
    const fault = await look();
    if (fault === undefined) return;
    if (Date.now() >= until) throw new StepFault(fault);
  }
}

/** @param {string} what @param {string[]} lines @param {Extract<PageStep, { do: "console" | "requests" }>} step */
function linesFault(what, lines, { count, ...rule }) {
  const shown = lines.length === 0 ? "" : `: ${cut(lines.join("; "), 300)}`;
  if (count !== undefined && lines.length !== count) return `expected ${count} ${what}, got ${lines.length}${shown}`;
  const fault = ruleFault(lines.join("\n"), rule);
  return fault === undefined ? undefined : `expected the ${what} to be ${fault}`;
}

/** @param {FreshPage} page @param {Extract<PageStep, { do: "storage" }>} step */
async function storageFault(page, { key, absent = false, ...rule }) {
  const value = await page.stored(key);
  if (absent) return value === null ? undefined : `expected no value ${quote(key)} in local storage, got ${quote(value)}`;
  const fault = value === null ? "a value, got none" : ruleFault(value, rule);
  return fault === undefined ? undefined : `expected ${quote(key)} in local storage to have ${fault}`;
}

/** @param {FreshPage} page @param {Extract<PageStep, { do: "script" }>} step */
async function runScript(page, { code, value }) {
  const text = JSON.stringify((await page.run(code)) ?? null);
  if (value !== undefined && !isDeepStrictEqual(JSON.parse(text), value))
    throw new StepFault(`expected the script to give ${cut(JSON.stringify(value))}, got ${cut(text)}`);
}

/** A time without a zone is one of the page, which is in UTC. @param {string} time */
function timeOf(time) {
  return Date.parse(!time.includes("T") || /(Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`);
}

/** @param {FreshPage} page @param {PageStep} step @returns {Promise<unknown>} */
async function doStep(page, step) {
  switch (step.do) {
    case "open":
      return page.open(addressOf(step.path));
    case "expect":
      return holds(async () => expectFault(await page.look(step.at), step));
    case "wait":
      return page.pass(step.ms);
    case "clock":
      return step.set === undefined ? page.pass(step.advance ?? 0) : page.setClock(timeOf(step.set));
    case "storage":
      return step.set === undefined ? holds(() => storageFault(page, step)) : page.store(step.key, step.set);
    case "script":
      return runScript(page, step);
    case "console":
    case "requests":
      // The effects of the step before are seen a moment later.
      await sleep(SETTLE);
      return holds(() => Promise.resolve(linesFault(step.do, page.problems.seen[step.do], step)));
    default:
      return page.act(step);
  }
}

/** @param {any} step */
function stepWords(step) {
  const target = step.at === undefined ? "" : ` ${quote(step.at)}`;
  const given = step.text ?? step.key ?? step.code ?? step.value ?? step.to ?? step.path ?? step.set ?? step.advance ?? step.width;
  return step.do + target + (step.do === "expect" || given === undefined ? "" : ` ${quote(given)}`);
}

/** Plays steps, and returns the outcome with the first fault. @param {FreshPage} page @param {PageStep[]} steps */
async function play(page, steps) {
  // The answers that a page may ask for while it loads are prepared before.
  const first = steps.findIndex((step) => step.do !== "clock" && step.do !== "viewport");
  const led = first === -1 ? steps : steps.slice(0, first);
  const opens = steps[led.length]?.do === "open" ? [] : [/** @type {PageStep} */ ({ do: "open" })];
  const all = [...led, ...opens, ...steps.slice(led.length)];
  if (steps.some((step) => step.do === "clock") && !led.some((step) => step.do === "clock")) await page.setClock(Date.now());
  for (const [index, step] of all.entries()) {
    try {
      await Promise.race([doStep(page, step), page.problems.over]);
    } catch (error) {
      const name = opens.includes(step) ? "opening" : `step ${steps.indexOf(step) + 1} (${stepWords(step)})`;
      const [done, open] = [all.slice(0, index).filter((one) => !opens.includes(one)), all.length - index - 1];
      const before = done.length === 0 ? "" : `; before it: ${cut(done.map(stepWords).join(", "), 400)}`;
      const after = open === 0 ? "" : `; ${open === 1 ? "1 later step was" : `${open} later steps were`} not reached`;
      const outcome = error instanceof Unable || error instanceof RuleError ? "not checked" : "failed";
      return { outcome, evidence: `${name}: ${cut(messageOf(error), 900)}${before}${after}`, isOver: error instanceof PageOver };
    }
  }
  return { outcome: "proven", evidence: `${steps.length} steps: ${cut(steps.map(stepWords).join(", "), 600)}`, isOver: false };
}

/** Writes the files of a criterion. Returns a function that puts the folder back for the next one. @param {any[]} given */
function withGiven(given) {
  const before = given.map(({ path: name }) => {
    const file = path.join(root, name);
    return { file, bytes: fs.existsSync(file) ? fs.readFileSync(file) : undefined };
  });
  for (const one of given) writeGiven(one);
  return () => {
    for (const { file, bytes } of before) {
      if (bytes === undefined) fs.rmSync(file, { force: true });
      else fs.writeFileSync(file, bytes);
    }
  };
}

/** @param {{ id: string; steps: PageStep[]; given?: any[] }} criterion */
async function check(criterion) {
  const { id, given = [] } = criterion;
  let putBack = () => {};
  try {
    putBack = withGiven(given);
    return await played(criterion);
  } catch (error) {
    await report({ kind: "begun", id });
    return { outcome: "failed", evidence: `its files cannot be given: ${cut(messageOf(error), 900)}`, errors: [], notes: [] };
  } finally {
    putBack();
  }
}

/** @param {{ id: string; steps: PageStep[] }} criterion */
async function played({ id, steps }) {
  if (Date.now() > ends) return { outcome: "not checked", evidence: `the time for page checks (${order.totalTime} ms) was over` };
  await report({ kind: "begun", id });
  const page = await freshPage();
  const time = Math.min(order.criterionTime, Math.max(1000, ends - Date.now()));
  const words = `the steps did not end within ${time} ms, so the page may run a script without end`;
  const { outcome, evidence, isOver } = await within(time, play(page, steps), words).catch((error) => ({
    outcome: "failed",
    evidence: cut(messageOf(error)),
    isOver: true,
  }));
  await page.close(isOver);
  return { outcome, evidence: cut(evidence, 1500), errors: page.problems.errors, notes: page.problems.notes };
}

async function opening() {
  const page = await freshPage();
  const { errors, notes, over } = page.problems;
  try {
    await Promise.race([page.open(addressOf()), over]);
    await sleep(SETTLE);
    const until = Date.now() + order.stepTime;
    while ((await page.isBlank()) && Date.now() < until) await sleep(LOOK_AGAIN);
    const fault = (await page.isBlank()) ? "the page shows nothing: no text, no picture, no field" : undefined;
    await page.close(false);
    return { fault, isDead: false, errors, notes };
  } catch (error) {
    await page.close(error instanceof PageOver);
    return { fault: cut(messageOf(error), 900), isDead: true, errors, notes };
  }
}

async function main() {
  await launch();
  await report({ kind: "started" });
  const opened = order.skipOpening ? undefined : await opening();
  if (opened !== undefined) await report({ kind: "opened", ...opened });
  for (const criterion of order.criteria) {
    const isDead =
      opened?.isDead === true && !criterion.steps.some((/** @type {PageStep} */ step) => step.do === "open" && step.path !== undefined);
    const result = isDead ? { outcome: "failed", evidence: `opening: ${opened.fault}` } : await check(criterion);
    await report({ kind: "result", id: criterion.id, ...result });
  }
  await report({ kind: "done" });
  await stopBrowser();
}

process.on("unhandledRejection", () => {});
// Its parent is the sandbox; where there is none, nothing else ends this program and its browser with it.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(1), 500).unref();
await main().catch((error) => report({ kind: "trouble", reason: cut(messageOf(error), 1500) }));
process.exit(0);
