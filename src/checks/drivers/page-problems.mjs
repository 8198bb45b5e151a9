import { pathToFileURL } from "node:url";
import { root } from "./order.mjs";

/** The address of the project's folder. */
export const BASE = pathToFileURL(`${root}/`).href;
const MAX_PROBLEMS = 30;
const MAX_DISTURBANCES = 20;
const MAX_LINES = 1_000;

/** A step failed on the page. */
export class StepFault extends Error {}
/** A step cannot be done: the check is at fault. */
export class Unable extends Error {}
/** The page is beyond use: it crashed, does not answer, or disturbs without end. */
export class PageOver extends Error {}

/** @param {unknown} text */
export function cut(text, most = 400) {
  const all = String(text);
  return all.length <= most ? all : `${all.slice(0, most)} [cut]`;
}

/** @param {unknown} text */
export function quote(text) {
  return JSON.stringify(cut(text, 200));
}

/** @param {string} text */
export function collapse(text) {
  return text.replace(/\s+/g, " ").trim();
}

/** @param {unknown} thrown */
export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** @template T @param {number} ms @param {Promise<T>} work @returns {Promise<T>} */
export function within(ms, work, words = "the page does not answer; a script may run without end") {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new PageOver(words)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The events of one page besides its steps. */
export class Problems {
  /** @type {string[]} */
  errors = [];
  /** @type {string[]} */
  notes = [];
  /** Its output, and its requests to other than its own files. @type {Record<"console" | "requests", string[]>} */
  seen = { console: [], requests: [] };
  /** @type {(error: Error) => void} */
  end = () => {};
  #disturbances = 0;

  constructor() {
    /** Rejects when the page is over. @type {Promise<never>} */
    this.over = new Promise((_, reject) => {
      this.end = reject;
    });
    this.over.catch(() => {});
  }

  /** @param {string} what */
  error(what) {
    add(this.errors, what);
  }

  /** A dialog, a window, a download: a few are reported, many end the page. @param {string} what */
  disturb(what) {
    add(this.notes, what);
    this.#disturbances += 1;
    if (this.#disturbances >= MAX_DISTURBANCES) this.end(new PageOver(`${MAX_DISTURBANCES} times and more: ${cut(what, 200)}`));
  }

  /** @param {"console" | "requests"} kind @param {string} line */
  see(kind, line) {
    if (this.seen[kind].length < MAX_LINES) this.seen[kind].push(cut(line, 2000));
  }

  /** @param {string} what */
  note(what) {
    add(this.notes, what);
  }
}

/** @param {string[]} list @param {string} what */
function add(list, what) {
  const line = cut(collapse(cut(what, 4000).replaceAll(BASE, "")));
  if (list.length < MAX_PROBLEMS && !list.includes(line)) list.push(line);
}
