/* Text stays text: HTML is text, and a link is its label with its address. Each pattern takes linear time, because the text may be hostile. */

export type Span = string | { readonly kind: "code"; readonly text: string } | { readonly kind: "strong" | "em"; readonly spans: Spans };
type Spans = readonly Span[];

export type Block =
  | { readonly kind: "heading" | "text" | "quote"; readonly spans: Spans }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "list"; readonly start: number | undefined; readonly items: readonly (readonly [depth: number, Spans])[] }
  | { readonly kind: "table"; readonly head: readonly Spans[]; readonly rows: readonly (readonly Spans[])[] };

type Found = readonly [block: Block | undefined, next: number];

const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^\s*#{1,6}\s+(\S.*)$/;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/;
const QUOTE = /^\s*>/;
const UNDER_HEAD = /^[\s|:-]+$/;

export function markdownBlocks(text: string): readonly Block[] {
  const lines = text.split(/\r\n?|\n/);
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = blockAt(lines, at);
    if (block !== undefined) blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines: readonly string[], at: number): Found {
  const line = lines[at] ?? "";
  if (line.trim() === "" || RULE.test(line)) return [undefined, at + 1];
  const [, fence] = FENCE.exec(line) ?? [];
  if (fence !== undefined) {
    const end = endOf(lines, at + 1, (one) => !one.trim().startsWith(fence) || /[^`~\s]/.test(one));
    return [{ kind: "code", text: lines.slice(at + 1, end).join("\n") }, end + 1];
  }
  const [, title] = HEADING.exec(line) ?? [];
  if (title !== undefined) return [{ kind: "heading", spans: spansOf(title) }, at + 1];
  if (ITEM.test(line)) return listAt(lines, at);
  if (isTable(lines, at)) {
    const end = endOf(lines, at + 2, (one) => one.includes("|"));
    return [{ kind: "table", head: cellsOf(line), rows: lines.slice(at + 2, end).map(cellsOf) }, end];
  }
  if (QUOTE.test(line)) {
    const end = endOf(lines, at + 1, (one) => QUOTE.test(one));
    const quoted = lines.slice(at, end).map((one) => one.replace(/^[\s>]+/, ""));
    return [{ kind: "quote", spans: spansOf(quoted.join("\n")) }, end];
  }
  const end = endOf(lines, at + 1, isMore);
  return [{ kind: "text", spans: spansOf(lines.slice(at, end).join("\n")) }, end];
}

/** Returns the first line from `at` on that does not belong to a block. */
function endOf(lines: readonly string[], at: number, belongs: (line: string, at: number, lines: readonly string[]) => boolean): number {
  let end = at;
  while (end < lines.length && belongs(lines[end] ?? "", end, lines)) end += 1;
  return end;
}

function isMore(line: string, at: number, lines: readonly string[]): boolean {
  return line.trim() !== "" && ![FENCE, HEADING, ITEM, RULE, QUOTE].some((form) => form.test(line)) && !isTable(lines, at);
}

function listAt(lines: readonly string[], at: number): Found {
  const items: (readonly [number, Spans])[] = [];
  const start = ITEM.exec(lines[at] ?? "")?.[2];
  let next = at;
  for (let item = ITEM.exec(lines[at] ?? ""); item !== null; item = ITEM.exec(lines[next] ?? "")) {
    const [, indent = "", , text = ""] = item;
    const end = endOf(lines, next + 1, isMore);
    const whole = [text, ...lines.slice(next + 1, end)].map((one) => one.trim()).join("\n");
    items.push([Math.min(3, indent.length >> 1), spansOf(whole.replace(/^\[ \] /, "☐ ").replace(/^\[[xX]\] /, "☑ "))]);
    const after = endOf(lines, end, (one) => one.trim() === "");
    next = ITEM.test(lines[after] ?? "") ? after : end;
  }
  return [{ kind: "list", start: start === undefined ? undefined : Number(start), items }, next];
}

function isTable(lines: readonly string[], at: number): boolean {
  const under = lines[at + 1] ?? "";
  return (lines[at] ?? "").includes("|") && UNDER_HEAD.test(under) && under.includes("-") && under.includes("|");
}

function cellsOf(row: string): readonly Spans[] {
  const inner = row.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => spansOf(cell.trim()));
}

const STRONG = /\*{2,3}(?=[^\s*])([^*]+(?:\*(?!\*)[^*]*)*)\*{2,3}|(?<!\w)__(?=[^\s_])([^_]+)__/;
const EM = /(?<![\w*])\*(?=[^\s*])([^*\n]*[^*\s])\*(?!\w)|(?<!\w)_(?=[^\s_])([^_\n]*[^_\s])_(?!\w)/;
const LINK = /!?\[([^[\]\n]*)\]\(([^()\n]*)\)/;
const MARKS = new RegExp([/\\([!-/:-@[-`{-~])/, /``(.+?)``|`([^`\n]+)`/, STRONG, EM, LINK].map(({ source }) => source).join("|"), "g");

function spansOf(text: string): Spans {
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    spans.push(text.slice(end, match.index), spanOf(match));
    end = match.index + match[0].length;
  }
  return [...spans, text.slice(end)].filter((span) => span !== "");
}

function spanOf([, escaped, double, single, strong, strongToo, em, emToo, label, address = ""]: RegExpExecArray): Span {
  const code = double?.trim() ?? single;
  if (code !== undefined) return { kind: "code", text: code };
  const inner = strong ?? strongToo ?? em ?? emToo;
  if (inner !== undefined) return { kind: (strong ?? strongToo) === undefined ? "em" : "strong", spans: spansOf(inner) };
  const [to = ""] = address.trim().split(/\s/, 1);
  return escaped ?? (label === undefined || label === "" || label === to || to === "" ? label || to : `${label} (${to})`);
}

export function plainText(spans: Spans): string {
  return spans.map((span) => (typeof span === "string" ? span : span.kind === "code" ? span.text : plainText(span.spans))).join("");
}
