import { aText, takes } from "../kernel/argument.ts";

const MARKS = "think|thinking|thought|thoughts|reasoning";
const OPENING = new RegExp(`^[\\s\\uFEFF]*<(${MARKS})>`, "i");
const ANY_OPENING = new RegExp(`<(?:${MARKS})>`, "i");
/** Not one in a string, such as `"</think>"`. */
const CLOSING = new RegExp(`</(?:${MARKS})>(?=[\\s{[]|$)`, "gi");
const FENCE = /^ {0,3}(?:`{3,}|~{3,})/gm;
/** A text with more marks is an attack. */
const MOST_MARKS = 20;

/**
 * Returns the index at which the answer begins. Models that reason aloud write their thoughts before it in `<think>` and `</think>`,
 * without the first mark where the server puts it into the prompt, and without the last where they forget it. Thoughts without an end have
 * no answer: the index is the end of the text.
 */
export function answerStart(text: string): number {
  let from = 0;
  for (let block = 0; block < MOST_MARKS; block++) {
    const rest = text.slice(from);
    const opening = OPENING.exec(rest);
    if (opening === null) return from + afterLoneClosing(rest);
    const end = afterClosing(rest, opening[0].length, opening[1] ?? "");
    if (end === undefined) return text.length;
    from += end;
  }
  return from;
}

/** Returns a reply without the thoughts before its answer; empty for thoughts alone. @throws UsageError `ARGUMENT_INVALID` */
export function withoutThoughts(text: string): string {
  takes("withoutThoughts", "text", text, aText);
  const start = answerStart(text);
  return start === 0 ? text : text.slice(start).replace(/^[\s\uFEFF]+/, "");
}

/** In thoughts nothing is a string, so the mark may stand anywhere. */
function afterClosing(text: string, from: number, mark: string): number | undefined {
  const inside = text.slice(from);
  const closing = new RegExp(`</${mark}>`, "i").exec(inside);
  return closing === null ? undefined : from + closing.index + closing[0].length;
}

/**
 * The index after a closing mark that no mark opens; 0 without one. In a fenced block it is text, and a reply that begins as JSON holds no
 * thoughts.
 */
function afterLoneClosing(text: string): number {
  if (/^[\s\uFEFF]*[{[]/.test(text)) return 0;
  let looked = 0;
  for (const match of text.matchAll(CLOSING)) {
    const before = text.slice(0, match.index);
    if (++looked > MOST_MARKS || ANY_OPENING.test(before)) return 0;
    if ((before.match(FENCE)?.length ?? 0) % 2 === 0) return match.index + match[0].length;
  }
  return 0;
}
