/** A fenced block of code. */
export interface CodeBlock {
  /** The first word after the fence: `ts`, `sh`. */
  readonly language: string;
  /** The rest of that line: where the code comes from. */
  readonly from: string;
  readonly code: string;
  /** The line of the fence, counted from 1. */
  readonly line: number;
}

/** A link to something in this repository. */
export interface Link {
  readonly path: string;
  readonly anchor: string;
  readonly line: number;
}

/** The fenced blocks of a page, in order. A fence that is never closed takes the rest of the page. */
export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = page.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const fence = /^( *)(`{3,})(.*)$/.exec(lines[at] ?? "");
    if (fence === null) continue;
    const [, indent = "", ticks = "", info = ""] = fence;
    const end = lines.findIndex((line, index) => index > at && line.trim() === ticks);
    const inner = lines
      .slice(at + 1, end === -1 ? undefined : end)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    const [language = "", ...rest] = info.trim().split(/\s+/);
    blocks.push({ language, from: rest.join(" "), code: inner.join("\n"), line: at + 1 });
    at = end === -1 ? lines.length : end;
  }
  return blocks;
}

/** The links of a page that lead to a file or a heading, outside code. */
export function links(page: string): Link[] {
  const prose = withoutCode(page).split("\n");
  return prose.flatMap((text, index) =>
    [...text.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)]
      .map((match) => match[1] ?? "")
      .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))
      .map((target) => {
        const [path = "", anchor = ""] = target.split("#", 2);
        return { path: decodeURIComponent(path), anchor, line: index + 1 };
      }),
  );
}

/** The anchors a page offers, as GitHub makes them of its headings. */
export function anchors(page: string): ReadonlySet<string> {
  const slugs = new Set<string>();
  for (const [, heading = ""] of withoutCode(page, { keepInline: true }).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
      .replaceAll(" ", "-");
    let unique = slug;
    for (let n = 1; slugs.has(unique); n++) unique = `${slug}-${n}`;
    slugs.add(unique);
  }
  return slugs;
}

/** The commands of a shell block: one a line, continuation lines joined, prompts, comments and what the programs print left out. */
export function commands(block: CodeBlock): string[] {
  const lines = block.code.replace(/\s*\\\n\s*/g, " ").split("\n");
  const isTranscript = block.language === "console" || lines.some((line) => line.startsWith("$ "));
  return lines
    .filter((line) => !isTranscript || line.startsWith("$ "))
    .map((line) => line.replace(/^\$ /, "").replace(/("[^"]*"|'[^']*')|(?:^|\s+)#.*$/g, "$1"))
    .flatMap((line) => line.match(/(?:"[^"]*"|'[^']*'|[^&|;])+/g) ?? [])
    .map((line) => line.trim().replace(/^([A-Z_][A-Z0-9_]*=\S*\s+)+/, ""))
    .filter((line) => line !== "");
}

/** The words of a command, quoted ones as one. */
export function words(command: string): string[] {
  return [...command.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word.replace(/^(["'])(.*)\1$/, "$2"));
}

/** The text between `// #region name` and its `// #endregion`, without its indentation and without the marks of other regions. */
export function region(source: string, name: string): string | undefined {
  const lines = source.split("\n");
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  if (start === -1) return undefined;
  let depth = 1;
  const end = lines.findIndex((line, index) => {
    if (index <= start) return false;
    if (/^\s*\/\/ #region\b/.test(line)) depth++;
    if (/^\s*\/\/ #endregion\b/.test(line)) depth--;
    return depth === 0;
  });
  if (end === -1) return undefined;
  return outdented(lines.slice(start + 1, end));
}

/** A whole file as a page shows it: without the marks of regions. */
export function withoutMarks(source: string): string {
  return outdented(source.trim().split("\n"));
}

function outdented(lines: readonly string[]): string {
  const shown = lines.filter((line) => !/^\s*\/\/ #(end)?region\b/.test(line));
  const indent = Math.min(...shown.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length));
  return shown
    .map((line) => line.slice(Math.min(indent, line.length)))
    .join("\n")
    .trim();
}

/** A page with its code blanked line by line, so that line numbers stay. */
function withoutCode(page: string, { keepInline = false } = {}): string {
  let bare = page;
  for (const { code, line } of codeBlocks(page)) {
    const lines = bare.split("\n");
    const height = code.split("\n").length;
    bare = lines.map((text, index) => (index >= line - 1 && index <= line + height ? "" : text)).join("\n");
  }
  return keepInline ? bare : bare.replace(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
}
