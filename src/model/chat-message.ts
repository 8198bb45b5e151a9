import type { Message } from "../message/message.ts";

/** A picture in a message: base64 data with its media type, or an address. */
export type ImagePart = { readonly mediaType: string; readonly data: string } | { readonly url: string };

/** A model's wish to call a tool, in the wire's own form. `arguments` is JSON text as the model wrote it. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** One message of a conversation with a model. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly name?: string;
  readonly toolCallId?: string;
  readonly images?: readonly ImagePart[];
}

/**
 * A message as a model reads it: who said it and what. Ids, times and run ids never reach a prompt, or every fork would pay again.
 * A tool's message is given as the user's: outside a tool call no server accepts the role "tool".
 */
export function toChat(message: Message): ChatMessage {
  const role = message.role === "tool" ? "user" : message.role;
  return { role, content: renderForPrompt(message) };
}

/** `sender: content`, or the content alone when nobody is named. */
export function renderForPrompt(message: Message): string {
  return message.sentFrom === "" ? message.content : `${message.sentFrom}: ${message.content}`;
}
