import { existsSync, realpathSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { abortReason } from "../kernel/abort.ts";
import { AbortedError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { visibleLines } from "../workspace/path-rules.ts";
import { limitText, type Sandbox, type SandboxMount, type SandboxRequest, type SandboxResult } from "../workspace/sandbox.ts";
import { temporaryPrefix } from "../workspace/temporary-owner.ts";
import type { StackName } from "./stack.ts";
import { stackNamed } from "./stacks.ts";

/** Packages to install. */
export interface InstallRequest {
  /** The project's folder. */
  readonly root: string;
  readonly sandbox: Sandbox;
  readonly stack: StackName;
  /** Milliseconds. Default 300,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const installRequest: Known<InstallRequest> = { root: true, sandbox: true, stack: true, timeout: true, signal: true };

/** The result of an installation. Plain JSON. `nothing`: the project names no package. `failed`: the project is as it was. */
export type InstallReport =
  | { readonly kind: "installed"; readonly folder: string }
  | { readonly kind: "nothing" }
  | { readonly kind: "failed" | "not run"; readonly reason: string };

const TIMEOUT = 300_000;
/** Packages are many and large; a copy for a sandbox takes 20,000 files and 512 MiB at most. */
const LIMITS = { bytes: 1024 ** 3, files: 100_000 };
const NPM = "/mounted/npm";
/** Where a machine may name certificates that its network needs. The names are no secret. */
const CERTIFICATES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PIP_CERT"];

/**
 * Installs the packages that a project names, for a user who allowed it: the stack's command runs in the sandbox with the network, for this one
 * step, and its folder of packages replaces that of the project. Nothing else of the project changes. No script of a package runs where the
 * stack's command says so.
 *
 * @throws ControlError when the signal aborts.
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN` for an invalid request.
 * @throws WorkspaceError when the project cannot be copied, or the folder not be replaced.
 */
export async function installPackages(request: InstallRequest): Promise<InstallReport> {
  checkGivenOptions("installPackages", request, installRequest);
  const { root, sandbox, timeout = TIMEOUT, signal } = request;
  const { install, name } = stackNamed(request.stack);
  if (!(await namesPackages(root, name))) return { kind: "nothing" };
  const folder = name === "python" ? ".packages" : "node_modules";
  const made = join(root, `${temporaryPrefix("troupe-packages-")}new`);
  const { command, mounts } = commandOf(install, sandbox.kind === "bubblewrap");
  const words: SandboxRequest["command"] = ["/usr/bin/env", ...certificates(), ...command];
  try {
    const result = await sandbox.run({
      root,
      command: words,
      mounts,
      network: true,
      keep: { folder, to: made },
      limits: LIMITS,
      timeout,
      signal,
    });
    const fault = faultOf(result, signal);
    if (fault !== undefined) return fault;
    if (!existsSync(made)) return { kind: "failed", reason: `${install.join(" ")} ended well and made no folder ${folder}` };
    await rm(join(root, folder), { recursive: true, force: true });
    await rename(made, join(root, folder));
    return { kind: "installed", folder };
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

async function namesPackages(root: string, stack: StackName): Promise<boolean> {
  const file = join(root, stack === "python" ? "requirements.txt" : "package.json");
  if (!existsSync(file)) return false;
  const text = await readFile(file, "utf8");
  if (stack === "python") return text.split("\n").some((line) => /^\s*[^\s#]/.test(line));
  const manifest = parsedJson(text);
  const parts = isRecord(manifest) ? [manifest["dependencies"], manifest["devDependencies"]] : [];
  return parts.some((part) => isRecord(part) && Object.keys(part).length > 0);
}

/** npm may be installed beside a Node.js that the sandbox does not show. */
function commandOf(
  install: readonly string[],
  isIsolated: boolean,
): { readonly command: readonly string[]; readonly mounts: readonly SandboxMount[] } {
  const [program = "", ...rest] = install;
  const npm = join(dirname(realpathSync(process.execPath)), "..", "lib", "node_modules", "npm");
  if (program !== "npm" || !isIsolated || npm.startsWith("/usr/") || !existsSync(npm)) return { command: install, mounts: [] };
  return { command: ["/troupe/node", `${NPM}/bin/npm-cli.js`, ...rest], mounts: [{ from: npm, to: NPM }] };
}

function certificates(): string[] {
  return CERTIFICATES.flatMap((name) => {
    const file = process.env[name];
    return file !== undefined && /^\/etc\/(ssl\/certs|ca-certificates|pki)\//.test(file) ? [`${name}=${file}`] : [];
  });
}

/** The report of a command that did not end well; undefined when it did. */
function faultOf(result: SandboxResult, signal: AbortSignal | undefined): InstallReport | undefined {
  switch (result.kind) {
    case "exited":
      return result.code === 0
        ? undefined
        : { kind: "failed", reason: `it ended with code ${result.code}: ${lastLines(result.stderr + result.stdout)}` };
    case "aborted":
      throw signal?.aborted === true ? abortReason(signal) : new AbortedError();
    case "refused":
      return { kind: "not run", reason: `${result.reason}. ${result.hint}` };
    case "limit":
      return { kind: "failed", reason: `it used ${limitText(result)}` };
    case "timeout":
      return { kind: "failed", reason: `it did not end within ${result.ms} ms` };
    case "signalled":
      return { kind: "failed", reason: `${result.signal} ended it` };
    case "missing":
    case "unstarted":
      return { kind: "not run", reason: "the command could not be started" };
  }
}

function lastLines(text: string): string {
  return visibleLines(text.trim().slice(-1_000), 1_000);
}
