import type { ChatMessage } from "./chat-message.ts";

/** Requests for the rest of one reply. */
export const MOST_CONTINUATIONS = 3;

const GO_ON =
  "Your reply reached its length limit. Go on exactly where it stops: begin with the next character, repeat nothing, open no new fenced block and add no words of your own.";

/** The earlier conversation precedes it unchanged, so that a provider's cache serves it. */
export function askOn(messages: readonly ChatMessage[], soFar: string): readonly ChatMessage[] {
  return [...messages, { role: "assistant", content: soFar }, { role: "user", content: GO_ON }];
}

/** Characters in which the end of one part is compared with the beginning of the next. */
const SEAM = 4_000;
/** Shorter repeated ends may be chance: characters, letters (brackets and indents repeat), and the characters of a repeated line. */
const SHORTEST_SEAM = 8;
const SEAM_LETTERS = 4;
const SHORTEST_LINE = 4;
/** Prefix that identifies a restarted reply. */
const SHORTEST_HEAD = 40;

/** Joins the parts of a reply without doubling: models repeat words, begin the cut line or a fenced block again, or write the whole reply anew. */
export function joined(soFar: string, more: string): string {
  const head = soFar.trimStart().slice(0, SHORTEST_HEAD);
  if (head.length === SHORTEST_HEAD && more.trimStart().startsWith(head)) return more;
  const rest = withoutFence(soFar, more);
  return soFar + rest.slice(doubled(soFar, rest));
}

function doubled(soFar: string, rest: string): number {
  const end = soFar.slice(-SEAM);
  const line = end.slice(end.lastIndexOf("\n") + 1);
  const isLine = line.trim().length >= SHORTEST_LINE && rest.startsWith(line);
  return Math.max(overlap(end, rest.slice(0, SEAM)), isLine ? line.length : 0);
}

function overlap(end: string, beginning: string): number {
  let length = Math.min(end.length, beginning.length);
  while (length >= SHORTEST_SEAM && !end.endsWith(beginning.slice(0, length))) length--;
  const letters = beginning.slice(0, length).match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return length >= SHORTEST_SEAM && letters >= SEAM_LETTERS ? length : 0;
}

const FENCE = /^ {0,3}(?:`{3,}|~{3,})/gm;
const LEADING = /^\s*(`{3,}|~{3,})([^\n`]*)(?:\n|$)/;

/** The rest without a fence that only it has: an open block stays one block, and bare JSON has none. */
function withoutFence(soFar: string, more: string): string {
  const leading = LEADING.exec(more);
  if (leading === null) return more;
  const [whole, mark = "", info = ""] = leading;
  const inside = more.slice(whole.length);
  const isOpen = fencesIn(soFar) % 2 === 1;
  if (isOpen && (info.trim() !== "" || fencesIn(inside) % 2 === 1)) return inside;
  const closing = inside.trimEnd();
  if (!isOpen && /^[\s\uFEFF]*[{[]/.test(soFar) && closing.endsWith(mark)) return closing.slice(0, -mark.length).replace(/\n$/, "");
  return soFar.endsWith("\n") || more.startsWith("\n") ? more : `\n${more}`;
}

function fencesIn(text: string): number {
  return text.match(FENCE)?.length ?? 0;
}
