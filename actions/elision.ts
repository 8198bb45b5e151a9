import { languageOfPath } from "./code-language.ts";

/** Marks around a comment that fills a line. A star alone is none: examples in comments leave things out. */
const COMMENT = /^(?:\/\/+|#+|--|\/\*+|<!--|\{\/\*|;+|%+)\s*(.*?)\s*(?:\*+\/\}?|-->)?$/;
const DOTS = /^(?:\.{3,}|…)|(?:\.{3,}|…)$/;
const SAME = String.raw`(?:remains?|stays?|is|are|goes?|continues?)?\s*(?:the\s+)?(?:unchanged|untouched|same|identical|as\s+(?:is|before|above)|here|omitted|unmodified)`;
const PARTS =
  "code|content|contents|logic|implementation|functions?|methods?|imports?|styles?|rules?|tests?|routes?|handlers?|properties|fields|lines?|parts?";

/** Comments that stand for code, each matched against the whole comment without its dots. */
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

/** Words that make a comment with dots a place where code is left out. */
const WITH_DOTS = new RegExp(
  `\\b(?:rest|remaining|existing|previous|other|others|more|same|unchanged|original|as\\s+before|omitted|etc|here|${PARTS})\\b`,
  "i",
);

/** Languages in which a line of dots alone is code or text. */
const DOTS_ARE_TEXT: ReadonlySet<string> = new Set(["Python", "YAML", "HTML", "a shell"]);

/**
 * Returns the first line of a file that stands for code that was left out, such as `// ... rest unchanged`; undefined when there is none. Prose files have
 * none: their dots are text.
 */
export function elisionIn(code: string, path: string): string | undefined {
  const language = languageOfPath(path);
  if (language === "Markdown" || /\.(?:txt|csv|log)$/i.test(path)) return undefined;
  const lines = code.split("\n").map((line) => line.trim());
  return lines.find((line, place) => {
    if (line === "..." || line === "…") return language !== undefined && !DOTS_ARE_TEXT.has(language);
    return isElision(line, lines[place - 1] ?? "");
  });
}

function isElision(line: string, before: string): boolean {
  const said = line.length > 200 ? undefined : (COMMENT.exec(line)?.[1] ?? inBrackets(line));
  if (said === undefined || said === "") return false;
  const bare = said.replace(/^[\s.…([{]+|[\s.…)\]}:]+$/g, "");
  if (STANDS_FOR_CODE.some((form) => form.test(bare))) return true;
  if (!DOTS.test(said)) return false;
  // A comment of several lines may go on with dots.
  if (bare === "") return !COMMENT.test(before);
  return (
    WITH_DOTS.test(bare) && bare.split(/\s+/).length <= 10 && (/^[.…([]/.test(said) ? !COMMENT.test(before) : STANDS_WITH_DOTS.test(bare))
  );
}

/** A comment that ends with dots needs more: people end sentences so. */
const STANDS_WITH_DOTS = /^(?:the\s+)?(?:rest|remaining|existing|previous|other|unchanged)\b/i;

/** The text of a line such as `[... the rest is unchanged ...]`, which is no code in any language. */
function inBrackets(line: string): string | undefined {
  return /^[[(<]\s*((?:\.{3}|…).*?\w.*?)[\])>]$/.exec(line)?.[1];
}
