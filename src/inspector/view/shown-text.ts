import { visibleText } from "../../kernel/value-text.ts";

export const SHOWN_AT_FIRST = 20_000;

export interface ShownText {
  readonly text: string;
  readonly left: number;
}

/** The cut never divides a character, and a text of many megabytes costs no more than its beginning. */
export function shownText(text: string, most: number = SHOWN_AT_FIRST): ShownText {
  const end = text.length <= most ? text.length : endAt(text, most);
  return { text: visibleText(text.slice(0, end)), left: text.length - end };
}

/** Returns a text of one line and of at most `most` characters: white space is one space, and a cut is shown. */
export function shownLine(text: string, most = 120): string {
  const { text: start, left } = shownText(text, most * 2);
  const line = start.replace(/\s+/g, " ").trim();
  return left > 0 || line.length > most ? `${line.slice(0, endAt(line, most - 1))}…` : line;
}

function endAt(text: string, most: number): number {
  const last = text.charCodeAt(most - 1);
  return last >= 0xd800 && last <= 0xdbff ? most - 1 : most;
}
