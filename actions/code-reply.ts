import { type FencedBlock, fencedBlocks, inFence, shortened } from "./markdown.ts";
import { OutputError, type RoleContext } from "../src/index.ts";

/** The content of one file in a reply, or its fault as the end of the sentence "The reply ...". */
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

/** The request for a file at the end of every prompt for code. */
const ANSWER =
  "Answer with the whole file, complete and ready to run, in one fenced code block and nothing else. Leave nothing out and write no placeholders. If the file itself has lines of three backticks, use a longer fence.";

/** Characters of a reply that could not be used which the model is shown again. */
const SHOWN_REPLY = 2_000;
const KEPT_REPLY = 20_000;

/**
 * Asks for the content of one file. After a reply without it, it asks once more and names the fault.
 *
 * @throws OutputError `CODE_MISSING` when the second reply holds no file either; its data keeps the path and the reply.
 * @throws ModelError, ControlError
 */
export async function askCode(ctx: RoleContext, path: string, prompt: string): Promise<string> {
  const question = `${prompt}\n\n${ANSWER}`;
  const first = await ctx.ask(question);
  const read = readCodeReply(first, path);
  if (read.kind === "code") return read.code;
  const shown = inFence(shortened(first, SHOWN_REPLY));
  const second = await ctx.ask(
    `${question}\n\nYour last reply ${read.fault}, so it could not be used. It was:\n${shown}\n\nNow the file ${path} again. ${ANSWER}`,
  );
  const again = readCodeReply(second, path);
  if (again.kind === "code") return again.code;
  throw new OutputError(
    "CODE_MISSING",
    `Expected the file ${path} in a fenced block, also after asking again, but the reply ${again.fault}. Use a model that can write code.`,
    { data: { path, fault: again.fault, text: shortened(second, KEPT_REPLY) } },
  );
}
