import vm from "node:vm";
import { withoutRoot } from "./order.mjs";

/** Control characters, marks without width and unusual spaces: strings that differ must not look alike on a screen. */
const HIDDEN =
  /[\u007f-\u00a0\u00ad\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb]|[\u0300-\u036f]|[\ufe00-\ufe0f]/g;

/** Keeps the beginning and the end. @param {string} text @param {number} limit */
export function cut(text, limit) {
  if (text.length <= limit) return text;
  return `${text.slice(0, Math.ceil(limit * 0.7))} [...] ${text.slice(text.length - Math.floor(limit * 0.3))}`;
}

/** Removes what differs from run to run. @param {string} text */
export function clean(text) {
  return withoutRoot(text)
    .replace(/\(node:\d+\)/g, "(node)")
    .replace(/^ +at .*\bnode:.*\n?/gm, "");
}

/** @param {string} text */
export function quoted(text, limit = 300) {
  return JSON.stringify(cut(clean(text), limit)).replace(HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A rule that cannot be applied: the check is at fault. */
export class RuleError extends Error {}

/** @param {string} pattern @param {string[]} texts @param {number} time milliseconds @returns {boolean} */
export function matches(pattern, texts, time) {
  try {
    return vm.runInNewContext('texts.some((text) => new RegExp(pattern, "m").test(text))', { pattern, texts }, { timeout: time });
  } catch (thrown) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (thrown);
    const why = code === "ERR_SCRIPT_EXECUTION_TIMEOUT" ? `takes longer than ${time} ms` : `is invalid: ${message.slice(0, 100)}`;
    throw new RuleError(`The regular expression ${quoted(pattern, 100)} ${why}`);
  }
}

/**
 * Returns what is wrong with a string. One last line break does not count.
 *
 * @param {string} what @param {string} text @param {import("../acceptance.ts").TextRule} rule @param {number} matchTime milliseconds
 */
export function wrongIn(what, text, rule, matchTime) {
  /** @type {string[]} */
  const problems = [];
  const plain = plainOf(text);
  // Shown once: a string can break many rules.
  const is = (shown = plain) => (problems.length === 0 ? ` and is ${quoted(shown)}` : "");
  if (rule.equals !== undefined) {
    const wanted = plainOf(rule.equals);
    const [own, other] = [unended(plain), unended(wanted)];
    if (own !== other) problems.push(`${what} should be ${quoted(wanted)}${is(endedAs(plain, wanted))}${difference(wanted, plain)}`);
  }
  for (const part of rule.contains ?? []) {
    const wanted = plainOf(part);
    if (!plain.includes(wanted)) problems.push(`${what} should contain ${quoted(part)}${is()}`);
  }
  for (const part of rule.lacks ?? []) {
    if (plain.includes(plainOf(part))) problems.push(`${what} should not contain ${quoted(part)}${is()}`);
  }
  if (rule.matches !== undefined && !matches(rule.matches, [plain], matchTime))
    problems.push(`${what} should match /${cut(rule.matches, 200)}/m${is()}`);
  return problems;
}

/** The first line that differs, where the strings are too long to be shown whole. @param {string} wanted @param {string} got */
function difference(wanted, got) {
  if (wanted.length <= 300 && got.length <= 300) return "";
  const [all, lines] = [wanted.split("\n"), got.split("\n")];
  const found = all.findIndex((line, index) => line !== lines[index]);
  const index = found === -1 ? all.length : found;
  const line = lines[index];
  return `; line ${index + 1} should be ${quoted(all[index] ?? "", 200)} and is ${line === undefined ? "missing" : quoted(line, 200)}`;
}

/** @param {string} text */
function plainOf(text) {
  return text.replaceAll("\r\n", "\n");
}

/** @param {string} text */
function unended(text) {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** A last line break as the other has it: it does not count, so no one shall mend it. @param {string} text @param {string} other */
function endedAs(text, other) {
  return text === "" ? "" : unended(text) + (other.endsWith("\n") ? "\n" : "");
}
