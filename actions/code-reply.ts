import { type FencedBlock, fencedBlocks, inFence, shortened } from "./markdown.ts";
import { withoutThoughts } from "../src/agent/index.ts";
import { OutputError, type RoleContext } from "../src/index.ts";

/** Languages with the endings of their files and the words after a fence that name them. */
const LANGUAGES: readonly { readonly name: string; readonly endings: string; readonly words: string }[] = [
  { name: "JavaScript", endings: "js mjs cjs jsx ts mts cts tsx", words: "javascript node nodejs typescript ecmascript" },
  { name: "Python", endings: "py pyi pyw", words: "python python3 py3" },
  { name: "HTML", endings: "html htm xhtml svg xml vue svelte", words: "" },
  { name: "CSS", endings: "css scss sass less", words: "" },
  { name: "JSON", endings: "json jsonc json5", words: "" },
  { name: "YAML", endings: "yml yaml", words: "" },
  { name: "TOML", endings: "toml", words: "" },
  { name: "SQL", endings: "sql", words: "sqlite postgresql" },
  { name: "Markdown", endings: "md markdown mdx", words: "" },
  { name: "a shell", endings: "sh bash zsh ps1 bat", words: "shell console terminal shell-session powershell" },
  { name: "Rust", endings: "rs", words: "rust" },
  { name: "Go", endings: "go", words: "golang" },
  { name: "Java", endings: "java", words: "" },
  { name: "C", endings: "c h cc cpp hpp cxx", words: "c++" },
  { name: "Ruby", endings: "rb", words: "ruby" },
  { name: "PHP", endings: "php", words: "" },
];

const BY_WORD: ReadonlyMap<string, string> = new Map(
  LANGUAGES.flatMap(({ name, endings, words }) =>
    `${endings} ${words}`
      .trim()
      .split(" ")
      .map((word) => [word, name] as const),
  ),
);

function languageOfPath(path: string): string | undefined {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1];
  return ending === undefined ? undefined : BY_WORD.get(ending.toLowerCase());
}

function languageOfInfo(info: string): string | undefined {
  const [word = ""] = info.toLowerCase().split(/[\s:,={]+/);
  return BY_WORD.get(word) ?? languageOfPath(word);
}

/** Models often write a wrong tag over a page or a file of data. */
function isInLanguage(text: string, language: string | undefined): boolean {
  if (language === "HTML") return /^\s*<[!?a-z]/i.test(text);
  return language === "JSON" && isJson(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Marks around a comment that fills a line. A star alone is none: examples in comments leave things out. */
const COMMENT = /^(?:\/\/+|#+|--|\/\*+|<!--|\{\/\*|;+|%+)\s*(.*?)\s*(?:\*+\/\}?|-->)?$/;
const DOTS = /^(?:\.{3,}|…)|(?:\.{3,}|…)$/;
const SAME = String.raw`(?:remains?|stays?|is|are|goes?|continues?)?\s*(?:the\s+)?(?:unchanged|untouched|same|identical|as\s+(?:is|before|above)|here|omitted|unmodified)`;
const PARTS =
  "code|content|contents|logic|implementation|functions?|methods?|imports?|styles?|rules?|tests?|routes?|handlers?|properties|fields|lines?|parts?";

/** Each is matched against the whole comment without its dots. */
const STANDS_FOR_CODE: readonly RegExp[] = [
  new RegExp(`^(?:the\\s+)?(?:rest|remainder)\\s+of\\s+(?:\\S+\\s+){0,4}?\\S+(?:\\s+${SAME}.{0,30})$`, "i"),
  /^(?:the\s+)?(?:rest|remainder)\s+of\s+(?:the\s+|your\s+|this\s+)?(?:\w+\s+)?(?:file|code|class|function|method|module|component|implementation|script|program|document)$/i,
  new RegExp(`^(?:the\\s+)?(?:rest|everything\\s+else|all\\s+else)\\s+${SAME}.{0,30}$`, "i"),
  new RegExp(
    `^(?:the\\s+|all\\s+)?(?:existing|previous|original|remaining|other)\\s+(?:\\w+\\s+){0,3}?(?:${PARTS})\\s+${SAME}.{0,30}$`,
    "i",
  ),
  /^(?:the\s+)?(?:existing|previous|original|remaining)\s+(?:code|implementation|content)$/i,
  /^(?:same|unchanged)\s+as\s+(?:before|above|previous\w*|in\s+the\s+original).{0,30}$/i,
  /(?:omitted|truncated|snipped|elided|skipped|left\s+out|shortened)\s+for\s+(?:brevity|clarity|space|simplicity)/i,
  /^(?:your|the\s+actual|actual)\s+(?:\w+\s+){0,2}(?:code|logic|implementation)\s+(?:goes\s+)?here$/i,
];

/** Words in a comment with dots where code is left out. */
const WITH_DOTS = new RegExp(
  `\\b(?:rest|remaining|existing|previous|other|others|more|same|unchanged|original|as\\s+before|omitted|etc|here|${PARTS})\\b`,
  "i",
);

/** A line of dots alone is code or text in them. */
const DOTS_ARE_TEXT: ReadonlySet<string> = new Set(["Python", "YAML", "HTML", "a shell"]);

/** Returns the first line that stands for omitted code, such as `// ... rest unchanged`. The dots of prose files are text. */
export function elisionIn(code: string, path: string): string | undefined {
  const language = languageOfPath(path);
  if (language === "Markdown" || /\.(?:txt|csv|log)$/i.test(path)) return undefined;
  const lines = code.split("\n").map((line) => line.trim());
  return lines.find((line, index) => {
    if (line === "..." || line === "…") return language !== undefined && !DOTS_ARE_TEXT.has(language);
    return isElision(line, lines[index - 1] ?? "");
  });
}

function isElision(line: string, before: string): boolean {
  const said = line.length > 200 ? undefined : (COMMENT.exec(line)?.[1] ?? inBrackets(line));
  if (said === undefined || said === "") return false;
  const bare = said.replace(/^[\s.…([{]+|[\s.…)\]}:]+$/g, "");
  if (STANDS_FOR_CODE.some((form) => form.test(bare))) return true;
  if (!DOTS.test(said)) return false;
  // A comment of several lines may continue after dots.
  if (bare === "") return !COMMENT.test(before);
  return (
    WITH_DOTS.test(bare) && bare.split(/\s+/).length <= 10 && (/^[.…([]/.test(said) ? !COMMENT.test(before) : STANDS_WITH_DOTS.test(bare))
  );
}

/** People end sentences with dots, so such a comment needs more. */
const STANDS_WITH_DOTS = /^(?:the\s+)?(?:rest|remaining|existing|previous|other|unchanged)\b/i;

/** A line such as `[... the rest is unchanged ...]` is no code in any language. */
function inBrackets(line: string): string | undefined {
  return /^[[(<]\s*((?:\.{3}|…).*?\w.*?)[\])>]$/.exec(line)?.[1];
}

/** A fault is the end of the sentence "The reply ...". */
type CodeReply = { readonly kind: "code"; readonly code: string } | { readonly kind: "fault"; readonly fault: string };

/**
 * Reads a reply that shall hold one file in a fenced block. Of several blocks the one named with the file's path is the file, else the
 * longest in the file's language, else the longest of those that name no language. Prose is never taken for code; nor is a block that was
 * cut off, an edit, a block of another language or file, or one that leaves parts out.
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

function isNearlyNamed(block: FencedBlock, path: string): boolean {
  return namesOf(block).some((name) => path.endsWith(`/${name}`) || name.endsWith(`/${path}`));
}

const PATH = /^[\w@./-]*[\w-]\.[A-Za-z]\w{0,9}$/;
/** Names of programs that look like files. */
const PROGRAM = /^(?:node|deno|vue|next|nuxt|react|express|three|d3|chart|p5)\.js$/i;

/** The paths after the fence; else the path that is the line before it. */
function namesOf({ info, before }: FencedBlock): readonly string[] {
  const words = info.split(/[\s:="'`{}(),]+/).filter((word) => PATH.test(word));
  const title = words.length > 0 ? undefined : titleIn(before);
  return (title === undefined ? words : [title]).map((word) => word.replace(/^\.\//, ""));
}

/** A title: `**src/a.js**`, `### src/a.js`, "1. `src/a.js`:". */
function titleIn(line: string): string | undefined {
  const unmarked = line.replace(/^[\s#>*_-]*(?:\d+[.)]\s+)?(?:file(?:name)?:?\s*)?/i, "");
  const bare = unmarked.replace(/^[\s*_`]+|[\s*_`:]+$/g, "");
  const isFile = PATH.test(bare) && (bare.includes("/") || languageOfPath(bare) !== undefined);
  return isFile && !PROGRAM.test(bare) ? bare : undefined;
}

/** A diff, or a block that searches and replaces, unless the file is one. */
function isEdit({ info, content }: FencedBlock, path: string): boolean {
  if (/\.(?:diff|patch)$/i.test(path)) return false;
  if (/^(?:u?diff|patch)\b/i.test(info)) return true;
  if (/^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(content) || /^--- (?:a\/|\S+\.\w+).*\n\+\+\+ /m.test(content)) return true;
  return /^<{5,9} ?\S*[^\n]*\n[\s\S]*?^={5,9}$[\s\S]*?^>{5,9}/m.test(content);
}

/**
 * A document that holds blocks of its own between fences without a language falls into pieces when read strictly. When its last line is
 * such a fence and no later piece has a language, the document reaches from the first fence to the last.
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

const ANSWER =
  "Answer with the whole file, complete and ready to run, in one fenced code block and nothing else. Leave nothing out and write no placeholders. If the file itself has lines of three backticks, use a longer fence.";

/** Characters of an unusable reply that the model is shown again. */
const SHOWN_REPLY = 2_000;
const KEPT_REPLY = 20_000;
const TRIES = 3;

/**
 * Asks for the content of one file, three times at most, naming the fault.
 *
 * @throws OutputError `CODE_MISSING`, with path and reply in its data; ModelError, ControlError
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

/** The last request shows no reply: showing one did not help. */
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
