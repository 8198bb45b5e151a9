import { aText, takes } from "../kernel/argument.ts";

/** Longer lines are data or minified code: they name nothing a reader looks for. */
const LONGEST_LINE = 400;
const MOST_LINES = 20_000;
const MOST_NAMES = 200;
const MOST_LONG = 0.5;

const SCRIPT: readonly RegExp[] = [
  /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s?\*?|class|interface|type|enum|namespace)\s+([\w$]+)/,
  /^(?:export\s+)?(?:declare\s+)?(?:const|let|var)\s+([\w$]+)/,
  /^\s*(?:globalThis|window|module\.exports|exports)\.([\w$.]+)\s*=/,
];
const MARKUP: readonly RegExp[] = [
  /\bid=["']([\w-]+)["']/g,
  /<title>([^<]{1,80})<\/title>/g,
  /<script[^>]{0,200}\ssrc=["']([^"']{1,100})["']/g,
];
const TYPES: readonly RegExp[] = [
  /^\s*(?:[a-z]+\s+){0,6}(?:class|interface|enum|record|object|trait|struct|protocol|fun|func)\s+(?:\([^)]{0,80}\)\s*)?(\w+)/,
];

/** Patterns of lines that name something, by the ending of a file's name. Nothing is parsed: what looks like a name is one. */
const PATTERNS: ReadonlyMap<string, readonly RegExp[]> = new Map([
  ...["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"].map((ending) => [ending, [...SCRIPT, ...MARKUP]] as const),
  ...["html", "htm", "vue", "svelte"].map((ending) => [ending, [...MARKUP, ...SCRIPT]] as const),
  ...["css", "scss", "less"].map((ending) => [ending, [/^\s{0,4}([.#][\w-]+)[^;]*[{,]\s*$/, /^@(?:keyframes|mixin)\s+([\w-]+)/]] as const),
  ["py", [/^(?:async\s+def|def|class)\s+(\w+)/, /^([A-Z][A-Z0-9_]+)\s*(?::[^=]{0,80})?=/]],
  ["go", [/^func\s+(?:\([^)]{0,80}\)\s*)?(\w+)/, /^type\s+(\w+)/, /^(?:var|const)\s+(\w+)/]],
  [
    "rs",
    [
      /^\s*(?:pub(?:\([^)]{0,40}\))?\s+)?(?:async\s+|unsafe\s+)*(?:fn|struct|enum|trait|mod|type|const|static)\s+(\w+)/,
      /^macro_rules!\s*(\w+)/,
    ],
  ],
  ...["java", "kt", "cs", "scala", "swift"].map((ending) => [ending, TYPES] as const),
  ...["c", "h", "cc", "cpp", "hpp"].map(
    (ending) =>
      [
        ending,
        [/^#define\s+(\w+)/, /^(?:typedef\s+)?(?:struct|class|enum|union|namespace)\s+(\w+)/, /^\w[\w\s*&:<>,]{0,120}?\b(\w+)\([^;]*$/],
      ] as const,
  ),
  ["rb", [/^\s*(?:def|class|module)\s+([\w.:?!]+)/]],
  ["php", [/^\s*(?:[a-z]+\s+){0,3}(?:function|class|interface|trait)\s+(\w+)/]],
  ...["sh", "bash"].map((ending) => [ending, [/^(?:function\s+)?([\w-]+)\s*\(\)/]] as const),
  ["sql", [/^\s*create\s+(?:or\s+replace\s+)?(?:table|view|index|function)\s+(?:if\s+not\s+exists\s+)?([\w."]+)/i]],
  ...["md", "markdown"].map((ending) => [ending, [/^#{1,3}\s+(.{1,80})/]] as const),
]);

/** Endings of the files whose names {@link namesIn} finds. */
export const OUTLINED: ReadonlySet<string> = new Set(PATTERNS.keys());

/** The ending of a path without its dot, in small letters; empty when it has none. */
export function endingOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

/**
 * The names that a file offers: functions, classes, constants, ids, selectors, headings; by patterns of lines for the language of its
 * path. In the order of the file, each once, at most 200; none of a file that is minified or of no known language.
 */
export function namesIn(path: string, content: string): readonly string[] {
  takes("namesIn", "path", path, aText);
  takes("namesIn", "content", content, aText);
  const patterns = PATTERNS.get(endingOf(path));
  if (patterns === undefined || isMinified(content)) return [];
  const names = new Set<string>();
  for (const line of content.split("\n", MOST_LINES)) {
    if (line.length > LONGEST_LINE) continue;
    for (const pattern of patterns) for (const name of namesOn(line, pattern)) names.add(name);
    if (names.size >= MOST_NAMES) break;
  }
  return [...names].slice(0, MOST_NAMES);
}

function namesOn(line: string, pattern: RegExp): string[] {
  const found = pattern.global ? [...line.matchAll(pattern)] : [pattern.exec(line)];
  return found.flatMap((match) => (match?.[1] === undefined ? [] : [match[1].trim()]));
}

function isMinified(content: string): boolean {
  let long = 0;
  for (const line of content.split("\n", MOST_LINES)) if (line.length > LONGEST_LINE) long += line.length;
  return long > content.length * MOST_LONG;
}
