import { aText, takes } from "../kernel/argument.ts";

/** Longer lines are data or minified code. */
const MAX_LINE = 400;
const MAX_LINES = 20_000;
const MAX_NAMES = 200;

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
const STYLES: readonly RegExp[] = [/^\s{0,4}([.#][\w-]+)[^;]*[{,]\s*$/, /^@(?:keyframes|mixin)\s+([\w-]+)/];
const TYPES: readonly RegExp[] = [
  /^\s*(?:[a-z]+(?:\([^)]{0,40}\))?\s+){0,6}(?:class|interface|enum|record|object|trait|struct|protocol|fun|func|fn|mod|type)\s+(?:\([^)]{0,80}\)\s*)?(\w+)/,
];
const C_NAMES: readonly RegExp[] = [
  /^#define\s+(\w+)/,
  /^(?:typedef\s+)?(?:union|namespace)\s+(\w+)/,
  /^\w[\w\s*&:<>,]{0,120}?\b(\w+)\([^;]*$/,
];

/** Patterns of lines that name something, by the ending of a file's name. Nothing is parsed: what looks like a name is one. */
const PATTERNS: ReadonlyMap<string, readonly RegExp[]> = new Map([
  ...["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"].map((ending) => [ending, [...SCRIPT, ...MARKUP]] as const),
  ...["html", "htm", "vue", "svelte"].map((ending) => [ending, [...MARKUP, ...SCRIPT]] as const),
  ...["css", "scss", "less"].map((ending) => [ending, STYLES] as const),
  ...["java", "kt", "cs", "scala", "swift"].map((ending) => [ending, TYPES] as const),
  ...["c", "h", "cc", "cpp", "hpp"].map((ending) => [ending, [...TYPES, ...C_NAMES]] as const),
  ["go", [...TYPES, /^(?:var|const)\s+(\w+)/]],
  ["rs", [...TYPES, /^\s*(?:pub(?:\([^)]{0,40}\))?\s+)?(?:const|static)\s+(?:mut\s+)?(\w+)\s*:/, /^macro_rules!\s*(\w+)/]],
  ["rb", [/^\s*(?:def|class|module)\s+([\w.:?!]+)/]],
  ["php", [/^\s*(?:[a-z]+\s+){0,3}(?:function|class|interface|trait)\s+&?(\w+)/]],
  ...["sh", "bash"].map((ending) => [ending, [/^(?:function\s+)?([\w-]+)\s*\(\)/, /^function\s+([\w-]+)/]] as const),
  ["py", [/^(?:async\s+def|def|class)\s+(\w+)/, /^([A-Z][A-Z0-9_]+)\s*(?::[^=]{0,80})?=/]],
  ["sql", [/^\s*create\s+(?:or\s+replace\s+)?(?:table|view|index|function)\s+(?:if\s+not\s+exists\s+)?([\w."]+)/i]],
  ["md", [/^#{1,3}\s+(.{1,80})/]],
]);

/** Endings of the files whose names {@link namesIn} finds. */
export const OUTLINED: ReadonlySet<string> = new Set(PATTERNS.keys());

/** The ending of a path without its dot, in small letters; empty when it has none. */
export function endingOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** The names that a file offers, in its order, each once, at most 200; none of a file that is minified or of an unknown language. */
export function namesIn(path: string, content: string): readonly string[] {
  takes("namesIn", "path", path, aText);
  takes("namesIn", "content", content, aText);
  const patterns = PATTERNS.get(endingOf(path)) ?? [];
  const lines = content.split("\n", MAX_LINES);
  const long = lines.reduce((sum, line) => sum + (line.length > MAX_LINE ? line.length : 0), 0);
  if (patterns.length === 0 || long * 2 > content.length) return [];
  const names = new Set<string>();
  for (const line of lines) {
    if (line.length > MAX_LINE) continue;
    for (const pattern of patterns)
      for (const match of pattern.global ? line.matchAll(pattern) : [pattern.exec(line)])
        if (match?.[1] !== undefined) names.add(match[1].trim());
    if (names.size >= MAX_NAMES) break;
  }
  return [...names].slice(0, MAX_NAMES);
}
