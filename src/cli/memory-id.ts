import { UsageError } from "../kernel/errors.ts";
import type { StoredMessage } from "../memory/message-store.ts";
import { shown } from "./screen/text.ts";

/** Ids that an error names. */
const NAMED = 6;

/**
 * The role whose memory an id, or the beginning of one, means.
 *
 * @throws UsageError `ROLE_UNKNOWN`, `ROLE_AMBIGUOUS`, both with the ids that may be meant
 */
export function findRole(ids: readonly string[], given: string): string {
  if (ids.includes(given)) return given;
  const meant = beginning(ids, given, (id) => id);
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return only;
  const text = shown(given, 80);
  if (meant.length > 1) {
    throw new UsageError(
      "ROLE_AMBIGUOUS",
      `Expected the beginning of one role's id, got "${text}", which ${listed(meant)} have. Say more of it.`,
    );
  }
  const known = ids.length === 0 ? "Nothing is remembered here yet." : `There ${ids.length === 1 ? "is" : "are"} ${listed(ids)}.`;
  throw new UsageError("ROLE_UNKNOWN", `Expected the id of a role that remembers something, or its beginning, got "${text}". ${known}`);
}

/**
 * The message that an id, or the beginning of one, means.
 *
 * @throws UsageError `MESSAGE_UNKNOWN`, `MESSAGE_AMBIGUOUS`
 */
export function findMessage(entries: readonly StoredMessage[], given: string): StoredMessage {
  const exact = entries.filter(({ message }) => message.id === given);
  const meant = exact.length > 0 ? exact : beginning(entries, given, ({ message }) => message.id);
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return only;
  const text = shown(given, 80);
  if (only === undefined) {
    throw new UsageError(
      "MESSAGE_UNKNOWN",
      `Expected the id of a message of this memory, or its beginning, got "${text}". See: troupe memory show <role> --last 100`,
    );
  }
  const names = listed(meant.map(({ runId, message }) => (runId === "" ? message.id : `${message.id} of run ${runId}`)));
  throw new UsageError(
    "MESSAGE_AMBIGUOUS",
    `Expected the beginning of one message's id, got "${text}", which ${names} have. Say more of it, or the run: --run <id>`,
  );
}

function beginning<T>(all: readonly T[], given: string, idOf: (one: T) => string): readonly T[] {
  return given === "" ? [] : all.filter((one) => idOf(one).startsWith(given));
}

function listed(ids: readonly string[]): string {
  const first = ids.slice(0, NAMED).map((id) => shown(id, 60));
  return `${first.join(", ")}${ids.length > first.length ? ` and ${ids.length - first.length} more` : ""}`;
}
