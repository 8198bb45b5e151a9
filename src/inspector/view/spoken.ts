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

/** Returns the title of a document and its first words; empty where there are none. */
export function beginningOf(content: string) {
  const blocks = markdownBlocks(shownText(content, BEGINNING).text);
  let [title, words] = ["", ""];
  for (const block of blocks) {
    if (block.kind === "heading" && words === "") title ||= plainText(block.spans);
    else if (block.kind === "text" || block.kind === "quote") words ||= plainText(block.spans);
    else if (block.kind === "list") words ||= block.items.map(([, spans]) => plainText(spans)).join("; ");
  }
  return { title, words };
}
