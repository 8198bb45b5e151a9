import type { ChatMessage, ToolCall } from "../model/chat-message.ts";
import { onFrom, upTo } from "../tool/cut-text.ts";
import { IMAGE_TOKENS } from "./message-tokens.ts";

/** Shorter results are not worth clearing. */
const SHORT_RESULT = 200;

/** Messages that must stay together: calls of tools and what came of them; anything else stands alone. */
export function groupsOf(messages: readonly ChatMessage[]): ChatMessage[][] {
  const groups: ChatMessage[][] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    const belongs = message.role === "tool" && last?.[0]?.toolCalls !== undefined;
    if (belongs) last?.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** Long results and pictures of tools are left out of all but the newest groups, with a mark where they stood. Unchanged messages stay the same objects. */
export function withoutOldResults(messages: readonly ChatMessage[], newest: number): ChatMessage[] {
  const groups = groupsOf(messages);
  const withResults = groups.filter((group) => group.length > 1);
  const kept = new Set(newest === 0 ? [] : withResults.slice(-newest));
  return groups.flatMap((group) => (kept.has(group) ? group : group.map(withoutResult)));
}

function withoutResult(message: ChatMessage): ChatMessage {
  const { images, content = "", ...rest } = message;
  if (message.role !== "tool" || (content.length <= SHORT_RESULT && images === undefined)) return message;
  const pictures = images === undefined ? "" : ` and ${images.length} pictures`;
  return {
    ...rest,
    content: `[${content.length} characters${pictures} of this result were cleared to make room. Call the tool again if you need them.]`,
  };
}

/** The newest pictures that so many tokens have room for; where others were, a mark stands. What is left of the tokens comes with it. */
export function withPicturesIn(
  tokens: number,
  messages: readonly ChatMessage[],
): { readonly messages: ChatMessage[]; readonly left: number } {
  let left = tokens;
  const kept = messages.toReversed().map((message) => {
    const { images, ...rest } = message;
    if (images === undefined) return message;
    const size = IMAGE_TOKENS * images.length;
    if (size > left) return { ...rest, content: `${message.content ?? ""}\n[${images.length} pictures were left out to make room]` };
    left -= size;
    return message;
  });
  return { messages: kept.toReversed(), left };
}

/** What stands where a picture was that the model does not take. */
const NO_PICTURE = "[picture left out: the model does not take pictures]";

/** The same messages with words in place of their pictures. Those without pictures stay the same objects. */
export function withoutPictures(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (messages.every(({ images }) => images === undefined)) return messages;
  return messages.map((message) => {
    const { images, content = "", ...rest } = message;
    if (images === undefined) return message;
    return { ...rest, content: [...(content === "" ? [] : [content]), ...images.map(() => NO_PICTURE)].join("\n") };
  });
}

/** A message of at most so many characters of content: its beginning and its end, with a mark between. Longer arguments of calls are left out. */
export function shortened(message: ChatMessage, limit: number): ChatMessage {
  const { content = "", toolCalls } = message;
  const isLong = (call: ToolCall): boolean => call.function.arguments.length > limit;
  const text = content.length <= limit ? message : { ...message, content: middleCut(content, limit) };
  return toolCalls?.some(isLong) === true
    ? { ...text, toolCalls: toolCalls.map((call) => (isLong(call) ? withoutArguments(call) : call)) }
    : text;
}

/** Arguments must stay JSON: servers read them. */
function withoutArguments(call: ToolCall): ToolCall {
  const cleared = JSON.stringify({ cleared: `${call.function.arguments.length} characters` });
  return { ...call, function: { ...call.function, arguments: cleared } };
}

function middleCut(text: string, limit: number): string {
  const half = Math.max(0, Math.floor((limit - 60) / 2));
  const left = text.length - 2 * half;
  return `${upTo(text, half)}\n[${left} characters were cut to make room]\n${onFrom(text, text.length - half)}`;
}
