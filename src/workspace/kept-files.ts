import { WorkspaceError } from "../kernel/errors.ts";
import { type HeldFile, makeOwnFolder, withHeld } from "./held-folder.ts";
import { visible } from "./path-rules.ts";
import { sha256Of } from "./recorded-files.ts";
import { limitError } from "./workspace.ts";

/** A file with a content that the run did not write, which the run replaced or removed. */
export interface KeptFile {
  readonly path: string;
  readonly keptAt: string;
}

/** True when a run wrote this content of a path. */
export type IsOwn = (path: string, content: Uint8Array) => boolean | Promise<boolean>;

export const KEPT_FOLDER = ".troupe/kept";
const WRITABLE = 0o222;
/** A larger file is not replaced: its content would have to be held in memory. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * The contents of files that a run replaces or removes and has not written itself.
 *
 * It owns the hashes of what the run wrote here, and the list of kept files. `KeptFiles.K1` before a content is replaced or removed that
 * neither this process nor, as the rule says, the run wrote, it lies in `.troupe/kept`, byte for byte (`keep`). `KeptFiles.K2` a kept file
 * is never replaced: another content of the same path gets a name of its own (`#placeFor`). `KeptFiles.K3` no more rights than the file had
 * are given to its copy (`keep`). `KeptFiles.K4` a read-only file of others stays as it is (`keep`).
 */
export class KeptFiles {
  readonly #isOwn: IsOwn;
  readonly #written = new Map<string, string>();
  readonly #kept = new Map<string, KeptFile>();

  constructor(isOwn: IsOwn) {
    this.#isOwn = isOwn;
  }

  /** Sorted by place. */
  get list(): readonly KeptFile[] {
    return [...this.#kept.values()].sort((a, b) => (a.keptAt < b.keptAt ? -1 : 1));
  }

  /** Keeps the present content of a file, if it has to be kept. @param next its next content; undefined when it is removed */
  async keep(root: string, path: string, next: Uint8Array | undefined): Promise<void> {
    const found = await withHeld(root, path, false, (file) => contentOf(file, path));
    if (found === undefined || (next !== undefined && found.content.equals(next))) return;
    if (await this.isOwn(path, found.content)) return;
    if ((found.mode & WRITABLE) === 0) throw readOnly(path);
    await makeOwnFolder(root, "kept");
    const keptAt = await this.#placeFor(root, path, found.content);
    await withHeld(root, keptAt, true, async (file) => {
      if ((await file.stats()) === undefined) await file.replace(found.content, found.mode & 0o600);
    });
    this.#kept.set(keptAt, { path, keptAt });
  }

  /** True for a content that the run wrote, here or, as the rule says, before. */
  async isOwn(path: string, content: Uint8Array): Promise<boolean> {
    return this.#written.get(path) === sha256Of(content) || this.#isOwn(path, content);
  }

  /** Takes in that a content was written here. */
  wrote(path: string, content: Uint8Array): void {
    this.#written.set(path, sha256Of(content));
  }

  async #placeFor(root: string, path: string, content: Buffer): Promise<string> {
    for (let number = 1; ; number++) {
      const place = `${KEPT_FOLDER}/${path}${number === 1 ? "" : `.${number}`}`;
      const there = await withHeld(root, place, false, (file) => contentOf(file, place));
      if (there === undefined || there.content.equals(content)) return place;
    }
  }
}

interface FoundContent {
  readonly content: Buffer;
  readonly mode: number;
}

export async function contentOf(file: HeldFile, path: string): Promise<FoundContent | undefined> {
  const stats = await file.stats();
  if (stats === undefined) return undefined;
  if (stats.size > MAX_BYTES)
    throw limitError(path, `a file of at most ${MAX_BYTES} bytes, to keep it before it is replaced`, `${stats.size}`);
  const handle = await file.open();
  try {
    return { content: await handle.readFile(), mode: stats.mode };
  } finally {
    await handle.close();
  }
}

/** A file that its owner has closed for writing stays as it is, although its folder would let it be replaced. */
function readOnly(path: string): WorkspaceError {
  return new WorkspaceError(
    "WORKSPACE_UNWRITABLE",
    `Expected to change ${visible(path)}, but it is read-only. Write another file, or let its owner make it writable.`,
    { data: { path: visible(path) } },
  );
}
