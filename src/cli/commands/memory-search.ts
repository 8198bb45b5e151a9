import { throwIfAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { SimilarMessage } from "../../memory/storage-options.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { findRole } from "../memory-id.ts";
import { type MemoriesStore, withMemories } from "../memory-store.ts";
import { shortId } from "../run-id.ts";
import { tableLines } from "../screen/table.ts";
import { shown } from "../screen/text.ts";
import { ageText } from "../screen/time-text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { tellLines } from "../tell-lines.ts";
import { resultStyle } from "../tell-result.ts";

/** The options of `troupe memory search`. */
export interface SearchFlags extends Flags {
  readonly role?: string;
  readonly limit?: string;
}

interface Found extends SimilarMessage {
  readonly roleId: string;
}

const MOST = 1_000;

/** `troupe memory search <words>`: what is most like some words, of all roles or one. Nothing is written, and nobody is asked. */
export function memorySearchCommand(host: Host, words: readonly string[], flags: SearchFlags): Promise<ExitCode> {
  return inSession(host, flags, async (session) => {
    const text = words.join(" ").trim();
    if (text === "") throw new UsageError("OPTION_INVALID", 'Expected words to look for, got none: troupe memory search "a cat"');
    const k = limitOf(flags.limit);
    return withMemories<ExitCode>(session, flags, async (store) => {
      const ids = (await store.roles()).roles.map(({ roleId }) => roleId);
      const asked = flags.role === undefined ? ids : [findRole(ids, flags.role)];
      const found = await foundIn(session, store, asked, text, k);
      await tell(session, found);
      return 0;
    });
  });
}

async function foundIn(
  session: Session,
  store: MemoriesStore,
  roleIds: readonly string[],
  text: string,
  k: number,
): Promise<readonly Found[]> {
  const { signal } = session.interruptions;
  const all: Found[] = [];
  for (const roleId of roleIds) {
    throwIfAborted(signal);
    const storage = store.reading(roleId);
    all.push(...(await storage.searchSimilar(text, { k, signal })).map((hit) => ({ ...hit, roleId })));
    if (storage.damaged > 0) session.screen.warn(`${storage.damaged} messages of ${shown(roleId, 60)} are damaged and were not looked at.`);
  }
  return all.sort((a, b) => b.score - a.score).slice(0, k);
}

async function tell(session: Session, found: readonly Found[]): Promise<void> {
  const { json, screen, host } = session;
  if (json !== undefined) {
    for (const { roleId, runId, score, message } of found) await json.write({ type: "found", roleId, runId, score, message });
    return;
  }
  if (found.length === 0) {
    screen.say("Nothing that is remembered shares enough words with that. This search goes by words, not by meaning.");
    return;
  }
  const ids = found.map(({ message }) => message.id);
  const now = host.clock.now();
  // A message of the same id may have been said in another run.
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
  await tellLines(
    session,
    tableLines(["SCORE", "ROLE", "MESSAGE", ...(hasRuns ? ["RUN"] : []), "AGE", "FROM", "SAID"], rows, resultStyle(session)),
  );
}

function limitOf(text = "10"): number {
  const k = /^\d{1,4}$/.test(text.trim()) ? Number(text) : 0;
  if (k >= 1 && k <= MOST) return k;
  throw new UsageError("OPTION_INVALID", `Expected --limit to be a whole number from 1 to ${MOST}, got "${shown(text, 60)}".`);
}
