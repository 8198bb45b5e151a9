/*
 * Runs one script of a workflow in QuickJS, in a thread of its own. The script is hostile: it has the language and the globals of `prelude`,
 * and nothing of Node.js. QuickJS bounds its memory and its jumps; loops inside of QuickJS, as in a search of a long text, end only with the
 * thread, which its owner kills.
 *
 * Each message of the owner makes one turn. The answer has all that the script asked for in that turn, as lines of JSON.
 */
import { parentPort, workerData } from "node:worker_threads";

/** @typedef {import("quickjs-emscripten").QuickJSHandle} Handle */

const { engine, memory, jumps, body, settings } = workerData;
/** QuickJS asks once for about 10,000 jumps backward and calls. */
const JUMPS_A_CHECK = 10_000;
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
const most = jumps / JUMPS_A_CHECK;
let checks = 0;
runtime.setInterruptHandler(() => ++checks > most);
const context = runtime.newContext();

/** @type {string[]} */
let lines = [];
let length = 0;

const host = context.newFunction("host", (/** @type {Handle} */ line) => {
  const text = context.getString(line);
  length += text.length;
  if (length <= MAX_LINES) lines.push(text);
});
const made = context.unwrapResult(context.evalCode(`(${prelude.toString()})`, "troupe"));
const given = context.newString(JSON.stringify(settings));
const settle = context.unwrapResult(context.callFunction(made, context.undefined, host, given));

parentPort?.on("message", (/** @type {string | undefined} */ answer) => {
  lines = [];
  length = checks = 0;
  const broken = turn(answer);
  parentPort?.postMessage({ lines, ...(broken === undefined ? {} : { broken }) });
});

/** @param {string | undefined} answer undefined: the script begins */
function turn(answer) {
  try {
    const started = answer === undefined ? context.evalCode(body, "workflow.js") : answered(answer);
    let fault = faultOf(started);
    for (let jobs = 0, ran = JOBS; fault === undefined && ran === JOBS; jobs += ran) {
      if (jobs > MAX_JOBS) return "loops";
      const done = runtime.executePendingJobs(JOBS);
      fault = faultOf(done);
      ran = done.error === undefined ? done.value : 0;
    }
    if (checks > most) return "loops";
    return length > MAX_LINES ? "floods" : fault;
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

/** @param {{ error?: Handle, value?: unknown }} result */
function faultOf(result) {
  if (result.error === undefined) return undefined;
  const { name, message } = context.dump(result.error) ?? {};
  return `${name}: ${message}`;
}

/**
 * Is evaluated inside of QuickJS, before the script, and so uses nothing of this file. It is no boundary: a script that changes the built-in
 * objects breaks itself alone, and the owner checks and bounds each line.
 *
 * @param {(line: string) => void} host
 * @param {string} given
 */
function prelude(host, given) {
  "use strict";
  const { args, seed, start, total, calls: most, items: mostItems, logs } = JSON.parse(given);
  const { parse, stringify } = JSON;
  const { Date, Error, Map, Promise, TypeError, Array, Math, Object, Reflect, String } = globalThis;
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: unknown) => void }>} */
  const waiting = new Map();
  let [now, spent, count, said] = [start, 0, 0, 0];
  /** @type {string | undefined} */
  let current;

  /** @param {string} kind @param {unknown} text */
  function tell(kind, text) {
    if (++said <= logs) host(stringify({ kind, text: String(text).slice(0, 2_000) }));
    else if (said === logs + 1) host(stringify({ kind, text: `(only the first ${logs} lines are kept)` }));
  }

  /** @param {string} what @param {unknown} list */
  function checkItems(what, list) {
    if (!Array.isArray(list)) throw new TypeError(`Expected ${what} to get a list, got ${typeof list}.`);
    if (list.length > mostItems)
      throw new RangeError(`Expected ${what} to get at most ${mostItems} items, got ${list.length}. Split the list.`);
  }

  /** @param {string} what @param {() => unknown} work */
  async function orNull(what, work) {
    try {
      return await work();
    } catch (error) {
      tell("log", `${what} failed: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }

  const globals = {
    args,
    /** @param {unknown} prompt @param {object} options */
    agent: (prompt, options = {}) =>
      new Promise((resolve, reject) => {
        if (typeof prompt !== "string" || prompt.trim() === "") throw new TypeError("Expected agent(prompt) to get a text.");
        if (options === null || typeof options !== "object")
          throw new TypeError("Expected the options of agent(prompt, options) as an object.");
        if (total !== null && spent >= total) throw new Error(`The budget of ${total} output tokens is used up.`);
        if (count >= most)
          throw new RangeError(`Expected at most ${most} calls of agent() in one run, got one more. Do the work in fewer calls.`);
        const id = count + 1;
        host(stringify({ kind: "agent", id, prompt, phase: current, options }));
        count = id;
        waiting.set(id, { resolve, reject });
      }),
    /** @param {unknown[]} thunks */
    parallel: async (thunks) => {
      checkItems("parallel", thunks);
      const odd = thunks.find((thunk) => typeof thunk !== "function");
      if (odd !== undefined) throw new TypeError("Expected parallel to get functions, as in parallel([() => agent(...)]).");
      return Promise.all(thunks.map((thunk, index) => orNull(`Branch ${index + 1} of parallel`, /** @type {() => unknown} */ (thunk))));
    },
    /** @param {unknown[]} list @param {((value: unknown, item: unknown, index: number) => unknown)[]} stages */
    pipeline: async (list, ...stages) => {
      checkItems("pipeline", list);
      if (stages.some((stage) => typeof stage !== "function")) throw new TypeError("Expected the stages of pipeline as functions.");
      return Promise.all(
        list.map((item, index) =>
          orNull(`Item ${index + 1} of pipeline`, async () => {
            let value = item;
            for (const stage of stages) value = await stage(value, item, index);
            return value;
          }),
        ),
      );
    },
    /** @param {unknown} title */
    phase: (title) => {
      current = String(title).slice(0, 200);
      tell("phase", current);
    },
    /** @param {unknown} message */
    log: (message) => tell("log", message),
    console: Object.freeze(Object.fromEntries(["log", "info", "warn", "error", "debug"].map((name) => [name, sayAll]))),
    budget: Object.freeze({ total, spent: () => spent, remaining: () => (total === null ? Infinity : Math.max(0, total - spent)) }),
    workflow: async () => {
      throw new Error("Expected a workflow that runs alone, but it calls workflow(). Put the agents of the other one into this script.");
    },
    Date: runDate(),
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, enumerable: true, writable: true, configurable: true });
  Math.random = randomOf(seed);

  /** @param {unknown[]} parts */
  function sayAll(...parts) {
    tell("log", parts.map((part) => (typeof part === "string" ? part : (stringify(part) ?? String(part)))).join(" "));
  }

  /** The clock of the run, without the zone of the machine. */
  function runDate() {
    const real = /** @type {any} */ (Date.prototype);
    for (const part of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"])
      for (const verb of part === "Day" ? ["get"] : ["get", "set"]) real[verb + part] = real[`${verb}UTC${part}`];
    real.getTimezoneOffset = () => 0;
    real.toString = real.toLocaleString = real.toUTCString;
    /** @param {unknown[]} parts */
    function RunDate(...parts) {
      if (new.target === undefined) return new Date(now).toUTCString();
      const whole = parts.length > 1 ? Date.UTC(.../** @type {[number, number]} */ (parts)) : parts[0];
      const time = parts.length === 0 ? now : whole;
      return Reflect.construct(Date, [time], new.target);
    }
    RunDate.prototype = real;
    real.constructor = RunDate;
    RunDate.now = () => now;
    RunDate.parse = Date.parse;
    RunDate.UTC = Date.UTC;
    return RunDate;
  }

  /** The generator sfc32. @param {number[]} state */
  function randomOf([a = 0, b = 0, c = 0, d = 0]) {
    const next = () => {
      const t = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + t) | 0;
      return (t >>> 0) / 4294967296;
    };
    // States that differ in one bit give similar numbers at first.
    for (let n = 0; n < 12; n++) next();
    return next;
  }

  /** @param {unknown} error */
  function wordsOf(error) {
    if (!(error instanceof Error)) return { name: "Error", message: String(error) };
    return { name: String(error.name), message: String(error.message), stack: String(error.stack).slice(0, 1_000) };
  }

  /** @param {() => Promise<unknown>} script */
  const run = (script) => {
    Reflect.deleteProperty(globalThis, "__run");
    script().then(
      (value) => host(stringify({ kind: "ended", value: value ?? null })),
      (error) => host(stringify({ kind: "failed", error: wordsOf(error) })),
    );
  };
  Object.defineProperty(globalThis, "__run", { value: run, configurable: true });

  return (/** @type {string} */ text) => {
    const { id, at, tokens, value, error } = parse(text);
    now = Math.max(now, at);
    spent += tokens;
    const { resolve, reject } = /** @type {any} */ (waiting.get(id));
    waiting.delete(id);
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  };
}
