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

/** A page with its code blanked line by line, so that line numbers stay. */
function withoutCode(page: string, { keepInline = false } = {}): string {
  const lines = page.split("\n");
  for (const { code, line } of codeBlocks(page)) {
    const height = code.split("\n").length;
    lines.fill("", line - 1, line + height + 1);
  }
  const bare = lines.join("\n");
  return keepInline ? bare : bare.replace(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
}
