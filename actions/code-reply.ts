import { isInLanguage, languageOfInfo, languageOfPath } from "./code-language.ts";
import { elisionIn } from "./elision.ts";
import { type FencedBlock, fencedBlocks, inFence, shortened } from "./markdown.ts";
import { withoutThoughts } from "../src/agent/index.ts";
import { OutputError, type RoleContext } from "../src/index.ts";

/** The content of one file in a reply, or its fault as the end of the sentence "The reply ...". */
export type CodeReply = { readonly kind: "code"; readonly code: string } | { readonly kind: "fault"; readonly fault: string };

/**
 * Reads a reply that shall hold one file in a fenced block. Thoughts before it and prose around it do not matter. Of several blocks the one named with
 * the file's path is the file, else the longest in the file's language, else the longest of those that say no language. Prose is never taken for
 * code; nor is a block that was cut off, an edit, a block in another language or of another file, or one that leaves parts out, for a whole file.
 */
export function readCodeReply(reply: string, path: string): CodeReply {
  const said = withoutThoughts(reply);
  if (said === "" && reply.trim() !== "") return fault("holds thoughts and nothing else");
  const blocks = fencedBlocks(said);
  if (blocks.length === 0) return fault("holds no fenced block");
  const language = languageOfPath(path);
  const document = language === "Markdown" ? wholeDocument(said, blocks) : undefined;
  const chosen = document ?? chosenBlock(blocks, path);
  if (typeof chosen === "string") return fault(chosen);
  if (chosen.content.trim() === "") return fault("holds an empty fenced block");
  if (!chosen.isClosed) return fault("ends before its fenced block is closed");
  const elision = elisionIn(chosen.content, path);
  if (elision !== undefined) return fault(`leaves parts of the file out, where it says ${JSON.stringify(shortened(elision, 100))}`);
  return { kind: "code", code: chosen.content };
}

function fault(words: string): CodeReply {
  return { kind: "fault", fault: words };
}

/** The block that is the file, or why none is. */
function chosenBlock(blocks: readonly FencedBlock[], path: string): FencedBlock | string {
  const whole = blocks.filter((block) => !isEdit(block, path));
  if (whole.length === 0) return "holds an edit of the file, such as a diff, and not the whole file";
  const named = [isNamed, isNearlyNamed].map((fits) => whole.filter((block) => fits(block, path))).find(({ length }) => length > 0);
  if (named !== undefined) return longest(named);
  const own = whole.filter((block) => namesOf(block).length === 0);
  if (own.length === 0) return `holds blocks of other files, and none of ${path}`;
  const language = languageOfPath(path);
  const said = own.filter(
    ({ info, content }) => language !== undefined && (languageOfInfo(info) === language || isInLanguage(content, language)),
  );
  if (said.length > 0) return longest(said);
  const unsaid = own.filter(({ info }) => language === undefined || languageOfInfo(info) === undefined);
  if (unsaid.length > 0) return longest(unsaid);
  return `holds ${languageOfInfo(longest(own).info)} and no ${language}`;
}

function longest(blocks: readonly FencedBlock[]): FencedBlock {
  return blocks.toSorted((a, b) => b.content.length - a.content.length)[0] as FencedBlock;
}

function isNamed(block: FencedBlock, path: string): boolean {
  return namesOf(block).includes(path);
}

/** True for a block named by the file's name without its folder, or with a folder before it. */
function isNearlyNamed(block: FencedBlock, path: string): boolean {
  return namesOf(block).some((name) => path.endsWith(`/${name}`) || name.endsWith(`/${path}`));
}

const PATH = /^[\w@./-]*[\w-]\.[A-Za-z]\w{0,9}$/;
/** Names of programs that look like names of files. */
const PROGRAM = /^(?:node|deno|vue|next|nuxt|react|express|three|d3|chart|p5)\.js$/i;

/** The paths in the text after the fence; else the path that is the line before it. */
function namesOf({ info, before }: FencedBlock): readonly string[] {
  const words = info.split(/[\s:="'`{}(),]+/).filter((word) => PATH.test(word));
  const title = words.length > 0 ? undefined : titleIn(before);
  return (title === undefined ? words : [title]).map((word) => word.replace(/^\.\//, ""));
}

/** The path that is the whole of a line, in the forms of a title: `**src/a.js**`, `### src/a.js`, "1. `src/a.js`:". */
function titleIn(line: string): string | undefined {
  const unmarked = line.replace(/^[\s#>*_-]*(?:\d+[.)]\s+)?(?:file(?:name)?:?\s*)?/i, "");
  const bare = unmarked.replace(/^[\s*_`]+|[\s*_`:]+$/g, "");
  const isFile = PATH.test(bare) && (bare.includes("/") || languageOfPath(bare) !== undefined);
  return isFile && !PROGRAM.test(bare) ? bare : undefined;
}

/** True for a diff, and for a block that searches and replaces, unless the file is one. */
function isEdit({ info, content }: FencedBlock, path: string): boolean {
  if (/\.(?:diff|patch)$/i.test(path)) return false;
  if (/^(?:u?diff|patch)\b/i.test(info)) return true;
  if (/^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(content) || /^--- (?:a\/|\S+\.\w+).*\n\+\+\+ /m.test(content)) return true;
  return /^<{5,9} ?\S*[^\n]*\n[\s\S]*?^={5,9}$[\s\S]*?^>{5,9}/m.test(content);
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
  const content = lines.slice(from + 1, -1).map((line) => `${line}\n`);
  return { info: first.info, before: first.before, content: content.join(""), isClosed: true };
}

/** The request for a file at the end of every prompt for code. */
const ANSWER =
  "Answer with the whole file, complete and ready to run, in one fenced code block and nothing else. Leave nothing out and write no placeholders. If the file itself has lines of three backticks, use a longer fence.";

/** Characters of a reply that could not be used which the model is shown again. */
const SHOWN_REPLY = 2_000;
const KEPT_REPLY = 20_000;
/** Requests for one file, the first one included. */
const TRIES = 3;

/**
 * Asks for the content of one file. After a reply without it, it asks again and names the fault, twice at most.
 *
 * @throws OutputError `CODE_MISSING` when the last reply holds no file either; its data keeps the path and the reply.
 * @throws ModelError, ControlError
 */
export async function askCode(ctx: RoleContext, path: string, prompt: string): Promise<string> {
  const question = `${prompt}\n\n${ANSWER}`;
  let asked = question;
  for (let n = 1; ; n++) {
    const reply = await ctx.ask(asked);
    const read = readCodeReply(reply, path);
    if (read.kind === "code") return read.code;
    if (n === TRIES) throw codeMissing(path, read.fault, reply);
    asked = `${question}\n\n${askedAgain(path, read.fault, reply, n)}`;
  }
}

/** The last request shows no reply: what was shown before did not help. */
function askedAgain(path: string, why: string, reply: string, n: number): string {
  if (n < TRIES - 1) {
    const shown = inFence(shortened(reply, SHOWN_REPLY));
    return `Your last reply ${why}, so it could not be used. It was:\n${shown}\n\nNow the file ${path} again. ${ANSWER}`;
  }
  return `You were asked twice, and your last reply ${why}. This is the last time. Write every line of ${path}, from the first to the last. ${ANSWER}`;
}

function codeMissing(path: string, why: string, reply: string): OutputError {
  return new OutputError(
    "CODE_MISSING",
    `Expected the file ${path} in a fenced block, also after asking again, but the reply ${why}. Use a model that can write code.`,
    { data: { path, fault: why, text: shortened(reply, KEPT_REPLY) } },
  );
}
