import { sha256Of } from "../workspace/recorded-files.ts";

/** An edit that can be taken back. */
export interface PastEdit {
  readonly path: string;
  /** What the file held; undefined: it was not there. */
  readonly before: string | undefined;
  /** Of what the edit left. */
  readonly afterHash: string;
}

const MOST_EDITS = 100;
const MOST_CHARACTERS = 5_000_000;

/**
 * What one agent has seen of files and done to them.
 *
 * H1 a file that was seen and is another now is known as changed, until it is seen again. H2 edits are taken back newest first, file by
 * file. H3 it is bounded: the oldest edits are forgotten.
 */
export class EditHistory {
  readonly #seen = new Map<string, string>();
  #edits: PastEdit[] = [];

  /** Notes what an agent was shown of a file, or left there. */
  see(path: string, text: string): void {
    this.#seen.set(path, sha256Of(text));
  }

  /** Whether somebody else has changed a file since the agent saw it. */
  isChanged(path: string, text: string): boolean {
    const seen = this.#seen.get(path);
    return seen !== undefined && seen !== sha256Of(text);
  }

  /** Whether the agent has seen a file, or written it. */
  hasSeen(path: string): boolean {
    return this.#seen.has(path);
  }

  record(path: string, before: string | undefined, after: string): void {
    this.#edits.push({ path, before, afterHash: sha256Of(after) });
    this.see(path, after);
    let size = this.#edits.reduce((sum, edit) => sum + (edit.before?.length ?? 0), 0);
    while (this.#edits.length > MOST_EDITS || (size > MOST_CHARACTERS && this.#edits.length > 1))
      size -= this.#edits.shift()?.before?.length ?? 0;
  }

  /** The newest edit of a file. */
  last(path: string): PastEdit | undefined {
    return this.#edits.findLast((edit) => edit.path === path);
  }

  /** Forgets an edit that was taken back. */
  forget(edit: PastEdit): void {
    this.#edits = this.#edits.filter((other) => other !== edit);
    if (edit.before === undefined) this.#seen.delete(edit.path);
    else this.see(edit.path, edit.before);
  }
}
