import type { StoredRole } from "../../adapters/sqlite-store-file.ts";
import { debugMemory, type MemoryReport, type MessageGroup } from "../../inspector/memory-debug.ts";
import { fingerprintOf, hashingEmbedder } from "../../memory/embedder.ts";
import type { StoredMessage } from "../../memory/message-store.ts";
import type { Message } from "../../message/message.ts";
import type { ExitCode } from "../errors.ts";
import { findMessage, withMemory } from "../memory-store.ts";
import type { Flags } from "../options.ts";
import { counted, momentText, plural } from "../screen/amounts.ts";
import { factLines, tableLines, type TextStyle } from "../screen/layout.ts";
import { bytesText, shortId, shown } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";

const LISTED = 12;
/** Lines of one message, and characters of each. */
const MOST_LINES = 200;
const MOST_CHARACTERS = 1_000;
/** Most spaces that are kept at the start of a line. */
const MOST_INDENT = 40;

export async function memoryShow(session: Session, flags: Flags, given: string, messageId?: string): Promise<ExitCode> {
  const { last = 20 } = flags;
  return withMemory<ExitCode>(session, flags, given, async (store, roleId) => {
    const all = await store.reading(roleId).entries();
    const { run } = flags;
    const entries = run === undefined ? all : all.filter(({ runId }) => runId.startsWith(run));
    if (messageId !== undefined) {
      await printMessage(session, findMessage(entries, messageId));
      return 0;
    }
    const role = (await store.roles()).find((one) => one.roleId === roleId) as StoredRole;
    const newest = last === 0 ? [] : entries.slice(-last);
    await printMemory(session, { role, entries, newest });
    return 0;
  });
}

async function printMessage(session: Session, entry: StoredMessage): Promise<void> {
  const { runId, addedAt, message } = entry;
  return printResult(session, { type: "message", runId, addedAt, message }, (o) => messageLines(entry, o));
}

interface ShownMemory {
  readonly role: StoredRole;
  readonly entries: readonly StoredMessage[];
  readonly newest: readonly StoredMessage[];
}

async function printMemory(session: Session, memory: ShownMemory): Promise<void> {
  const { role, entries } = memory;
  const report = debugMemory(entries.map(({ message }) => message));
  const runs = new Set(entries.map(({ runId }) => runId)).size;
  const facts = { type: "memory", roleId: role.roleId, runs, vectors: role.vectors, ...report };
  return printResult(session, facts, (o) => memoryLines(memory, report, runs, o));
}

function memoryLines({ role, newest }: ShownMemory, report: MemoryReport, runs: number, o: TextStyle): readonly string[] {
  const { oldest, newest: latest, messages, bytes } = report;
  const facts = factLines(
    [
      ["Role", shown(role.roleId, 200)],
      ["Messages", `${counted(messages)} of ${plural(runs, "run")}, ${bytesText(bytes)}`],
      ["Oldest", oldest && `${momentText(oldest.timestamp)} UTC`],
      ["Newest", latest && `${momentText(latest.timestamp)} UTC`],
      ["Vectors", vectorsText(role)],
    ],
    o,
  );
  return [
    ...facts,
    ...groupLines("CAUSE", report.byCause, o),
    ...groupLines("FROM", report.bySender, o),
    ...newestLines(newest, messages, o),
  ];
}

function messageLines({ runId, addedAt, message }: StoredMessage, o: TextStyle): readonly string[] {
  const { id, timestamp, sendTo, causeBy, parents, instructContent, metadata, content, priority } = message;
  const facts = factLines(
    [
      ["Message", shown(id, 200)],
      ["Run", runId === "" ? undefined : shown(runId, 200)],
      ["Said", `${timestamp > 0 ? `${momentText(timestamp)} UTC` : "at no time"} by ${senderText(message)}`],
      ["Stored", `${momentText(addedAt)} UTC`],
      ["To", sendTo.map((name) => shown(name, 60)).join(", ")],
      ["Cause", shown(causeBy, 100)],
      ["Answers", parents.length === 0 ? undefined : parents.map((parent) => shown(parent, 60)).join(", ")],
      ["Payload", instructContent === undefined ? undefined : shown(JSON.stringify(instructContent))],
      ["Priority", priority === undefined ? undefined : String(priority)],
      ["Metadata", Object.keys(metadata).length === 0 ? undefined : shown(JSON.stringify(metadata))],
    ],
    o,
  );
  const lines = content.split("\n");
  const more = lines.length > MOST_LINES ? [o.style.faint(`and ${plural(lines.length - MOST_LINES, "line")} more: --json has all`)] : [];
  return [...facts, "", ...lines.slice(0, MOST_LINES).map(indented), ...more];
}

/** A line with its indentation, which `shown` would remove: code is read by it. */
function indented(line: string): string {
  const spaces = Math.min(MOST_INDENT, /^ */.exec(line)?.[0].length ?? 0);
  return " ".repeat(spaces) + shown(line, MOST_CHARACTERS);
}

function vectorsText({ vectors }: StoredRole): string {
  const own = fingerprintOf(hashingEmbedder());
  const parts = vectors.map(({ count, fingerprint }) => {
    const maker = fingerprint === own ? "made offline" : `of another embedder (${shown(fingerprint, 8)})`;
    return `${counted(count)} ${maker}`;
  });
  return parts.length === 0 ? "none" : parts.join(", ");
}

function groupLines(head: string, groups: readonly MessageGroup[], o: TextStyle): readonly string[] {
  if (groups.length === 0) return [];
  const rows = groups
    .slice(0, LISTED)
    .map(({ name, messages, first }) => [name === "" ? "outside" : shown(name, 40), counted(messages), shown(first[0] ?? "", 60)]);
  const more = groups.length > LISTED ? [o.style.faint(`and ${counted(groups.length - LISTED)} more`)] : [];
  return ["", ...tableLines([head, "MESSAGES", "THE FIRST"], rows, o), ...more];
}

function newestLines(newest: readonly StoredMessage[], all: number, o: TextStyle): readonly string[] {
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
