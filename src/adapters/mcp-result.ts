import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { Json } from "../kernel/json.ts";
import type { ImagePart } from "../model/chat-message.ts";
import type { ToolResult } from "../tool/tool-result.ts";

/** Most pictures that one answer passes on. */
const MOST_IMAGES = 8;

/**
 * Makes a tool's result from a server's answer: its texts one after another, its pictures, and its structured content as data. Content
 * that no model can read (sound, bytes) is named instead. An answer that the server marks as an error is an error.
 *
 * @param quote marks a server's text as quoted for the model
 */
export function resultOf(answer: CallToolResult, quote: (text: string) => string): ToolResult {
  const blocks = answer.content ?? [];
  const images = blocks.flatMap(imageOf);
  const shown = images.slice(0, MOST_IMAGES);
  const left = images.length - shown.length;
  const data = answer.structuredContent as Json | undefined;
  const text = blocks.flatMap(textOf).join("\n");
  const said = text === "" && data !== undefined ? JSON.stringify(data) : text;
  if (answer.isError === true) return { error: said === "" ? "The server calls it an error and says no more." : quote(said) };
  return {
    output: said === "" ? "" : quote(said),
    ...(shown.length === 0 ? {} : { images: shown }),
    ...(left === 0 ? {} : { system: `${left} more pictures came and are not shown.` }),
    ...(data === undefined ? {} : { data }),
  };
}

function imageOf(block: ContentBlock): ImagePart[] {
  return block.type === "image" && isPicture(block.mimeType) ? [{ mediaType: block.mimeType, data: block.data }] : [];
}

function isPicture(mediaType: string): boolean {
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType);
}

function textOf(block: ContentBlock): string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "image":
      return isPicture(block.mimeType) ? [] : [unshown("a picture", block.mimeType, block.data)];
    case "audio":
      return [unshown("sound", block.mimeType, block.data)];
    case "resource_link":
      return [`${block.name}: ${block.uri}`];
    case "resource":
      return [
        "text" in block.resource
          ? `${block.resource.uri}:\n${block.resource.text}`
          : unshown(block.resource.uri, block.resource.mimeType ?? "bytes", block.resource.blob),
      ];
    default:
      return ["[a kind of content that is not known here]"];
  }
}

/** Base64 has four characters for three bytes. */
function unshown(what: string, mediaType: string, base64: string): string {
  return `[${what}, ${mediaType}, ${Math.floor((base64.length * 3) / 4)} bytes, not shown]`;
}
