import type { StoredRole } from "../../adapters/sqlite-store-roles.ts";
import { fingerprintOf } from "../../memory/embedder.ts";
import { hashingEmbedder } from "../../memory/hashing-embedder.ts";
import type { MemoryReport, MessageGroup } from "../../inspector/memory-debug.ts";
import type { StoredMessage } from "../../memory/message-store.ts";
import type { Message } from "../../message/message.ts";
import { shortId } from "../run-id.ts";
import { tableLines, type TableStyle } from "./table.ts";
import { bytesText, column, counted, plural, shown, wrapped } from "./text.ts";
import { momentText } from "./time-text.ts";

/** Groups of messages, and texts that were said more than once, that are listed. */
const LISTED = 12;
/** Lines of one message, and characters of each. */
const MOST_LINES = 200;
const MOST_CHARACTERS = 1_000;

/** A role's memory, as it is shown. */
export interface ShownMemory {
  readonly role: StoredRole;
  readonly report: MemoryReport;
  readonly runs: number;
  readonly damaged: number;
  /** The newest messages, oldest of them first. */
  readonly newest: readonly StoredMessage[];
}

/** A memory for a person: how much, since when, of whom, what was said more than once, what came last. */
export function reportLines({ role, report, runs, damaged, newest }: ShownMemory, o: TableStyle): readonly string[] {
  const { oldest, newest: latest, undated, repeated } = report;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["Role", shown(role.roleId, 200)],
    ["Messages", `${counted(report.messages)} of ${plural(runs, "run")}, ${bytesText(report.bytes)}`],
    ["Oldest", oldest === undefined ? undefined : `${momentText(oldest.timestamp)} UTC`],
    ["Newest", latest === undefined ? undefined : `${momentText(latest.timestamp)} UTC`],
    ["Undated", undated === 0 ? undefined : plural(undated, "message")],
    ["Vectors", vectorsText(role)],
    ["Repeated", repeated.length === 0 ? undefined : `${plural(repeated.length, "text")}, see below`],
  ];
  const trouble =
    damaged === 0 ? [] : ["", o.style.bad(`${plural(damaged, "message")} cannot be read: the store is damaged. What is shown is whole.`)];
  return [
    ...factLines(rows, o),
    ...trouble,
    ...groupLines("CAUSE", report.byCause, o),
    ...groupLines("FROM", report.bySender, o),
    ...repeatedLines(report, o),
    ...newestLines(newest, report.messages, o),
  ];
}

/** One message for a person, whole as far as a screen can take it. */
export function entryLines({ runId, addedAt, message }: StoredMessage, o: TableStyle): readonly string[] {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["Message", shown(message.id, 200)],
    ["Run", runId === "" ? undefined : shown(runId, 200)],
    ["Said", `${message.timestamp > 0 ? `${momentText(message.timestamp)} UTC` : "at no time"} by ${senderText(message)}`],
    ["Stored", `${momentText(addedAt)} UTC`],
    ["To", message.sendTo.map((name) => shown(name, 60)).join(", ")],
    ["Cause", shown(message.causeBy, 100)],
    ["Answers", message.parents.length === 0 ? undefined : message.parents.map((id) => shown(id, 60)).join(", ")],
    ["Payload", message.instructContent === undefined ? undefined : shown(JSON.stringify(message.instructContent))],
    ["Metadata", Object.keys(message.metadata).length === 0 ? undefined : shown(JSON.stringify(message.metadata))],
  ];
  const lines = message.content.split("\n");
  const more = lines.length > MOST_LINES ? [o.style.faint(`and ${plural(lines.length - MOST_LINES, "line")} more: --json has all`)] : [];
  const said = lines.slice(0, MOST_LINES).map((line) => `${" ".repeat(indentOf(line))}${shown(line, MOST_CHARACTERS)}`);
  return [...factLines(rows, o), "", ...said, ...more];
}

function vectorsText({ vectors }: StoredRole): string {
  const own = fingerprintOf(hashingEmbedder());
  const parts = vectors.map(
    ({ count, fingerprint }) =>
      `${counted(count)} ${fingerprint === own ? "made offline" : `of another embedder (${shown(fingerprint, 8)})`}`,
  );
  return parts.length === 0 ? "none" : parts.join(", ");
}

function factLines(rows: readonly (readonly [string, string | undefined])[], { style, width }: TableStyle): readonly string[] {
  return rows.flatMap(([label, text]) => (text === undefined ? [] : wrapped(`${style.faint(column(label, 8))} ${text}`, width, 9)));
}

function groupLines(head: string, groups: readonly MessageGroup[], o: TableStyle): readonly string[] {
  if (groups.length === 0) return [];
  const rows = groups
    .slice(0, LISTED)
    .map(({ name, messages, first }) => [name === "" ? "outside" : shown(name, 40), counted(messages), shown(first[0] ?? "", 60)]);
  const more = groups.length > LISTED ? [o.style.faint(`and ${counted(groups.length - LISTED)} more`)] : [];
  return ["", ...tableLines([head, "MESSAGES", "THE FIRST"], rows, o), ...more];
}

function repeatedLines({ repeated }: MemoryReport, o: TableStyle): readonly string[] {
  if (repeated.length === 0) return [];
  const rows = repeated.slice(0, LISTED).map(({ excerpt, ids }) => [`${counted(ids.length)} times`, shown(excerpt, 80)]);
  return ["", ...tableLines(["REPEATED", "TEXT"], rows, o)];
}

function newestLines(newest: readonly StoredMessage[], all: number, o: TableStyle): readonly string[] {
  if (newest.length === 0) return [];
  const ids = newest.map(({ message }) => message.id);
  const rows = newest.map(({ message }) => [
    shown(shortId(message.id, ids), 30),
    message.timestamp > 0 ? momentText(message.timestamp) : "",
    senderText(message),
    shown(message.content, 200),
  ]);
  const [head = "", ...lines] = tableLines(["MESSAGE", "UTC", "FROM", "SAID"], rows, o);
  const before = all - newest.length;
  return ["", head, ...(before > 0 ? [o.style.faint(`and ${plural(before, "message")} before: --last <n>`)] : []), ...lines];
}

function senderText({ sentFrom }: Message): string {
  return sentFrom === "" ? "outside" : shown(sentFrom, 40);
}

/** Code is read by its indentation, which `shown` takes away. */
function indentOf(line: string): number {
  return Math.min(40, /^ */.exec(line)?.[0].length ?? 0);
}
