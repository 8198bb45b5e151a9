import { createHash } from "node:crypto";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { aFunction, takes } from "../kernel/argument.ts";
import { TroupeError } from "../kernel/errors.ts";
import { contentHash, type Json } from "../kernel/json.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { systemCode } from "../kernel/system-error.ts";
import { walkFiles } from "../workspace/folders.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { isRed, type Verification } from "./verification.ts";
import { verifyProject, type VerifyRequest } from "./verify.ts";

const MAX_KEPT = 20;
/** A project with more files or bytes runs each time. */
const MAX_FILES = 20_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Runs a project and reports what that proves; see {@link verifyProject}. */
export type Verifier = (request: VerifyRequest) => Promise<Verification>;

/** A request without the sandbox, which is the cache's own. */
export type CachedRequest = Omit<VerifyRequest, "sandbox">;

/**
 * Verifies projects in one sandbox, and returns a green result again while project and request are equal.
 *
 * VerificationCache.C1 (`keyOf`) equal: the same bytes and rights of every file that a sandbox sees, and the same depth, criteria, stack,
 * planned files and time limit. VerificationCache.C2 (`isChecked`) only what is green and was checked is kept. VerificationCache.C3 (`verify`)
 * nothing is kept of a project that changed while it ran. VerificationCache.C4 kept results and the bytes of a project are bounded.
 */
export class VerificationCache {
  readonly #sandbox: Sandbox;
  readonly #verify: Verifier;
  readonly #kept = new Map<string, Verification>();

  /** @param verify default {@link verifyProject} */
  constructor(sandbox: Sandbox, verify: Verifier = verifyProject) {
    takes("new VerificationCache", "sandbox", sandbox, kinds.sandbox);
    takes("new VerificationCache", "verify", verify, aFunction);
    this.#sandbox = sandbox;
    this.#verify = verify;
  }

  /** @param isGreen true when a result may be kept. Default: nothing is red @throws errors of {@link verifyProject} */
  async verify(request: CachedRequest, isGreen: (found: Verification) => boolean = (found) => !isRed(found)): Promise<Verification> {
    takes("VerificationCache.verify", "request", request, kinds.object);
    takes("VerificationCache.verify", "isGreen", isGreen, aFunction);
    const key = await keyOf(request);
    const known = key === undefined ? undefined : this.#kept.get(key);
    if (known !== undefined) return known;
    const found = await this.#verify({ ...request, sandbox: this.#sandbox });
    if (key !== undefined && isGreen(found) && isChecked(found) && (await keyOf(request)) === key) this.#kept.set(key, found);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
    return found;
  }
}

function isChecked({ verdicts, suites, notChecked }: Verification): boolean {
  const isOpen = verdicts.some(({ outcome }) => outcome === "not checked");
  return notChecked === undefined && !isOpen && suites.every(({ kind }) => kind !== "not run");
}

async function keyOf({ root, signal, depth, criteria, stack, planned = [], timeout }: CachedRequest): Promise<string | undefined> {
  const skip = (name: string): boolean => [".git", ".troupe"].includes(name.toLowerCase());
  try {
    const { files, folders } = await walkFiles(root, { skip, limit: MAX_FILES, signal });
    const all = createHash("sha256").update(folders.join("\0"));
    let bytes = 0;
    for (const file of files) {
      const { mode, size } = await lstat(join(root, file));
      bytes += size;
      if (bytes > MAX_BYTES) return undefined;
      all.update(JSON.stringify([file, mode & 0o111])).update(
        createHash("sha256")
          .update(await readFile(join(root, file)))
          .digest(),
      );
    }
    // Through JSON: members that are undefined are left out.
    return contentHash(JSON.parse(JSON.stringify([all.digest("hex"), depth, criteria, stack ?? null, planned, timeout ?? null])) as Json);
  } catch (error) {
    const isUnfit = TroupeError.isInstance(error) ? error.code === "WORKSPACE_LIMIT" : systemCode(error) !== "";
    if (isUnfit) return undefined;
    throw error;
  }
}
