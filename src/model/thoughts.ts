import { aText, takes } from "../kernel/argument.ts";

const NAMES = "think|thinking|thought|thoughts|reasoning|reflection";
/** The marks of models around their thoughts: the opening, and the closing that belongs to it. */
const MARKS: readonly (readonly [opening: string, closing: (name: string) => string])[] = [
  [`<((?:[a-z]+:)?(?:${NAMES}))>`, (name) => `</${name}>`],
  ["◁(think)▷", () => "◁/think▷"],
  ["\\[(THINK)\\]", () => "[/THINK]"],
  ["<\\|(START_THINKING)\\|>", () => "<|END_THINKING|>"],
  ["<\\|(begin_of_thought)\\|>", () => "<|end_of_thought|>"],
  ["<(unused94)>thought", () => "<unused95>"],
  ["<\\|channel>(thought)", () => "<channel|>"],
  ["<\\|(inner_prefix)\\|>", () => "<|inner_suffix|>"],
  ["<\\|(think)\\|>", () => "<|/think|>"],
  ['<(details) type="reasoning"[^>]*>', () => "</details>"],
  ["here(?:'s| is) (my thought process):(?=[^]*here(?:'s| is) my response:)", () => "here.{2,3} my response:"],
];
const OPENING = new RegExp(`^[\\s\\uFEFF]*(?:${MARKS.map(([opening]) => opening).join("|")})`, "i");
const ANY_OPENING = new RegExp(`<(?:[a-z]+:)?(?:${NAMES})>|◁think▷|\\[THINK\\]`, "i");
/** Not one in a string, such as `"</think>"`. */
const CLOSING = new RegExp(`(?<!["'\`])(?:</(?:[a-z]+:)?(?:${NAMES})>(?=[\\s{[*#<A-Z\\d]|$)|◁/think▷|\\[/THINK\\])`, "gi");
const FENCE = /^ {0,3}(?:`{3,}|~{3,})/gm;
/** A string with more marks is an attack. */
const MAX_MARKS = 20;
/** A reply in channels: only the final one is the answer. */
const CHANNELS = /^[\s\uFEFF]*(?:<\|start\|>assistant\s*)?<\|channel\|>/;
/** The same when the server drops the marks and leaves the words. */
const BARE_CHANNELS = /^\s*analysis[^]*?assistantfinal/;
const FINAL = /<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>/;
/** Marks of the end that servers of local models let through. */
const END = /(?:<\|(?:return|end|im_end|eot_id|eom_id|endoftext|END_RESPONSE)\|>|<｜end▁of▁sentence｜>)$/;
/** Characters of the longest mark of the end. */
const MAX_END = 24;

/**
 * Returns the index at which the answer begins. Models that reason aloud write their thoughts before it in `<think>` and `</think>`, or in
 * other marks; without the first mark when the server puts it into the prompt, and without the last when they forget it. Thoughts without
 * an end have no answer: the index is the end of the string.
 */
export function answerStart(text: string): number {
  const bare = BARE_CHANNELS.exec(text);
  if (bare !== null) return bare[0].length;
  if (CHANNELS.test(text)) {
    const final = FINAL.exec(text);
    return final === null ? text.length : final.index + final[0].length;
  }
  let from = 0;
  for (let block = 0; block < MAX_MARKS; block++) {
    const rest = text.slice(from);
    const opening = OPENING.exec(rest);
    if (opening === null) return from + afterLoneClosing(rest);
    const end = afterClosing(rest, opening);
    if (end === undefined) return text.length;
    from += end;
  }
  return from;
}

/** Returns a reply without the thoughts before its answer; empty for thoughts alone. @throws UsageError `ARGUMENT_INVALID` */
export function withoutThoughts(text: string): string {
  takes("withoutThoughts", "text", text, aText);
  const start = answerStart(text);
  const answer = start === 0 ? text : unboxed(text.slice(start).replace(/^[\s\uFEFF]+/, ""));
  return text.includes("|>") || text.includes("｜>") ? withoutEnd(answer).replace(/^<\|START_RESPONSE\|>/, "") : answer;
}

/** Some models put the answer behind their thoughts in marks of its own. */
function unboxed(answer: string): string {
  const [opening, name = ""] = /^<\|?(?:begin_of_)?(answer|box|solution)\|?>/.exec(answer) ?? [];
  const closing = [`</${name}>`, `<|end_of_${name}|>`].find((mark) => opening !== undefined && answer.trimEnd().endsWith(mark));
  return closing === undefined ? answer : answer.trimEnd().slice(opening?.length, -closing.length).trim();
}

/** Linear in the length of the text, unlike an expression that looks for spaces before a mark. */
function withoutEnd(answer: string): string {
  let left = answer;
  for (let text = left.trimEnd(); ; text = left) {
    const mark = END.exec(text.slice(-MAX_END));
    if (mark === null) return left;
    left = text.slice(0, -mark[0].length).trimEnd();
  }
}

/** In thoughts nothing is a string, so the mark may be anywhere. */
function afterClosing(text: string, opening: RegExpExecArray): number | undefined {
  const which = opening.slice(1).findIndex((name) => name !== undefined);
  const mark = MARKS[which]?.[1](opening[which + 1] ?? "") ?? "";
  const closing = new RegExp(mark.replace(/[|[\]]/g, "\\$&"), "i").exec(text.slice(opening[0].length));
  return closing === null ? undefined : opening[0].length + closing.index + closing[0].length;
}

/** The index after a closing mark that no mark opens, else 0. In a fenced block it is text, and JSON holds no thoughts. */
function afterLoneClosing(text: string): number {
  if (/^[\s\uFEFF]*[{[](?!\/)/.test(text)) return 0;
  let looked = 0;
  for (const match of text.matchAll(CLOSING)) {
    const before = text.slice(0, match.index);
    if (++looked > MAX_MARKS || ANY_OPENING.test(before)) return 0;
    if ((before.match(FENCE)?.length ?? 0) % 2 === 0) return match.index + match[0].length;
  }
  return 0;
}
