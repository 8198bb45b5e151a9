import { throwIfAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { SimilarMessage } from "../../memory/storage-options.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { findRole, type MemoriesStore, roleIds, withMemories } from "../memory-store.ts";
import { printLines, resultStyle } from "../output.ts";
import { ageText, shortId, shown, tableLines } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import { type Flags, wholeNumber } from "../settings.ts";

interface FoundMessage extends SimilarMessage {
  readonly roleId: string;
}

const MOST = 1_000;

/** `troupe memory search <words>`: the messages most like some words, of all roles or one. It writes nothing and asks no model. */
export function memorySearchCommand(host: Host, words: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const text = words.join(" ").trim();
    if (text === "") throw new UsageError("OPTION_INVALID", 'Expected words to look for, got none: troupe memory search "a cat"');
    const k = wholeNumber("--limit", flags.limit ?? "10", MOST);
    return withMemories<ExitCode>(session, flags, async (store) => {
      const ids = await roleIds(store);
      const asked = flags.role === undefined ? ids : [findRole(ids, flags.role)];
      await print(session, await foundIn(session, store, asked, text, k));
      return 0;
    });
  });
}

async function foundIn(
  { interruptions, screen }: Session,
  store: MemoriesStore,
  asked: readonly string[],
  text: string,
  k: number,
): Promise<readonly FoundMessage[]> {
  const { signal } = interruptions;
  const all: FoundMessage[] = [];
  for (const roleId of asked) {
    throwIfAborted(signal);
    const storage = store.reading(roleId);
    all.push(...(await storage.searchSimilar(text, { k, signal })).map((hit) => ({ ...hit, roleId })));
    if (storage.damaged > 0) screen.warn(`${storage.damaged} messages of ${shown(roleId, 60)} are damaged and were not searched.`);
  }
  return all.sort((a, b) => b.score - a.score).slice(0, k);
}

async function print(session: Session, found: readonly FoundMessage[]): Promise<void> {
  const { json, screen, host } = session;
  if (json !== undefined) {
    for (const { roleId, runId, score, message } of found) await json.write({ type: "found", roleId, runId, score, message });
    return;
  }
  if (found.length === 0) {
    return screen.say("No message shares enough words with that. This search goes by words, not by meaning.");
  }
  const ids = found.map(({ message }) => message.id);
  const now = host.clock.now();
  // Messages of several runs may have the same id.
  const hasRuns = new Set(found.map(({ runId }) => runId)).size > 1;
  const rows = found.map(({ roleId, runId, score, message }) => [
    score.toFixed(2),
    shown(roleId, 30),
    shown(shortId(message.id, ids), 30),
    ...(hasRuns ? [shown(runId, 30)] : []),
    message.timestamp > 0 ? ageText(now - message.timestamp) : "",
    shown(message.sentFrom === "" ? "outside" : message.sentFrom, 30),
    shown(message.content, 200),
  ]);
  const heads = ["SCORE", "ROLE", "MESSAGE", ...(hasRuns ? ["RUN"] : []), "AGE", "FROM", "SAID"];
  await printLines(session, tableLines(heads, rows, resultStyle(session)));
}
