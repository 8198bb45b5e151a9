import type { ChatMessage } from "./chat-message.ts";
import type { ReplyFormat } from "./chat-model.ts";
import { formatWords, withWords } from "./dialect.ts";
import type { OutputSchema } from "./json-schema.ts";

export interface ReplyForm {
  readonly format: ReplyFormat;
  /** The last message says it too; undefined if the provider enforces the schema. */
  readonly words?: string;
}

/** Enforced by the provider, or any JSON if no provider can enforce the schema. */
export function enforcedForm({ strict, json }: OutputSchema): ReplyForm {
  if (strict !== undefined) return { format: { type: "schema", name: "reply", schema: strict } };
  return { format: { type: "json" }, words: formatWords(JSON.stringify(json), false) };
}

/** For a model that takes no format. */
export function wordsForm({ json }: OutputSchema): ReplyForm {
  return { format: { type: "text" }, words: formatWords(JSON.stringify(json), true) };
}

export function inForm(messages: readonly ChatMessage[], { words }: ReplyForm): readonly ChatMessage[] {
  return words === undefined ? messages : withWords(messages, words);
}
