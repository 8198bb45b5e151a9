/*
 * The globals of a workflow. This file is evaluated inside of QuickJS, before the script, and imports nothing. It is no boundary: a script
 * that changes the built-in objects breaks itself alone, and the owner checks and bounds each line.
 */
const { parse, stringify } = JSON;
const { max } = Math;

/**
 * @param {(line: string) => void} host
 * @param {string} given the settings as JSON
 * @returns {(answer: string) => void} takes the answer to a call of `agent`, as JSON
 */
export function install(host, given) {
  const { args, seed, start, total, calls, items, logs } = parse(given);
  const clock = { now: start };
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: unknown) => void }>} */
  const waiting = new Map();
  let [spent, count, said] = [0, 0, 0];
  /** @type {string | undefined} */
  let current;

  /** @param {string} kind @param {unknown} text */
  const tell = (kind, text) => {
    said += 1;
    if (said <= logs) host(stringify({ kind, text: String(text).slice(0, 2_000) }));
    else if (said === logs + 1) host(stringify({ kind, text: `(only the first ${logs} lines are kept)` }));
  };
  /** @param {unknown} prompt @param {object} options */
  const agent = (prompt, options = {}) =>
    new Promise((resolve, reject) => {
      if (typeof prompt !== "string" || prompt.trim() === "") throw new TypeError("Expected agent(prompt) to get a text.");
      if (Object(options) !== options) throw new TypeError("Expected the options of agent(prompt, options) as an object.");
      if (total !== null && spent >= total) throw new Error(`The budget of ${total} output tokens is used up.`);
      if (count >= calls)
        throw new RangeError(`Expected at most ${calls} calls of agent() in one run, got one more. Do the work in fewer calls.`);
      host(stringify({ kind: "agent", id: count + 1, prompt, phase: current, options }));
      count += 1;
      waiting.set(count, { resolve, reject });
    });
  const phase = (/** @type {unknown} */ title) => {
    current = String(title).slice(0, 200);
    tell("phase", current);
  };
  const log = (/** @type {unknown} */ message) => tell("log", message);
  const workflow = async () => {
    throw new Error("Expected a workflow that runs alone, but it calls workflow(). Put the agents of the other one into this script.");
  };
  const budget = Object.freeze({ total, spent: () => spent, remaining: () => (total === null ? Infinity : max(0, total - spent)) });
  const console = Object.freeze({ log, info: log, warn: log, error: log });
  const begin = (/** @type {() => Promise<unknown>} */ script) => started(host, script);
  Object.assign(globalThis, { args, agent, ...listed(tell, items), phase, log, console, budget, workflow, Date: runDate(clock), begin });
  Math.random = randomOf(seed);

  return (text) => {
    const { id, at, tokens, value, error } = parse(text);
    clock.now = max(clock.now, at);
    spent += tokens;
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(error));
  };
}

/** @param {(line: string) => void} host @param {() => Promise<unknown>} script */
function started(host, script) {
  Reflect.deleteProperty(globalThis, "begin");
  script().then(
    (value) => host(stringify({ kind: "ended", value: value ?? null })),
    (error) => {
      const { name, message, stack } = error instanceof Error ? error : { name: "Error", message: String(error), stack: "" };
      host(stringify({ kind: "failed", error: { name: String(name), message: String(message), stack: String(stack).slice(0, 1_000) } }));
    },
  );
}

/** @param {(kind: string, text: string) => void} tell @param {number} most items of one list */
function listed(tell, most) {
  /** @param {string} what @param {unknown} list @param {unknown[]} works */
  const check = (what, list, works) => {
    if (!Array.isArray(list)) throw new TypeError(`Expected ${what} to get a list, got ${typeof list}.`);
    if (list.length > most) throw new RangeError(`Expected ${what} to get at most ${most} items, got ${list.length}. Split the list.`);
    if (works.every((work) => typeof work === "function")) return;
    throw new TypeError(
      `Expected ${what} to get functions, as in ${what === "parallel" ? "" : "pipeline(items, (item) => agent(...)) and "}parallel([() => agent(...)]).`,
    );
  };
  /** @param {string} what @param {() => unknown} work */
  const orNull = async (what, work) => {
    try {
      return await work();
    } catch (error) {
      tell("log", `${what} failed: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  };
  /** @param {(() => unknown)[]} thunks */
  const parallel = async (thunks) => {
    check("parallel", thunks, Object(thunks));
    return Promise.all(thunks.map((thunk, index) => orNull(`Branch ${index + 1} of parallel`, thunk)));
  };
  /** @param {unknown[]} list @param {((value: unknown, item: unknown, index: number) => unknown)[]} stages */
  const pipeline = async (list, ...stages) => {
    check("pipeline", list, stages);
    /** @param {unknown} item @param {number} index */
    const staged = async (item, index) => {
      let value = item;
      for (const stage of stages) value = await stage(value, item, index);
      return value;
    };
    return Promise.all(list.map((item, index) => orNull(`Item ${index + 1} of pipeline`, () => staged(item, index))));
  };
  return { parallel, pipeline };
}

/** The clock of the run, without the zone of the machine. @param {{ now: number }} clock */
function runDate(clock) {
  const Machine = Date;
  const real = /** @type {any} */ (Machine.prototype);
  for (const part of ["FullYear", "Month", "Date", "Day", "Hours", "Minutes", "Seconds", "Milliseconds"])
    for (const verb of part === "Day" ? ["get"] : ["get", "set"]) real[verb + part] = real[`${verb}UTC${part}`];
  real.getTimezoneOffset = () => 0;
  real.toString = real.toLocaleString = real.toUTCString;
  /** @param {unknown[]} parts */
  function RunDate(...parts) {
    if (new.target === undefined) return new Machine(clock.now).toUTCString();
    const whole = parts.length > 1 ? Machine.UTC(.../** @type {[number, number]} */ (parts)) : parts[0];
    return Reflect.construct(Machine, [parts.length === 0 ? clock.now : whole], new.target);
  }
  real.constructor = RunDate;
  return Object.assign(RunDate, { prototype: real, now: () => clock.now, parse: Machine.parse, UTC: Machine.UTC });
}

/** The generator sfc32. @param {number[]} seed */
function randomOf(seed) {
  let [a = 0, b = 0, c = 0, d = 0] = seed;
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
