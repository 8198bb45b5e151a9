/** Sections without text are left out. */
export function sections(title: string, parts: readonly (readonly [heading: string, text: string])[]): string {
  const filled = parts.filter(([, text]) => text.trim() !== "");
  return `${[`# ${title}`, ...filled.map(([heading, text]) => `## ${heading}\n\n${text.trim()}`)].join("\n\n")}\n`;
}

/** Points without text are left out. */
export function bullets(points: readonly string[]): string {
  const filled = points.filter((point) => point.trim() !== "");
  return filled.map((point) => `- ${point.trim().replace(/\n/g, "\n  ")}`).join("\n");
}

/** The label alone where there is no text. */
export function labelled(label: string, text: string): string {
  return text.trim() === "" ? label : `${label}: ${text.trim()}`;
}

export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}\n[${text.length - kept.length} more characters are left out]`;
}

/** A fenced block as CommonMark reads it, except that a fence with a word inside a block opens a block in it. */
export interface FencedBlock {
  /** A language, a path, both, or nothing. */
  readonly info: string;
  /** The last line before the fence that is not empty. */
  readonly before: string;
  readonly content: string;
  readonly isClosed: boolean;
}

interface Fence {
  readonly line: number;
  readonly mark: string;
  readonly length: number;
  readonly indent: number;
  readonly info: string;
}

/** With more fences blocks in blocks are not looked for: that would take quadratic time. */
const NESTING_LIMIT = 1_000;

export function fencedBlocks(text: string): readonly FencedBlock[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const fences = fencesIn(lines);
  const blocks: FencedBlock[] = [];
  let at = 0;
  while (at < fences.length) {
    const opening = fences[at] as Fence;
    const closing = closingOf(fences, at);
    const end = closing === undefined ? lines.length : (fences[closing] as Fence).line;
    const before = lines.slice(Math.max(0, opening.line - 3), opening.line).findLast((line) => line.trim() !== "") ?? "";
    blocks.push({ info: opening.info, before, content: contentOf(lines, opening, end), isClosed: closing !== undefined });
    if (closing === undefined) break;
    at = closing + 1;
  }
  return blocks;
}

export function inFence(text: string, info = ""): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${info}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

function fencesIn(lines: readonly string[]): readonly Fence[] {
  return lines.flatMap((text, line): Fence[] => {
    const match = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(text);
    if (match === null) return [];
    const [, indent = "", marks = "", info = ""] = match;
    // Such a line is a code span in prose.
    if (marks.startsWith("`") && info.includes("`")) return [];
    return [{ line, mark: marks[0] ?? "", length: marks.length, indent: indent.length, info: info.trim() }];
  });
}

function closingOf(fences: readonly Fence[], at: number): number | undefined {
  return fences.length > NESTING_LIMIT ? firstClosing(fences, at) : (nestedClosing(fences, at) ?? firstClosing(fences, at));
}

function firstClosing(fences: readonly Fence[], at: number): number | undefined {
  const opening = fences[at] as Fence;
  for (let next = at + 1; next < fences.length; next += 1) if (closes(fences[next] as Fence, opening)) return next;
  return undefined;
}

function nestedClosing(fences: readonly Fence[], at: number): number | undefined {
  const open = [fences[at] as Fence];
  const [outer] = open as [Fence];
  for (let next = at + 1; next < fences.length; next += 1) {
    const fence = fences[next] as Fence;
    const innermost = open.at(-1) as Fence;
    if (closes(fence, innermost)) open.pop();
    else if (fence.info !== "" && fence.mark === outer.mark && fence.length >= outer.length) open.push(fence);
    if (open.length === 0) return next;
  }
  return undefined;
}

function closes(fence: Fence, opening: Fence): boolean {
  return fence.info === "" && fence.mark === opening.mark && fence.length >= opening.length;
}

function contentOf(lines: readonly string[], opening: Fence, end: number): string {
  const indent = new RegExp(`^ {0,${opening.indent}}`);
  const content = lines.slice(opening.line + 1, end);
  return content.map((line) => `${opening.indent === 0 ? line : line.replace(indent, "")}\n`).join("");
}
