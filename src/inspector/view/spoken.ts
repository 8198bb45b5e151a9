import type { Message } from "../../message/message.ts";
import { markdownBlocks, plainText } from "./markdown.ts";
import { shownLine, shownText } from "./shown-text.ts";

/** Characters of a content in which its first words are looked for. */
const BEGINNING = 600;

/** Returns what a message says in one line, without the marks of Markdown: its speech, or the first words of its content. */
export function spokenLine({ speech, content, causeBy }: Pick<Message, "speech" | "content" | "causeBy">, most?: number): string {
  if (speech !== undefined) return shownLine(speech, most);
  const { title, words } = beginningOf(content);
  return shownLine([title, words].filter((part) => part !== "").join(". ") || causeBy, most);
}

export function beginningOf(content: string) {
  let [title, words] = ["", ""];
  for (const block of markdownBlocks(shownText(content, BEGINNING).text)) {
    const isHeading = block.kind === "heading";
    if (words !== "" && isHeading) break;
    const spans =
      block.kind === "list" ? block.items.flatMap(([, item]) => [...item, "; "]).slice(0, -1) : "spans" in block ? block.spans : [];
    if (isHeading) title ||= plainText(spans);
    else words = `${words} ${plainText(spans)}`.trim();
  }
  return { title, words };
}
