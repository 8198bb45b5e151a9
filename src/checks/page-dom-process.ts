/**
 * The process of one page in a DOM: the text of a script for `node -e`, with the path of `happy-dom` as its argument. It does to the page what
 * a user's hands do, as events, and says what is seen. Scripts of the page run in this process and can change its answers as they can change
 * the page: it knows neither the expectations nor the report.
 */
export const DOM_CHILD: string = String.raw`
const fs = require("node:fs"), path = require("node:path");
const { Browser, BrowserErrorCaptureEnum } = require(process.argv[1]);
const HOST = "http://page.invalid/", FIELDS = ["INPUT", "TEXTAREA", "SELECT"], MOST_TOLD = 60;
let told = 0, local = {}, session = {}, changed;
const tell = (kind, text) => { if ((told += 1) <= MOST_TOLD) process.send({ kind, text: String(text).slice(0, 4000) }); };
const wordsOf = (error) => (error?.message === undefined ? String(error) : (error.name ?? "Error") + ": " + error.message);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
class Fault extends Error {}
class Unable extends Error {}

const browser = new Browser({
  settings: {
    enableJavaScriptEvaluation: true,
    suppressInsecureJavaScriptEnvironmentWarning: true,
    enableCSSFileLoading: true,
    errorCapture: BrowserErrorCaptureEnum.tryAndCatch,
    fetch: {
      virtualServers: [{ url: HOST, directory: process.cwd() }],
      interceptor: { beforeAsyncRequest: ({ request, window }) => refuse(request.url, window), beforeSyncRequest: ({ request, window }) => refuse(request.url, window) },
    },
    navigation: { beforeContentCallback: prepare },
  },
});
const page = browser.newPage();
page.setViewport({ width: 1280, height: 800 });

function refuse(url, window) {
  if (url.startsWith(HOST)) {
    const file = path.join(process.cwd(), decodeURIComponent(new URL(url).pathname));
    if (!fs.existsSync(file)) tell("error", "could not load " + decodeURIComponent(new URL(url).pathname).slice(1));
    return undefined;
  }
  tell("note", "wanted " + url.slice(0, 200) + ", and there is no network");
  throw new window.TypeError("Failed to fetch");
}

/** Before the scripts of a page run: storage of the page before, dialogs that are accepted, no requests of its own. */
function prepare(window) {
  for (const [name, store] of [["localStorage", local], ["sessionStorage", session]]) for (const key of Object.keys(store)) window[name].setItem(key, store[key]);
  local = window.localStorage;
  session = window.sessionStorage;
  changed = undefined;
  const dialog = (name, answer) => (text, given) => { tell("disturb", name + " dialog " + JSON.stringify(String(text ?? "").slice(0, 200)) + ", accepted"); return answer(given); };
  window.alert = dialog("alert", () => undefined);
  window.confirm = dialog("confirm", () => true);
  window.prompt = dialog("prompt", (given) => given ?? "");
  lackIn(window);
  window.structuredClone ??= structuredClone;
  announce(window);
  const openHere = window.open.bind(window);
  window.open = (url, target) => {
    // Links that stay on the page come here too.
    if (["_self", "_top", "_parent"].includes(target)) return openHere(url, target);
    tell("disturb", "window for " + JSON.stringify(String(url ?? "").slice(0, 200)) + ", closed"); return null; };
  window.fetch = (url) => { tell("note", "wanted " + String(url?.url ?? url).slice(0, 200) + ", and a page opened as a file may not"); return Promise.reject(new window.TypeError("Failed to fetch")); };
  window.addEventListener("error", (event) => tell("error", "uncaught " + wordsOf(event.error ?? event)));
  for (const name of Object.keys(window.console)) if (typeof window.console[name] === "function") window.console[name] = () => {};
  window.console.error = (...given) => { if (!(given[0] instanceof Error) && !(given[0] instanceof window.Error) && !/^(?:GET |Error: Failed to)/.test(String(given[0]))) tell("error", "console.error: " + given.map((one) => (typeof one === "string" ? one : wordsOf(one))).join(" ")); };
}
/** Tells a page when its document is there, as browsers do: happy-dom tells only that everything is loaded. */
function announce(window) {
  const page = window.document;
  let phase = "loading", isHeard = false;
  Object.defineProperty(page, "readyState", { configurable: true, get: () => phase });
  window.addEventListener("DOMContentLoaded", () => { isHeard = true; });
  // Writing the document takes its listeners away, and not those of the window. This one is the first of them.
  window.addEventListener("load", (event) => {
    if (phase !== "loading" || (event.target !== window && event.target !== page)) return;
    phase = "interactive";
    page.dispatchEvent(new window.Event("DOMContentLoaded", { bubbles: true }));
    if (!isHeard) window.dispatchEvent(new window.Event("DOMContentLoaded"));
    phase = "complete";
  });
}

/** A page that wants what is not here may fail without a fault of its own. */
function lackIn(window) {
  for (const name of ["indexedDB", "AudioContext", "webkitAudioContext", "Worker", "SharedWorker", "BroadcastChannel", "OffscreenCanvas", "speechSynthesis", "RTCPeerConnection", "requestIdleCallback"]) {
    if (name in window) continue;
    Object.defineProperty(window, name, { configurable: true, get: () => void tell("lack", name), set: (value) => Object.defineProperty(window, name, { value, writable: true }) });
  }
  for (const [kind, method] of [["HTMLCanvasElement", "getContext"], ["Element", "getBoundingClientRect"], ["Element", "animate"], ["Document", "elementFromPoint"], ["SVGElement", "getBBox"]]) {
    const prototype = window[kind]?.prototype;
    if (prototype === undefined) continue;
    const real = prototype[method];
    prototype[method] = function (...given) { tell("lack", method); return real?.apply(this, given); };
  }
}
process.on("unhandledRejection", (reason) => tell("error", "uncaught " + wordsOf(reason)));
process.on("uncaughtException", (error) => tell("error", "uncaught " + wordsOf(error)));
process.on("disconnect", () => process.exit(0));

const win = () => page.mainFrame.window;
const doc = () => win().document;

async function loaded(time) {
  await sleep(0);
  for (const until = Date.now() + time; Date.now() < until && page.mainFrame.document?.readyState !== "complete"; ) await sleep(20);
  await sleep(30);
}

/** The rules of the page's style sheets that say whether elements are shown. */
function showingRules() {
  const rules = [];
  const collect = (list) => {
    for (const rule of list ?? []) {
      if (rule.cssRules !== undefined && (rule.media === undefined || win().matchMedia(rule.media.mediaText).matches)) collect(rule.cssRules);
      if (rule.selectorText === undefined) continue;
      const { display = "", visibility = "", contentVisibility = "" } = rule.style ?? {};
      if (display !== "") rules.push({ selector: rule.selectorText, hides: display === "none", isDisplay: true });
      if (visibility === "hidden" || contentVisibility === "hidden") rules.push({ selector: rule.selectorText, hides: true, isDisplay: false });
    }
  };
  for (const sheet of doc().styleSheets ?? []) collect(sheet.cssRules);
  return rules;
}

const fits = (element, selector) => { try { return element.matches(selector); } catch { return undefined; } };

/** "hidden" or "shown" where all rules for it agree, "unsure" where their order counts. */
function ruledState(element, rules) {
  const inline = element.style?.display ?? "";
  const found = rules.map((rule) => ({ ...rule, fits: fits(element, rule.selector) })).filter((rule) => rule.fits !== false);
  const hiding = found.filter((rule) => rule.hides && !(rule.isDisplay && inline !== ""));
  if (hiding.length === 0) return "shown";
  const isClear = found.every((rule) => rule.fits === true && rule.hides && rule.isDisplay);
  return isClear ? "hidden" : "unsure";
}

/** "hidden" or "shown" for sure, or "unsure" where a style may hide it. */
function stateOf(element, rules) {
  let state = "shown";
  for (let one = element; one !== null && one !== undefined && one.nodeType === 1; one = one.parentElement) {
    if (one.style?.display === "none" || one.style?.visibility === "hidden") return "hidden";
    if (one.tagName === "DIALOG" && !one.hasAttribute("open")) return "hidden";
    if (one.tagName === "DETAILS" && one !== element && !one.hasAttribute("open") && element.closest("summary") === null) return "hidden";
    if (one.tagName === "TEMPLATE" || (one.tagName === "INPUT" && one.type === "hidden")) return "hidden";
    const ruled = ruledState(one, rules);
    if (ruled === "hidden") return "hidden";
    // The attribute hides by a rule of the browser, which any rule of the page defeats.
    if (one.hasAttribute("hidden") && ruled === "shown") {
      if (!rules.some((rule) => rule.isDisplay && !rule.hides && fits(one, rule.selector) !== false) && (one.style?.display ?? "") === "") return "hidden";
      state = "unsure";
    }
    if (ruled === "unsure") state = "unsure";
  }
  return state;
}

const collapse = (text) => String(text ?? "").replace(/\s+/g, " ").trim();
const ownText = (element) => (FIELDS.includes(element.tagName) ? (["submit", "button", "reset"].includes(element.type) ? element.value : "") : element.textContent);

function all(at) {
  if (!at.startsWith("text=")) {
    try { return [...doc().querySelectorAll(at)]; } catch { throw new Fault("expected a CSS selector or text=, got " + JSON.stringify(at)); }
  }
  const words = collapse(at.slice(5)).replace(/^(["'])(.*)\1$/, "$2");
  const those = [...doc().body.querySelectorAll("*")].filter((one) => !["SCRIPT", "STYLE", "TEMPLATE"].includes(one.tagName));
  const innermost = (list) => list.filter((one) => !list.some((other) => other !== one && one.contains(other)));
  const exact = innermost(those.filter((one) => collapse(ownText(one)) === words));
  return exact.length > 0 ? exact : innermost(those.filter((one) => collapse(ownText(one)).toLowerCase().includes(words.toLowerCase())));
}

async function first(at, time) {
  for (const until = Date.now() + time; ; await sleep(50)) {
    const rules = showingRules();
    const found = all(at).map((element) => ({ element, state: stateOf(element, rules) }));
    const shown = found.find(({ state }) => state === "shown");
    if (shown !== undefined) return shown.element;
    if (Date.now() < until) continue;
    if (found.some(({ state }) => state === "unsure")) throw new Unable("a style may hide " + JSON.stringify(at) + ", which a DOM without layout cannot tell");
    throw new Fault("expected an element " + JSON.stringify(at) + ", got none" + (found.length > 0 ? " shown (" + found.length + " hidden)" : ""));
  }
}

function send(element, type, kind, more) {
  const Kind = win()[kind] ?? win().Event;
  return element.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, composed: true, ...more }));
}

function settleChange() {
  const field = changed;
  changed = undefined;
  if (field?.isConnected) send(field, "change", "Event");
}

function focus(element) {
  const target = element.closest("input, textarea, select, button, a[href], [tabindex], [contenteditable]");
  if (doc().activeElement === target) return;
  if (changed !== undefined && changed !== target) settleChange();
  if (target === null) doc().activeElement?.blur?.();
  else target.focus();
}

function click(element) {
  if (element.disabled || element.closest("fieldset[disabled]") !== null) throw new Fault("the element is not enabled");
  send(element, "pointerdown", "PointerEvent");
  if (send(element, "mousedown", "MouseEvent")) focus(element);
  send(element, "pointerup", "PointerEvent");
  send(element, "mouseup", "MouseEvent");
  element.click();
}

const isText = (element) => element.tagName === "TEXTAREA" || (element.tagName === "INPUT" && !["checkbox", "radio", "button", "submit", "reset", "file", "image", "range", "color"].includes(element.type));

function write(field, text, data) {
  if (field.isContentEditable || field.hasAttribute?.("contenteditable")) field.textContent = text;
  else field.value = text;
  changed = field;
  send(field, "input", "InputEvent", { data, inputType: data === null ? "deleteContentBackward" : "insertText" });
}

function type(field, text) {
  const edits = field.hasAttribute("contenteditable");
  if (field.type === "file") throw new Unable("a file field cannot be filled");
  if (!FIELDS.includes(field.tagName) && !edits) throw new Fault("the element is no field");
  if (field.disabled || field.readOnly) throw new Fault("the field is not enabled");
  click(field);
  if (!isText(field) && !edits) { write(field, text, text); return settleChange(); }
  if (/^(date|time|month|week|datetime-local)$/.test(field.type) || text === "") return write(field, text, text === "" ? null : text);
  let sofar = "";
  for (const letter of text) {
    if (send(field, "keydown", "KeyboardEvent", { key: letter })) write(field, (sofar += letter), letter);
    send(field, "keyup", "KeyboardEvent", { key: letter });
  }
}

function press(element, words) {
  const parts = words === "+" ? ["+"] : words.split("+");
  const key = { Space: " " }[parts.at(-1)] ?? parts.at(-1);
  const held = new Set(parts.slice(0, -1));
  const more = { key, code: parts.at(-1), ctrlKey: held.has("Control") || held.has("ControlOrMeta"), shiftKey: held.has("Shift"), altKey: held.has("Alt"), metaKey: held.has("Meta") };
  if (key === "Tab") throw new Unable("a DOM without layout does not move the focus by Tab");
  const goesOn = send(element, "keydown", "KeyboardEvent", more);
  if (goesOn && held.size === 0) pressed(element, key);
  send(doc().activeElement ?? element, "keyup", "KeyboardEvent", more);
}

function pressed(element, key) {
  const isButton = element.tagName === "BUTTON" || ["button", "submit", "reset"].includes(element.type);
  if (key === "Enter" && (isButton || element.tagName === "A")) return element.click();
  if (key === "Enter" && element.tagName === "INPUT") {
    settleChange();
    const form = element.form ?? element.closest("form");
    const button = form?.querySelector("button:not([type=button]):not([type=reset]), input[type=submit]");
    return button ? button.click() : form?.requestSubmit();
  }
  if (key === " " && (isButton || ["checkbox", "radio"].includes(element.type))) return element.click();
  if (!isText(element)) return;
  if (key === "Backspace") write(element, element.value.slice(0, -1), null);
  else if ([...key].length === 1) write(element, element.value + key, key);
  else if (key === "Enter") write(element, element.value + "\n", null);
}

function select(element, value) {
  const option = [...(element.options ?? [])].find((one) => one.value === value || collapse(one.textContent) === value);
  if (option === undefined) throw new Fault("expected an option " + JSON.stringify(value) + ", got none");
  focus(element);
  element.value = option.value;
  send(element, "input", "Event");
  send(element, "change", "Event");
}

const labelOf = (field) => collapse([...(field.options ?? [])].find((one) => one.value === field.value)?.textContent);

function valuesOf(element) {
  if (element === undefined) return [];
  if (["checkbox", "radio"].includes(element.type)) return element.checked ? [element.value, "on", "true", "checked"] : ["off", "false", "unchecked"];
  if (element.tagName === "SELECT") return [element.value, labelOf(element)];
  return [FIELDS.includes(element.tagName) ? element.value : (element.getAttribute("value") ?? "")];
}

/** Text without that of scripts and of what is hidden for sure; blocks end a line. */
function textOf(element, rules, states) {
  if (element.tagName === "SELECT") return labelOf(element);
  if (FIELDS.includes(element.tagName)) return element.value;
  const isBlock = /^(ADDRESS|ARTICLE|ASIDE|BLOCKQUOTE|BR|DD|DIV|DL|DT|FIELDSET|FIGURE|FOOTER|FORM|H[1-6]|HEADER|HR|LI|MAIN|NAV|OL|P|PRE|SECTION|TABLE|TR|UL)$/;
  const parts = (node) => {
    if (node.nodeType === 3) return node.data.replace(/\s+/g, " ");
    if (node.nodeType !== 1 || ["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT"].includes(node.tagName) || (node !== element && !states.includes(stateOf(node, rules)))) return "";
    const inner = [...node.childNodes].map(parts).join("");
    return isBlock.test(node.tagName) ? "\n" + inner + "\n" : inner;
  };
  return parts(element).replace(/ *\n[ \n]*/g, "\n").trim();
}

/** The visible elements where styles hide nothing that is unsure, and, in "doubt", where they hide all of it. */
function look({ at }) {
  const rules = showingRules();
  const found = all(at).map((element) => ({ element, state: stateOf(element.closest("select") ?? element, rules) }));
  const seenWith = (states) => {
    const shown = found.filter(({ state }) => states.includes(state)).map(({ element }) => element);
    return { count: shown.length, hidden: found.length - shown.length, text: shown.map((one) => textOf(one, rules, states)).join("\n"), values: valuesOf(shown[0]) };
  };
  return { ...seenWith(["shown", "unsure"]), doubt: seenWith(["shown"]) };
}

function isBlank() {
  const body = doc().body;
  return body === null || (textOf(body, showingRules(), ["shown", "unsure"]) === "" && body.querySelector("img, svg, canvas, video, audio, input, button, textarea, select, iframe, object, embed") === null);
}

async function go(url, time) {
  const response = await page.goto(url, { timeout: time }).catch((error) => { throw new Fault(wordsOf(error)); });
  if (response !== null && response !== undefined && !response.ok) throw new Fault("expected a page of the project, got status " + response.status);
  await loaded(time);
}

async function act(what, given, times) {
  switch (what) {
    case "open": return go(HOST + given.path, times.load);
    case "reload": return go(page.mainFrame.url, times.load);
    case "look": return look(given);
    case "blank": return isBlank();
    case "click": return void click(await first(given.at, times.step));
    case "type": return void type(await first(given.at, times.step), given.text);
    case "select": return void select(await first(given.at, times.step), given.value);
    case "press": {
      const element = given.at === undefined ? (doc().activeElement ?? doc().body) : await first(given.at, times.step);
      if (given.at !== undefined) focus(element);
      return void press(element, given.key);
    }
    default: throw new Unable("there is no step " + JSON.stringify(what));
  }
}

process.send({ kind: "ready" });
process.on("message", ({ call, what, given, times }) => {
  act(what, given, times).then(
    async (value) => { await sleep(10); process.send({ call, value }); },
    (error) => process.send(error instanceof Unable ? { call, unable: error.message } : { call, fault: error instanceof Fault ? error.message : wordsOf(error) }),
  );
});
`;
