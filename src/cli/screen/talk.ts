import type { Message } from "../../message/message.ts";
import type { Observed, Sent } from "../../runtime/record/event.ts";
import { nameText } from "./progress.ts";
import { shown, type Style, wrapped } from "./text.ts";

/** A paragraph of a person's words, or of an answer in Markdown, is cut here. */
const LONGEST = 600;
const NARROWEST = 40;
/** Cells of a line where the width is not limited. */
const USUAL = 100;

export interface TalkStyle {
  readonly style: Style;
  readonly width: number;
  readonly profiles: ReadonlyMap<string, string>;
}

export function sentBy(observed: Observed): readonly Sent[] {
  return observed.type === "message" ? [observed] : observed.type === "act.ended" ? observed.said : [];
}

/** Returns a message as a line of a conversation: who speaks to whom, and below it what is said. */
export function talkLines({ message, to }: Pick<Sent, "message" | "to">, { style, width, profiles }: TalkStyle): readonly string[] {
  const from = message.sentFrom === "" ? "You" : nameText(message.sentFrom, profiles);
  const others = to.filter((name) => name !== message.sentFrom).map((name) => shown(name, 60));
  const head = `${style.strong(from)}${others.length === 0 ? "" : style.faint(` to ${others.join(", ")}`)}`;
  const cells = Math.max(NARROWEST, Math.min(width, USUAL) - 4);
  return ["", head, ...wrapped(spokenText(message), cells).map((line) => `  ${line}`)];
}

function spokenText({ speech, content, causeBy }: Pick<Message, "speech" | "content" | "causeBy">): string {
  if (speech !== undefined) return shown(speech);
  const paragraph = content.split(/\n\s*\n/).find((part) => part.trim() !== "" && !/^\s*(?:#|```|[{[|])/.test(part));
  return paragraph === undefined ? `(${shown(causeBy, 60)})` : shown(paragraph, LONGEST);
}
