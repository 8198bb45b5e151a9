import { defaultLogger } from "../kernel/default-logger.ts";
import { type Logger, silentLogger } from "../kernel/emit.ts";
import type { Mask } from "../kernel/mask.ts";

const MAX_KINDS = 1_000;

/**
 * The logger of a run that was given none. It owns the counts of the warnings that were not written.
 *
 * RunWarnings.W1 (`warnOf`) of each kind and role one warning is written; the others are counted, and `end` writes the counts.
 */
export class RunWarnings implements Logger {
  readonly debug: Logger["debug"] = silentLogger.debug;
  readonly info: Logger["info"] = silentLogger.info;
  readonly error: Logger["error"] = (text) => defaultLogger.error(this.#mask(text));
  readonly #mask: Mask;
  /** The first warnings by role and kind, with the number of others. */
  #kinds = new Map<string, { readonly first: string; others: number }>();

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  readonly warn: Logger["warn"] = (text) => this.warnOf(undefined, text);

  /** @param role the role that the warning is about, if it is about one */
  warnOf(role: string | undefined, text: string): void {
    const kind = this.#kinds.size < MAX_KINDS ? `${role ?? ""}\n${shapeOf(text)}` : "";
    const known = this.#kinds.get(kind);
    if (known !== undefined) return void (known.others += 1);
    const first = this.#mask(text);
    this.#kinds.set(kind, { first, others: 0 });
    defaultLogger.warn(first);
  }

  /** Writes what was counted, and forgets it. */
  end(): void {
    const kinds = this.#kinds;
    this.#kinds = new Map();
    for (const { first, others } of kinds.values())
      if (others > 0) defaultLogger.warn(`${others === 1 ? "One more warning" : `${others} more warnings`} of the kind: ${first}`);
  }
}

/** Returns a warning without its quotations, numbers and ids. */
function shapeOf(text: string): string {
  const words = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '"').split(" ");
  return words.map((word) => (/\d/.test(word) ? "#" : word)).join(" ");
}
