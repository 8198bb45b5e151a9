import { JournalError, UsageError } from "../../kernel/errors.ts";
import { bytesOf, loadedBy, loadFile, type MessageFile } from "../../message/file.ts";
import { hashOf } from "../../message/given-files.ts";
import type { Message } from "../../message/message.ts";
import type { RunEvent, RunEventBody } from "./event.ts";
import type { Journal } from "./journal.ts";

type FileJournal = Pick<Journal, "keepFile" | "file">;

export function filesIn(event: RunEvent | RunEventBody): readonly MessageFile[] {
  if (event.type === "message") return event.message.files ?? nothing;
  if (event.type !== "act.ended") return nothing;
  const found: MessageFile[] = [];
  for (const { message } of event.said) if (message.files !== undefined) found.push(...message.files);
  for (const ops of [event.memory, event.working])
    for (const [, of] of ops) if (typeof of === "object" && of.files !== undefined) found.push(...of.files);
  return found.length === 0 ? nothing : found;
}

export function hasFiles(event: RunEvent | RunEventBody): boolean {
  return filesIn(event).length > 0;
}

export function hashesIn(events: readonly RunEvent[]): ReadonlySet<string> {
  return new Set(events.flatMap((event) => filesIn(event).map(({ hash }) => hash)));
}

/** Copies the files that events name from one run to another. */
export async function copyFiles(
  journal: FileJournal,
  from: string,
  to: { readonly runId: string; readonly epoch: number },
  events: readonly RunEvent[],
): Promise<void> {
  for (const hash of hashesIn(events)) {
    const bytes = await keptFile(journal, from, hash);
    if (bytes !== undefined) await journal.keepFile?.(to.runId, to.epoch, hash, bytes);
  }
}

/** Returns a file of a run; undefined if the journal does not have it. @throws JournalError `JOURNAL_DAMAGED` for other bytes than were kept */
export async function keptFile(journal: Pick<Journal, "file">, runId: string, hash: string): Promise<Uint8Array | undefined> {
  const bytes = await journal.file?.(runId, hash);
  if (bytes === undefined || hashOf(bytes) === hash) return bytes;
  const text = `Expected the bytes of file ${hash} of run ${runId}, got others: they were changed since they were written. Put back a copy of the journal.`;
  throw new JournalError("JOURNAL_DAMAGED", text, { data: { runId, hash } });
}

/** Limit on the bytes of files that a run without a journal for them keeps. */
const MOST_HELD = 100 * 1024 * 1024;

/**
 * The files of one run. Without a journal that keeps files, it owns their bytes.
 *
 * RunFiles.F1 (`read`) a run reads only its own files, whatever hash it is given.
 */
export class RunFiles {
  readonly #runId: string;
  readonly #owned: { readonly journal: FileJournal; readonly epoch: number } | undefined;
  /** The files of messages that may not be recorded yet. */
  readonly #made = new Map<string, WeakRef<MessageFile>>();
  readonly #held = new Map<string, MessageFile>();
  readonly #kept = new Set<string>();

  readonly #source: Pick<Journal, "file"> | undefined;

  constructor(
    runId: string,
    owned: { readonly journal: FileJournal; readonly epoch: number } | undefined,
    source: Pick<Journal, "file"> | undefined = owned?.journal,
  ) {
    this.#runId = runId;
    this.#source = source;
    this.#owned = owned?.journal.keepFile === undefined ? undefined : owned;
  }

  /** Finds the files of a message of an activation before it is recorded. */
  made({ files = nothing }: Message): void {
    for (const file of files) this.#made.set(file.hash, new WeakRef(file));
  }

  /** Takes the files of an event that is recorded. @throws UsageError `FILE_TOO_LARGE` */
  take(event: RunEventBody): void {
    for (const file of filesIn(event)) {
      this.#made.set(file.hash, new WeakRef(file));
      if (this.#owned === undefined && bytesOf(file) !== undefined) this.#hold(file);
    }
  }

  async keep(events: readonly RunEvent[]): Promise<void> {
    const owned = this.#owned;
    if (owned?.journal.keepFile === undefined) return;
    for (const file of events.flatMap(filesIn)) {
      const { hash } = file;
      const bytes = await loadFile(file);
      if (bytes === undefined) continue;
      if (!this.#kept.has(hash)) await owned.journal.keepFile(this.#runId, owned.epoch, hash, bytes);
      this.#kept.add(hash);
      this.#made.delete(hash);
      loadedBy(file, () => keptFile(owned.journal, this.#runId, hash));
    }
  }

  /** Returns the bytes of a file of this run; undefined for another one. */
  async read(hash: string): Promise<Uint8Array | undefined> {
    const file = this.#held.get(hash) ?? this.#made.get(hash)?.deref();
    const bytes = file === undefined ? undefined : await loadFile(file);
    return bytes ?? (this.#source && keptFile(this.#source, this.#runId, hash));
  }

  #hold(file: MessageFile): void {
    const size = [...this.#held.values()].reduce((sum, held) => sum + held.size, this.#held.has(file.hash) ? 0 : file.size);
    if (size > MOST_HELD) {
      const expected = `Expected files of at most ${MOST_HELD} bytes in a run whose journal keeps no files, got ${size} with ${file.name}`;
      throw new UsageError("FILE_TOO_LARGE", `${expected}. Give the run a journal that does, such as sqlite(path).`);
    }
    this.#held.set(file.hash, file);
  }
}

const nothing: readonly never[] = Object.freeze([]);
