import { type FencedBlock, fencedBlocks } from "./fenced-block.ts";

/** A reply read as the content of one file, or what is wrong with it, as the end of the sentence "The reply ...". */
export type CodeReply = { readonly kind: "code"; readonly code: string } | { readonly kind: "fault"; readonly fault: string };

/**
 * Reads a reply that shall hold one file in a fenced block. Prose around it does not matter. Of several blocks the one named with the
 * file's path is the file, else the longest. Prose is never taken for code, and a block that was cut off never for a whole file.
 */
export function readCodeReply(reply: string, path: string): CodeReply {
  const blocks = fencedBlocks(reply);
  if (blocks.length === 0) return { kind: "fault", fault: "holds no fenced block" };
  const document = isMarkdown(path) ? wholeDocument(reply, blocks) : undefined;
  const code = document ?? chosen(blocks, path);
  if (code === undefined || code.content.trim() === "") return { kind: "fault", fault: "holds an empty fenced block" };
  if (!code.isClosed) return { kind: "fault", fault: "ends before its fenced block is closed" };
  return { kind: "code", code: code.content };
}

function chosen(blocks: readonly FencedBlock[], path: string): FencedBlock | undefined {
  const named = blocks.filter((block) => isNamed(block, path));
  return longest(named.length > 0 ? named : blocks);
}

function longest(blocks: readonly FencedBlock[]): FencedBlock | undefined {
  return blocks.toSorted((a, b) => b.content.length - a.content.length)[0];
}

function isNamed({ info }: FencedBlock, path: string): boolean {
  return info.split(/[\s:="'`{}]+/).some((word) => word === path || word === `./${path}`);
}

function isMarkdown(path: string): boolean {
  return /\.(md|markdown)$/i.test(path);
}

/**
 * A document that holds blocks of its own between fences that say nothing: read strictly it falls into pieces. When its last line is
 * such a fence and none of the later pieces says what it is, the document reaches from the first fence to the last.
 */
function wholeDocument(reply: string, [first, ...later]: readonly FencedBlock[]): FencedBlock | undefined {
  if (first === undefined || later.length === 0 || later.some((block) => block.info !== "")) return undefined;
  const lines = reply.replace(/\r\n?/g, "\n").trimEnd().split("\n");
  const from = lines.findIndex((line) => /^ {0,3}(`{3,}|~{3,})/.test(line));
  const opening = /^ {0,3}(`{3,}|~{3,})/.exec(lines[from] ?? "")?.[1] ?? "";
  const last = lines.at(-1)?.trim() ?? "";
  if (lines.length - 1 <= from || last === "" || last !== opening) return undefined;
  return {
    info: first.info,
    content: lines
      .slice(from + 1, -1)
      .map((line) => `${line}\n`)
      .join(""),
    isClosed: true,
  };
}
