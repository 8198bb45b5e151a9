import type { StoredRole } from "../../adapters/sqlite-store-file.ts";
import { debugMemory, type MemoryReport } from "../../inspector/memory-debug.ts";
import { exportSnapshot, importContent, MAX_CHARACTERS, readSnapshot, snapshotLines } from "../../inspector/memory-snapshot.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import { fingerprintOf, hashingEmbedder } from "../../memory/embedder.ts";
import type { StoredMessage } from "../../memory/message-store.ts";
import type { SimilarMessage } from "../../memory/storage-options.ts";
import { timeOf } from "../../memory/stored-messages.ts";
import type { Message } from "../../message/message.ts";
import {
  findMessage,
  findRole,
  type MemoriesStore,
  memoryPlace,
  roleIds,
  withMemories,
  withMemory,
  withNewMemories,
} from "../memory-store.ts";
import { invalidOption } from "../option-words.ts";
import type { Flags } from "../options.ts";
import { confirmRemoval } from "../prompt.ts";
import {
  ageText,
  bytesText,
  counted,
  type Fact,
  factLines,
  momentText,
  plural,
  shortId,
  shown,
  tableLines,
  type TextStyle,
} from "../screen/text.ts";
import { exportLines, printCompaction, printResult, printTable, report, type Session } from "../session.ts";
import { isStore } from "../store.ts";
import { readText } from "../text-file.ts";

export async function memoryLs(session: Session, flags: Flags): Promise<void> {
  const { path, name } = memoryPlace(flags, session);
  if (await isStore(path)) return withMemories(session, flags, async (store) => printRoles(session, await store.roles()));
  session.screen.say(`No memories are kept in ${shown(name, 300)} yet.`);
}

function printRoles(session: Session, rows: readonly StoredRole[]): Promise<void> {
  const now = session.host.clock.now();
  const cells = ({ roleId, messages, vectors, characters, newest }: StoredRole): readonly string[] => [
    shown(roleId, 60),
    counted(messages),
    countsOfVectors(messages, vectors),
    bytesText(characters),
    newest === undefined ? "" : ageText(now - newest),
  ];
  const heads = ["ROLE", "MESSAGES", "VECTORS", "SIZE", "LAST"];
  return printTable(session, { type: "memory", rows, heads, cells, empty: "No memories are kept here yet." });
}

function countsOfVectors(messages: number, vectors: StoredRole["vectors"]): string {
  const made = vectors.reduce((sum, { count }) => sum + count, 0);
  const missing = messages - made;
  const text = `${counted(made)}${vectors.length > 1 ? ` of ${vectors.length} embedders` : ""}`;
  return missing > 0 ? `${text}, ${counted(missing)} to be made` : text;
}

const MAX_LINES = 200;
const MAX_LINE = 1_000;
const MAX_INDENT = 40;

export function memoryShow(session: Session, flags: Flags, given: string, messageId?: string): Promise<void> {
  const { last = 20, run } = flags;
  return withMemory(session, flags, given, async (store, roleId) => {
    const all = await store.memory(roleId).entries();
    const entries = run === undefined ? all : all.filter(({ runId }) => runId.startsWith(run));
    if (messageId !== undefined) {
      const entry = findMessage(entries, messageId);
      const { runId, addedAt, message } = entry;
      return printResult(session, { type: "message", runId, addedAt, message }, (o) => messageLines(entry, o));
    }
    const role = (await store.roles()).find((one) => one.roleId === roleId) as StoredRole;
    const memory = debugMemory(entries.map(({ message }) => message));
    const runs = new Set(entries.map(({ runId }) => runId)).size;
    const newest = last === 0 ? [] : entries.slice(-last);
    const facts = { type: "memory", roleId, runs, vectors: role.vectors, ...memory };
    await printResult(session, facts, (o) => [
      ...factLines(memoryFacts(role, memory, runs), o),
      ...newestLines(newest, memory.messages - newest.length, o),
    ]);
  });
}

function memoryFacts({ roleId, vectors }: StoredRole, memory: MemoryReport, runs: number): readonly Fact[] {
  const { oldest, newest, messages, bytes } = memory;
  const own = fingerprintOf(hashingEmbedder());
  const made = vectors.map(({ count, fingerprint }) => {
    const maker = fingerprint === own ? "made offline" : `of another embedder (${shown(fingerprint, 8)})`;
    return `${counted(count)} ${maker}`;
  });
  return [
    ["Role", shown(roleId, 200)],
    ["Messages", `${counted(messages)} of ${plural(runs, "run")}, ${bytesText(bytes)}`],
    ["Oldest", oldest && `${momentText(oldest.timestamp)} UTC`],
    ["Newest", newest && `${momentText(newest.timestamp)} UTC`],
    ["Vectors", made.length === 0 ? "none" : made.join(", ")],
  ];
}

function messageLines({ runId, addedAt, message }: StoredMessage, o: TextStyle): readonly string[] {
  const { id, timestamp, sendTo, causeBy, parents, instructContent, metadata, content, priority } = message;
  const facts: readonly Fact[] = [
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
  ];
  const lines = content.split("\n");
  const more = lines.length > MAX_LINES ? [o.style.faint(`and ${plural(lines.length - MAX_LINES, "line")} more: --json has all`)] : [];
  return [...factLines(facts, o), "", ...lines.slice(0, MAX_LINES).map(indented), ...more];
}

function indented(line: string): string {
  const spaces = Math.min(MAX_INDENT, /^ */.exec(line)?.[0].length ?? 0);
  return " ".repeat(spaces) + shown(line, MAX_LINE);
}

function newestLines(newest: readonly StoredMessage[], before: number, o: TextStyle): readonly string[] {
  if (newest.length === 0) return [];
  const ids = newest.map(({ message }) => message.id);
  const rows = newest.map(({ message }) => [
    shown(shortId(message.id, ids), 30),
    message.timestamp > 0 ? momentText(message.timestamp) : "",
    senderText(message),
    shown(message.content, 200),
  ]);
  const [head = "", ...lines] = tableLines(["MESSAGE", "UTC", "FROM", "SAID"], rows, o);
  return ["", head, ...(before > 0 ? [o.style.faint(`and ${plural(before, "message")} before: --last <n>`)] : []), ...lines];
}

function senderText({ sentFrom }: Message): string {
  return sentFrom === "" ? "outside" : shown(sentFrom, 40);
}

const MAX_FOUND = 1_000;

export async function memorySearch(session: Session, flags: Flags, ...words: string[]): Promise<void> {
  const text = words.join(" ").trim();
  if (text === "") throw new UsageError("OPTION_INVALID", 'Expected words to look for, got none: troupe memory search "a cat"');
  const k = Math.min(flags.limit ?? 10, MAX_FOUND);
  const { signal } = session.interruptions;
  return withMemories(session, flags, async (store) => {
    const ids = await roleIds(store);
    const found: MemoryHit[] = [];
    for (const roleId of flags.role === undefined ? ids : [findRole(ids, flags.role)]) {
      throwIfAborted(signal);
      for (const hit of await store.memory(roleId).searchSimilar(text, { k, signal })) found.push({ roleId, ...hit });
    }
    await printFound(session, found.toSorted((a, b) => b.score - a.score).slice(0, k));
  });
}

type MemoryHit = SimilarMessage & { readonly roleId: string };

function printFound(session: Session, rows: readonly MemoryHit[]): Promise<void> {
  const ids = rows.map(({ message }) => message.id);
  const now = session.host.clock.now();
  const hasRuns = new Set(rows.map(({ runId }) => runId)).size > 1;
  const cells = ({ roleId, runId, score, message }: MemoryHit): readonly string[] => [
    score.toFixed(2),
    shown(roleId, 30),
    shown(shortId(message.id, ids), 30),
    ...(hasRuns ? [shown(runId, 30)] : []),
    message.timestamp > 0 ? ageText(now - message.timestamp) : "",
    senderText(message),
    shown(message.content, 200),
  ];
  const heads = ["SCORE", "ROLE", "MESSAGE", ...(hasRuns ? ["RUN"] : []), "AGE", "FROM", "SAID"];
  const empty = "No message shares enough words with that. This search goes by words, not by meaning.";
  return printTable(session, { type: "found", rows, heads, cells, empty });
}

export function memoryExport(session: Session, flags: Flags, given: string, file?: string): Promise<void> {
  return withMemory(session, flags, given, async (store, roleId) => {
    const snapshot = await exportSnapshot(store.memory(roleId), { clock: session.host.clock });
    const done = (): [string, object] => [
      `Exported ${plural(snapshot.messages, "message")} of ${shown(roleId, 100)} to ${shown(file ?? "", 200)}.`,
      { roleId, messages: snapshot.messages },
    ];
    await exportLines(session, { file, example: "troupe memory export <role> memory.json", lines: snapshotLines(snapshot), done });
  });
}

export async function memoryImport(session: Session, flags: Flags, file: string): Promise<void> {
  const { host } = session;
  if (flags.as?.trim() === "") throw invalidOption("--as", "the id of a role", "");
  const content = readSnapshot(await readText(host, file, "a memory", MAX_CHARACTERS));
  const roleId = flags.as ?? roleOf(content);
  return withNewMemories(session, flags, async (store) => {
    const held = (await isStore(store.path)) ? (await store.roles()).find((role) => role.roleId === roleId) : undefined;
    if (held !== undefined) {
      const question = `Add to what ${shown(roleId, 60)} remembers already, ${plural(held.messages, "message")}?`;
      await confirmRemoval(session, `${question} They cannot be separated again.`, flags.yes === true);
    }
    const { messages, added } = await importContent(content, store.memory(roleId));
    const known = messages - added;
    const rest = known === 0 ? "" : ` ${plural(known, "message")} ${known === 1 ? "was" : "were"} there already.`;
    const text = `Imported ${plural(added, "message")} into ${shown(roleId, 100)}.${rest}`;
    await report(session, text, { type: "imported", roleId, messages, added });
  });
}

function roleOf(content: ReturnType<typeof readSnapshot>): string {
  if (content.kind === "storage") return content.roleId;
  const expected = "Expected the snapshot of a long-term memory, got one of a short-term memory";
  throw new UsageError("SNAPSHOT_KIND", `${expected}, which a program imports: importSnapshot(snapshot, memory).`);
}

export function memoryRebuild(session: Session, flags: Flags, given: string): Promise<void> {
  return withMemory(session, flags, given, async (store, roleId) => {
    const { vectors = [] } = (await store.roles()).find((role) => role.roleId === roleId) ?? {};
    const own = fingerprintOf(hashingEmbedder());
    const foreign = vectors.reduce((sum, { fingerprint, count }) => (fingerprint === own ? sum : sum + count), 0);
    const question = `Replace ${plural(foreign, "vector")} that another embedder made? Its program must make them again.`;
    await confirmRemoval(session, question, flags.yes === true || foreign === 0);
    const storage = store.memory(roleId, hashingEmbedder());
    await storage.rebuild({ signal: session.interruptions.signal });
    const { size: messages } = storage;
    const text = `Made the vectors of ${plural(messages, "message")} of ${shown(roleId, 100)} again.`;
    await report(session, text, { type: "rebuilt", roleId, messages });
  });
}

export async function memoryGc(session: Session, flags: Flags, given?: string): Promise<void> {
  const { host } = session;
  const before = flags.olderThan === undefined ? undefined : host.clock.now() - flags.olderThan;
  const { path, forgotten } = await withMemories(session, flags, async (store) => ({
    path: store.path,
    forgotten: before === undefined ? 0 : await forget(session, store, given, before, flags.yes === true),
  }));
  const { compactStore } = await import("../../adapters/sqlite-store-file.ts");
  await printCompaction(session, () => compactStore(path), { forgotten }, `Forgot ${plural(forgotten, "message")}`);
}

async function forget(
  session: Session,
  store: MemoriesStore,
  given: string | undefined,
  before: number,
  isAgreed: boolean,
): Promise<number> {
  const ids = await roleIds(store);
  const old = new Map<string, number>();
  for (const roleId of given === undefined ? ids : [findRole(ids, given)]) {
    const messages = (await store.memory(roleId).entries()).filter((entry) => timeOf(entry) < before).length;
    if (messages > 0) old.set(roleId, messages);
  }
  const [[first = ""] = []] = old;
  const sum = [...old.values()].reduce((total, messages) => total + messages, 0);
  const whose = old.size === 1 ? shown(first, 60) : plural(old.size, "role");
  await confirmRemoval(session, `Forget ${plural(sum, "message")} of ${whose}? They are gone for good.`, isAgreed || sum === 0);
  let forgotten = 0;
  for (const roleId of old.keys()) {
    const messages = await store.memory(roleId).deleteOlderThan(before);
    forgotten += messages;
    await session.json?.write({ type: "forgotten", roleId, messages });
  }
  return forgotten;
}
