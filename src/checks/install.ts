import { existsSync, realpathSync } from "node:fs";
import { lstat, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { abortReason } from "../kernel/abort.ts";
import { AbortedError, UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ifThere } from "../kernel/system-error.ts";
import { valueText } from "../kernel/value-text.ts";
import { visibleLines } from "../workspace/path-rules.ts";
import { temporaryFolder } from "../workspace/project-copy.ts";
import { limitText, type Sandbox, type SandboxMount, type SandboxResult } from "../workspace/sandbox.ts";
import { temporaryPrefix } from "../workspace/temporary-owner.ts";
import { namedPackages, packagesFile } from "./package-names.ts";
import type { StackName } from "./stacks.ts";
import { stackNamed } from "./stacks.ts";

/** Packages to install. */
export interface InstallRequest {
  /** The project's folder. */
  readonly root: string;
  /** Bubblewrap: another sandbox cannot close the network, and the step is not run. */
  readonly sandbox: Sandbox;
  readonly stack: StackName;
  /** The address of the registry. Default: that of npm, `https://registry.npmjs.org/`, or PyPI, `https://pypi.org/simple/`. */
  readonly registry?: string | undefined;
  /** Milliseconds. Default 300,000. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const installRequest: Known<InstallRequest> = {
  root: kinds.text,
  sandbox: kinds.sandbox,
  stack: kinds.text,
  registry: kinds.text,
  timeout: kinds.milliseconds,
  signal: kinds.signal,
};

/**
 * The result of an installation. Plain JSON. `nothing`: the project names no package. `failed`: the project is as it was. `not run`: it names something
 * else than packages of a registry, or nothing can be run safely.
 */
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
const NPM_REGISTRY = "https://registry.npmjs.org/";
const PYTHON_REGISTRY = "https://pypi.org/simple/";
/** The files of PyPI have a host of their own. */
const PYTHON_FILES = "files.pythonhosted.org:443";
/** No settings of the user or of the machine: they may name other registries, and keys. */
const NPM_SETTINGS = ["--userconfig=/tmp/user-npmrc", "--globalconfig=/tmp/global-npmrc", "--cache=/tmp/npm", "--update-notifier=false"];
/** Packages that are built run code of theirs: only built ones are taken. */
const PIP_SETTINGS = ["--only-binary", ":all:", "--no-cache-dir", "--no-input", "--disable-pip-version-check"];

/**
 * Installs the packages that a project names, for a user who allowed it. Only names and versions of a registry are taken; they alone reach the
 * stack's command, without settings, lock files and scripts of the project. It runs in the sandbox, reaches the registry and no other host,
 * and runs no code of a package. Its folder of packages replaces that of the project; nothing else of the project changes.
 *
 * @throws ControlError when the signal aborts.
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN` for an invalid request.
 * @throws WorkspaceError when the packages cannot be copied, or the folder not be replaced.
 */
export async function installPackages(request: InstallRequest): Promise<InstallReport> {
  checkGivenOptions("installPackages", request, installRequest);
  const { root, sandbox, timeout = TIMEOUT, signal } = request;
  const { install, name } = stackNamed(request.stack);
  const registry = registryOf(name, request.registry);
  const path = join(root, packagesFile(name));
  // A link is no file of the project, and a reason quotes what the file says.
  const isFile = (await ifThere(lstat(path)))?.isFile() === true;
  const named = isFile ? namedPackages(name, await readFile(path, "utf8")) : { kind: "nothing" as const };
  if (named.kind === "nothing") return named;
  if (named.kind === "refused") return { kind: "not run", reason: named.reason };
  const folder = name === "python" ? ".packages" : "node_modules";
  const made = join(root, `${temporaryPrefix("troupe-packages-")}new`);
  const { command, mounts } = commandOf(install, sandbox.kind === "bubblewrap");
  const asked = temporaryFolder("troupe-packages-");
  try {
    await writeFile(join(asked.path, named.file), named.text);
    const result = await sandbox.run({
      root: asked.path,
      command: ["/usr/bin/env", "PIP_CONFIG_FILE=/dev/null", ...certificates(), ...command, ...settingsOf(name, registry)],
      mounts,
      network: hostsOf(registry),
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
    await asked.remove();
  }
}

function registryOf(stack: StackName, given: string = stack === "python" ? PYTHON_REGISTRY : NPM_REGISTRY): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url;
  throw new UsageError("OPTION_INVALID", `Expected registry to be an http address without a name and a password, got ${valueText(given)}.`);
}

function settingsOf(stack: StackName, { href }: URL): readonly string[] {
  return stack === "python" ? [...PIP_SETTINGS, "--index-url", href] : [...NPM_SETTINGS, `--registry=${href}`];
}

function hostsOf({ href, protocol, hostname, port }: URL): readonly string[] {
  const host = `${hostname}:${port === "" ? (protocol === "http:" ? "80" : "443") : port}`;
  return href === PYTHON_REGISTRY ? [host, PYTHON_FILES] : [host];
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
