import { kinds } from "../kernel/option-kinds.ts";
import { aFunction, takes } from "../kernel/argument.ts";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { TroupeError } from "../kernel/errors.ts";
import { contentHash, type Json } from "../kernel/json.ts";
import { systemCode } from "../kernel/system-error.ts";
import { walkFiles } from "../workspace/folders.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { isRed, type Verification } from "./verification.ts";
import { verifyProject, type VerifyRequest } from "./verify.ts";

/*
 * Keeps what running a project has shown, so that equal bytes are not run twice: a worker who has seen its checks turn green hands the same
 * project to a verifier.
 *
 * It owns the newest green verifications of one sandbox, by what they are about. Nothing is written to a disk.
 *
 * VerificationCache.C1 (`keyOf`, `stateOf`) a verification is taken again only for the same bytes of every file that a sandbox sees, the same rights to
 * execute, the same folders, and an equal request: depth, criteria, stack, planned files and time limit.
 * VerificationCache.C2 (`#run`, `isChecked`) only what is green and was checked is kept: what failed, or could not be run, runs again.
 * VerificationCache.C3 (`#run`) nothing is kept of a project that changed while it ran.
 */

/** Verifications that are kept. */
const MOST_KEPT = 20;
/** Files and bytes of a project whose state is read; a larger one runs each time. */
const MOST_FILES = 20_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** Runs a project and tells what that proves; see {@link verifyProject}. */
export type Verifier = (request: VerifyRequest) => Promise<Verification>;

/** A request without the sandbox, which is the cache's own. */
export type CachedRequest = Omit<VerifyRequest, "sandbox" | "known">;

/** Verifies projects in one sandbox; takes a green result again while project and request are equal. */
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
    const state = await stateOf(request);
    if (state === undefined) return this.#verify({ ...request, sandbox: this.#sandbox });
    return this.#kept.get(keyOf(state, request)) ?? (await this.#run(state, request, isGreen));
  }

  async #run(state: string, request: CachedRequest, isGreen: (found: Verification) => boolean): Promise<Verification> {
    const known = request.depth === "whole" ? this.#kept.get(keyOf(state, { ...request, depth: "quick" })) : undefined;
    const found = await this.#verify({ ...request, sandbox: this.#sandbox, ...(known === undefined ? {} : { known }) });
    const isLasting = isGreen(found) && isChecked(found) && (await stateOf(request)) === state;
    if (isLasting) this.#keep(keyOf(state, request), found);
    return found;
  }

  #keep(key: string, found: Verification): void {
    this.#kept.set(key, found);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break;
      this.#kept.delete(oldest);
    }
  }
}

function keyOf(state: string, { depth, criteria, stack, planned, timeout }: CachedRequest): string {
  // Through text: members that are undefined are none.
  return contentHash(JSON.parse(JSON.stringify([state, depth, criteria, stack ?? null, planned ?? [], timeout ?? null])) as Json);
}

/** True when everything that was asked for could be run. */
function isChecked({ verdicts, suites, notChecked }: Verification): boolean {
  const isOpen = verdicts.some(({ outcome }) => outcome === "not checked");
  return notChecked === undefined && !isOpen && suites.every(({ kind }) => kind !== "not run");
}

/** A hash of all that a sandbox copies of a project; undefined where that is too much, or changes while it is read. */
async function stateOf({ root, signal }: CachedRequest): Promise<string | undefined> {
  const skip = (name: string): boolean => [".git", ".troupe"].includes(name.toLowerCase());
  try {
    const { files, folders } = await walkFiles(root, { skip, limit: MOST_FILES, signal });
    const all = createHash("sha256");
    let bytes = 0;
    for (const folder of folders) {
      all.update(`${JSON.stringify([folder])}\n`);
      if (folder === "node_modules/.bin" || folder.endsWith("/node_modules/.bin")) all.update(await linksIn(join(root, folder)));
    }
    for (const file of files) {
      const { mode, size } = await lstat(join(root, file));
      bytes += size;
      if (bytes > MOST_BYTES) return undefined;
      all.update(`${JSON.stringify([file, (mode & 0o111) !== 0, await hashOf(join(root, file))])}\n`);
    }
    return all.digest("hex");
  } catch (error) {
    const isUnfit = TroupeError.isInstance(error) ? error.code === "WORKSPACE_LIMIT" : systemCode(error) !== "";
    if (isUnfit) return undefined;
    throw error;
  }
}

/** The targets of the links to installed programs. */
async function linksIn(folder: string): Promise<string> {
  const links = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isSymbolicLink());
  const targets = await Promise.all(links.map(async ({ name }) => JSON.stringify([name, await readlink(join(folder, name))])));
  return `${targets.sort().join()}\n`;
}

async function hashOf(file: string): Promise<string> {
  const found = createHash("sha256");
  for await (const chunk of createReadStream(file)) found.update(chunk as Buffer);
  return found.digest("hex");
}
