import type { Json, JsonObject } from "../kernel/json.ts";
import type { HumanQuestion } from "../tool/approval.ts";
import { column, linesOf, plural, shown, shownLine, type Style } from "./screen/text.ts";

export interface PermissionQuestion extends HumanQuestion {
  readonly tool: string;
  readonly args: JsonObject;
}

export function isPermission(question: HumanQuestion): question is PermissionQuestion {
  return question.tool !== undefined && question.args !== undefined;
}

export type TypedAnswer = { readonly kind: "answer"; readonly text: string } | { readonly kind: "show" | "change" | "explain" | "none" };

const CHANGE = /^(?:c|e|change|edit)$/i;
const SHOW = /^(?:d|s|diff|show|show diff)$/i;
const EXPLAIN = /^(?:\?|h|help)$/i;
const WORDS: ReadonlyMap<string, string> = new Map(Object.entries({ y: "yes", n: "no", a: "always" }));

export function typedAnswer(line: string): TypedAnswer {
  const words = line.trim();
  if (words === "") return { kind: "none" };
  if (SHOW.test(words)) return { kind: "show" };
  if (EXPLAIN.test(words)) return { kind: "explain" };
  if (CHANGE.test(words)) return { kind: "change" };
  return { kind: "answer", text: WORDS.get(words.toLowerCase()) ?? words };
}

/** The answers to a call, with what each does. `show diff` is one where the call changes files, and `show` where it is shown in part. */
function answersTo({ tool, role, args }: PermissionQuestion, hasDiff: boolean): readonly (readonly [answer: string, does: string])[] {
  const show: readonly [string, string] | undefined = hasDiff
    ? ["show diff", "shows what it changes in the files, and asks again"]
    : argumentLines(args).length > MAX_LINES + 1
      ? ["show", "shows all of the call, and asks again"]
      : undefined;
  return [
    ["yes", "allows this call"],
    ["no", `refuses it; ${shown(role, 60)} goes another way`],
    ["always", `allows ${shown(tool, 60)}, for the rest of this run`],
    ["change", "asks for its arguments one by one, and allows the call with them"],
    ...(show === undefined ? [] : [show]),
    ["?", "explains the answers"],
  ];
}

export function answersText(question: PermissionQuestion, hasDiff: boolean): string {
  const names = answersTo(question, hasDiff).map(([answer]) => answer);
  const tool = `always (${shown(question.tool, 60)}, for the rest of this run)`;
  const said = names.map((name) => (name === "always" ? tool : name)).join(", ");
  return `Answer ${said}. Other words refuse it, and ${shown(question.role, 60)} receives them.`;
}

const MAX_DESCRIPTION = 1_000;

export function explanation(question: PermissionQuestion, hasDiff: boolean): readonly string[] {
  const { tool, description = "" } = question;
  const says = description.trim() === "" ? "says nothing about itself" : `says: ${shown(description.trim(), MAX_DESCRIPTION)}`;
  const answers = answersTo(question, hasDiff).map(([answer, does]) => `  ${column(answer, 9)}  ${does}`);
  return [`  ${shown(tool, 60)} ${says}`, ...answers];
}

const MAX_LINES = 20;

export function callLines({ tool, args }: PermissionQuestion): readonly string[] {
  const lines = argumentLines(args);
  const rest = lines.length - MAX_LINES;
  if (lines.length === 0) return [`  ${shown(tool, 60)}, without arguments`];
  return rest <= 1 ? lines : [...lines.slice(0, MAX_LINES), `  ... and ${plural(rest, "line")} more: answer show to see all`];
}

/** Read first: it decides most about a call, and a long argument may push it out of sight. */
const FIRST: readonly string[] = ["path", "command", "url"];

function entriesOf(args: JsonObject): readonly (readonly [name: string, value: Json])[] {
  const entries = Object.entries(args);
  const first = FIRST.flatMap((name) => entries.filter(([other]) => other === name));
  return [...first, ...entries.filter(([name]) => !FIRST.includes(name))];
}

function argumentLines(args: JsonObject): readonly string[] {
  const names = Math.min(16, Math.max(0, ...Object.keys(args).map((name) => name.length)));
  return entriesOf(args).flatMap(([name, value]) => {
    const label = column(shown(name, 40), names);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const lines = linesOf(text);
    if (lines.length <= 1) return [`  ${label}  ${shownLine(lines[0] ?? "")}`];
    return [`  ${label}  (${plural(lines.length, "line")})`, ...lines.map((line) => `    ${shownLine(line)}`)];
  });
}

export type ReadFile = (path: string) => Promise<string | undefined>;

export async function changesFiles({ args }: PermissionQuestion, read: ReadFile): Promise<boolean> {
  return (await changesIn(args, read)).length > 0;
}

export async function wholeCall({ args }: PermissionQuestion, read: ReadFile, style: Style): Promise<readonly string[]> {
  const changes = await changesIn(args, read);
  if (changes.length === 0) return argumentLines(args);
  const parts = changes.map(async ({ path, before, after }) => [
    `  ${style.strong(shown(path, 300))}`,
    ...(await changedLines(before, after, style)),
  ]);
  return (await Promise.all(parts)).flat();
}

/** The files that a call writes; none where one of its parts is no change of a file. */
async function changesIn(args: JsonObject, read: ReadFile) {
  const { files } = args;
  const entries = Array.isArray(files) ? (files as readonly unknown[]) : [args];
  const found = await Promise.all(entries.map((entry) => changeIn((entry ?? {}) as Readonly<Record<string, unknown>>, read)));
  const changes = found.filter((change) => change !== undefined);
  return changes.length === found.length ? changes : [];
}

async function changeIn(entry: Readonly<Record<string, unknown>>, read: ReadFile) {
  const { path, command, content, old, new: text, line } = entry;
  if (typeof path !== "string") return undefined;
  const before = (await read(path).catch(() => undefined)) ?? "";
  if (typeof content === "string" && (command === undefined || command === "create")) return { path, before, after: content };
  if (typeof text !== "string") return undefined;
  if (command === "replace" && typeof old === "string") {
    const at = old === "" ? -1 : before.indexOf(old);
    if (at === -1) return { path, before: old, after: text };
    return { path, before, after: before.slice(0, at) + text + before.slice(at + old.length) };
  }
  if (command !== "insert" || typeof line !== "number") return undefined;
  const lines = linesOf(before);
  return { path, before, after: [...lines.slice(0, line), ...linesOf(text), ...lines.slice(line)].join("\n") };
}

async function changedLines(before: string, after: string, style: Style): Promise<readonly string[]> {
  const { diffHunks, lineDiff } = await import("../inspector/view/line-diff.ts");
  return diffHunks(lineDiff(before, after), 2).flatMap((hunk) => {
    const first = hunk[0]?.before ?? 1;
    const lines = hunk.map(({ kind, text }) => {
      if (kind === "same") return `    ${shownLine(text)}`;
      return kind === "added" ? style.good(`  + ${shownLine(text)}`) : style.bad(`  - ${shownLine(text)}`);
    });
    return first <= 1 ? lines : [style.faint(`    line ${first}`), ...lines];
  });
}
