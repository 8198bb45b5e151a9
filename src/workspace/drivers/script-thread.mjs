/*
 * Runs one script of a workflow in QuickJS, in a thread of its own. The script is hostile: it has the language and the globals of
 * `script-globals.mjs`, and nothing of Node.js. QuickJS bounds its memory and its jumps; loops inside of QuickJS, as in a search of a long
 * text, end only with the thread, which its owner kills.
 *
 * Each message of the owner makes one turn. The answer has all that the script asked for in that turn, as lines of JSON.
 */
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

/** @typedef {import("quickjs-emscripten").QuickJSHandle} Handle */

const { engine, memory, jumps, body, settings } = workerData;
/** QuickJS asks once for about 10,000 jumps backward and calls. */
const MOST = jumps / 10_000;
const STACK = 256 * 1024;
/** Bytes of a page of WebAssembly, and the pages with which the engine begins. */
const PAGE = 64 * 1024;
const PAGES = 256;
/** Reactions to promises of one turn, and how many run at once. */
const MAX_JOBS = 250_000;
const JOBS = 1_000;
/** Characters of all lines of one turn. */
const MAX_LINES = 32 * 1024 * 1024;

const { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } = await import(engine);
// The limit of QuickJS itself counts the blocks of WebAssembly, and not their sizes.
const wasmMemory = new WebAssembly.Memory({ initial: PAGES, maximum: Math.max(PAGES, Math.floor(memory / PAGE)) });
const runtime = (await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory }))).newRuntime();
runtime.setMaxStackSize(STACK);
const turn = { checks: 0, length: 0, lines: /** @type {string[]} */ ([]) };
runtime.setInterruptHandler(() => ++turn.checks > MOST);
const context = runtime.newContext();
const settle = globals();

parentPort?.on("message", (/** @type {string | undefined} */ answer) => {
  Object.assign(turn, { checks: 0, length: 0, lines: [] });
  const broken = taken(answer);
  parentPort?.postMessage({ lines: turn.lines, ...(broken === undefined ? {} : { broken }) });
});

function globals() {
  const host = context.newFunction("host", (/** @type {Handle} */ line) => {
    const text = context.getString(line);
    turn.length += text.length;
    if (turn.length <= MAX_LINES) turn.lines.push(text);
  });
  const source = readFileSync(new URL("script-globals.mjs", import.meta.url), "utf8");
  const module = context.unwrapResult(context.evalCode(source, "troupe", { type: "module" }));
  const install = context.getProp(module, "install");
  return context.unwrapResult(context.callFunction(install, context.undefined, host, context.newString(JSON.stringify(settings))));
}

/** @param {string | undefined} answer undefined: the script begins */
function taken(answer) {
  try {
    let fault = faultOf(answer === undefined ? context.evalCode(body, "workflow.js") : answered(answer));
    for (let jobs = 0, ran = JOBS; fault === undefined && ran === JOBS; jobs += ran) {
      if (jobs > MAX_JOBS) return "loops";
      const done = runtime.executePendingJobs(JOBS);
      fault = faultOf(done);
      ran = done.error === undefined ? done.value : 0;
    }
    if (turn.checks > MOST) return "loops";
    return turn.length > MAX_LINES ? "floods" : fault;
  } catch (error) {
    // The stack of WebAssembly ended, or memory: the engine is in no state to continue.
    return String(error);
  }
}

/** @param {string} answer */
function answered(answer) {
  const text = context.newString(answer);
  const result = context.callFunction(settle, context.undefined, text);
  text.dispose();
  return result;
}

/** @param {{ error?: Handle }} result */
function faultOf(result) {
  if (result.error === undefined) return undefined;
  const { name, message } = context.dump(result.error) ?? {};
  return `${name}: ${message}`;
}
