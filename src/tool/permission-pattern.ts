import { comparable, fitsGlob } from "./glob.ts";
import { canonicalText, isMailIn, isMailMeant, isWebAddressIn, isWebAddressMeant, mailPattern, webPattern } from "./address-pattern.ts";

/** Parts that lead elsewhere in a path or end a line, and those that begin another command in a shell. */
const ELSEWHERE = /(?:^|[/\\])(?:\.|%2e){2}(?:$|[/\\])|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/i;
const SHELL = /[;&|`<>]|\$[({]/;
const COMMAND_ENDS = /[;&|`(){}\n\r]|\$\(/;
/** Ignored by readers of addresses and of screens. */
const HIDDEN = /[\p{Cc}\p{Cf}]/gu;

/** For rules that allow: `*` stands for no part that leads elsewhere: `..`, a new line, another host, port or domain, another command. */
export function isPlainlyCovered(text: string, pattern: string): boolean {
  if (!pattern.includes("*") && text === pattern) return true;
  if (ELSEWHERE.test(text)) return false;
  const web = webPattern(pattern);
  if (web !== undefined) return isWebAddressIn(text, web);
  const mail = mailPattern(pattern);
  if (mail !== undefined) return isMailIn(text, mail);
  if (!pattern.includes("*") || SHELL.test(text)) return false;
  return pattern.includes(" ") ? areWordsCovered(text.split(" "), pattern.split(" ")) : fitsGlob(text, pattern);
}

/** A `*` at the end of the last word, as in `git status*`, stands for further words: `git statuses` is another command. */
function areWordsCovered(words: readonly string[], pattern: readonly string[]): boolean {
  const fits = (word: string, one: string): boolean => {
    const web = webPattern(one);
    return web === undefined ? fitsGlob(word, one) : isWebAddressIn(word, web);
  };
  const last = pattern.at(-1) ?? "";
  if (!/[\p{L}\p{N}]\*$/u.test(last) || last.includes("://")) return fitsWords(words, pattern, { fits, fewest: 1 });
  const plain = [...pattern.slice(0, -1), last.slice(0, -1)];
  return [plain, [...plain, "*"]].some((one) => fitsWords(words, one, { fits, fewest: 1 }));
}

/** `*` alone stands for any words, at least `fewest`. */
function fitsWords(
  words: readonly string[],
  pattern: readonly string[],
  o: { readonly fits: (word: string, pattern: string) => boolean; readonly fewest: 0 | 1 },
): boolean {
  let ends: readonly number[] = [0];
  for (const one of pattern) {
    const [first] = ends;
    if (first === undefined) return false;
    if (one === "*") ends = Array.from({ length: Math.max(0, words.length - first - o.fewest + 1) }, (_, more) => first + o.fewest + more);
    else ends = ends.flatMap((at) => (at < words.length && o.fits(words[at] ?? "", one) ? [at + 1] : []));
  }
  return ends.includes(words.length);
}

/** For rules that ask or deny: white space, quotes, case, percent signs, look-alikes, detours, other spellings, a command before it evade no rule. */
export function mayBeMeant(text: string, pattern: string): boolean {
  if (fitsGlob(text, pattern)) return true;
  const meant = comparable(pattern);
  const shown = text.replace(HIDDEN, "");
  const forms = new Set([text, text.trim().replace(/\s+/g, " "), shown, canonicalText(text), canonicalText(shown)]);
  if ([...forms].some((form) => fitsGlob(comparable(form), meant))) return true;
  const web = webPattern(pattern.replace(/^\*+(?=[a-z][a-z0-9+.-]*:\/\/)/i, ""));
  if (web !== undefined)
    return (pattern.startsWith("*") ? [text, ...text.split(/[\s"'`<>,=]+/)] : [text, shown]).some((one) => isWebAddressMeant(one, web));
  const mail = mailPattern(pattern);
  if (mail !== undefined) return isMailMeant(shown, mail);
  return pattern.includes(" ") && isCommandMeant(text, pattern);
}

/** With or without its quotes. */
function isCommandMeant(text: string, pattern: string): boolean {
  const fits = (word: string, one: string): boolean => {
    const web = webPattern(one);
    return fitsGlob(comparable(word), comparable(one)) || (web !== undefined && isWebAddressMeant(word, web));
  };
  const commands = text.split(COMMAND_ENDS);
  return [...commands, ...commands.map((command) => command.replace(/["'\\]/g, ""))].some((command) =>
    fitsWords(command.trim().split(/\s+/), pattern.trim().split(/\s+/), { fits, fewest: 0 }),
  );
}
