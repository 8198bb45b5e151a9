import { existsSync, realpathSync } from "node:fs";
import { lstat, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { parsedJson } from "../kernel/json.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ifThere } from "../kernel/system-error.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { visibleLines } from "../workspace/path-rules.ts";
import { temporaryFolder } from "../workspace/project-copy.ts";
import { endText, type Sandbox, type SandboxMount, type SandboxResult } from "../workspace/sandbox.ts";
import { temporaryPrefix } from "../workspace/temporary-owner.ts";
import type { StackName } from "./stacks.ts";
import { stackNamed } from "./stacks.ts";

export interface InstallRequest {
  readonly root: string;
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

/** `nothing`: the project names no package. `failed`: the project is as it was. `not run`: nothing can be installed safely. Plain JSON. */
export type InstallReport =
  | { readonly kind: "installed"; readonly folder: string }
  | { readonly kind: "nothing" }
  | { readonly kind: "failed" | "not run"; readonly reason: string };

const TIMEOUT = 300_000;
const LIMITS = { bytes: 1024 ** 3, files: 100_000 };
const NPM = "/mounted/npm";
/** The variables by which a machine may name certificates that its network needs. The names are no secret. */
const CERTIFICATES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PIP_CERT"];
const NPM_REGISTRY = "https://registry.npmjs.org/";
const PYTHON_REGISTRY = "https://pypi.org/simple/";
const PYTHON_FILES = "files.pythonhosted.org:443";
/** No settings of the user or of the machine: they may name other registries, and keys. */
const NPM_SETTINGS = ["--userconfig=/tmp/user-npmrc", "--globalconfig=/tmp/global-npmrc", "--cache=/tmp/npm", "--update-notifier=false"];
/** Packages that are built run code of theirs: only built ones are taken. */
const PIP_SETTINGS = ["--only-binary", ":all:", "--no-cache-dir", "--no-input", "--disable-pip-version-check"];

/**
 * Installs the packages that a project names, for a user who allowed it. Only names and versions reach the stack's command, not settings,
 * lock files or scripts of the project. It runs in the sandbox, reaches the registry alone, and runs no code of a package.
 *
 * @throws ControlError when the signal aborts; UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`; WorkspaceError
 */
export async function installPackages(request: InstallRequest): Promise<InstallReport> {
  checkGivenOptions("installPackages", request, installRequest);
  const { root, sandbox, timeout = TIMEOUT, signal } = request;
  const { install, name } = stackNamed(request.stack);
  const registry = registryOf(name, request.registry);
  if (install === undefined) return { kind: "not run", reason: `only packages of npm and PyPI are installed, none of the stack ${name}` };
  const path = join(root, name === "python" ? "requirements.txt" : "package.json");
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

function faultOf(result: SandboxResult, signal: AbortSignal | undefined): InstallReport | undefined {
  if (result.kind === "exited" && result.code === 0) return undefined;
  if (result.kind === "refused") return { kind: "not run", reason: `${result.reason}. ${result.hint}` };
  const said = result.kind === "exited" ? `: ${visibleLines((result.stderr + result.stdout).trim().slice(-1_000), 1_000)}` : "";
  return { kind: "stdout" in result ? "failed" : "not run", reason: `it ${endText(result, signal)}${said}` };
}

/** `named`: a file that names the packages and nothing else. `refused`: something that is no name and version of a registry. */
type NamedPackages =
  | { readonly kind: "nothing" }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "named"; readonly file: string; readonly text: string };

function namedPackages(stack: StackName, text: string): NamedPackages {
  return stack === "python" ? namedByRequirements(text) : namedByManifest(text);
}

const LISTS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;
const ELSEWHERE = ["overrides", "resolutions", "workspaces", "bundleDependencies", "bundledDependencies", "pnpm"];
const NPM_NAME = String.raw`(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*`;
/** A range of versions or a tag: without the marks of addresses, folders, archives, repositories and other names. */
const NPM_RANGE = String.raw`(?!\.)(?!.*\.(?:tgz|tar|tar\.gz)$)[\w.+^~<>=|* -]{0,200}`;
const NPM_ENTRY = new RegExp(`^${NPM_NAME}$`, "i");
const NPM_VERSION = new RegExp(`^(?:npm:${NPM_NAME}(?:@${NPM_RANGE})?|${NPM_RANGE})$`, "i");

function namedByManifest(text: string): NamedPackages {
  const manifest = parsedJson(text);
  if (!isRecord(manifest)) return { kind: "nothing" };
  const lists = LISTS.flatMap((list) => (isRecord(manifest[list]) ? [[list, manifest[list]] as const] : []));
  const entries = lists.flatMap(([, list]) => Object.entries(list));
  if (entries.length === 0) return { kind: "nothing" };
  const member = ELSEWHERE.find((name) => manifest[name] !== undefined);
  if (member !== undefined) return refused(`package.json without "${member}", which changes where packages come from`);
  const strange = entries.find(([name, version]) => !NPM_ENTRY.test(name) || typeof version !== "string" || !NPM_VERSION.test(version));
  if (strange !== undefined) return refused(`names and versions of a registry in package.json, got ${strange.map(valueText).join(": ")}`);
  const named = { name: "packages", version: "1.0.0", private: true, ...Object.fromEntries(lists) };
  return { kind: "named", file: "package.json", text: JSON.stringify(named, null, 2) };
}

const PYTHON_NAME = String.raw`[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`;
const PYTHON_VERSION = String.raw`(?:===|==|~=|!=|<=|>=|<|>)\s*[\w.*+!-]+`;
const REQUIREMENT = new RegExp(
  String.raw`^${PYTHON_NAME}(?:\s*\[\s*${PYTHON_NAME}(?:\s*,\s*${PYTHON_NAME})*\s*\])?\s*(?:\(?\s*${PYTHON_VERSION}(?:\s*,\s*${PYTHON_VERSION})*\s*\)?)?\s*(?:;[\w\s.<>=!"'()]*)?$`,
);
/** A longer line is no requirement that a person would write. */
const MAX_LINE = 500;

function namedByRequirements(text: string): NamedPackages {
  const lines = text
    .split(/\r\n|[\n\r]/)
    .map((line) =>
      line
        .replace(/(?:^|\s)#.*$/, "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .filter((line) => line !== "");
  if (lines.length === 0) return { kind: "nothing" };
  const strange = lines.find((line) => line.length > MAX_LINE || !REQUIREMENT.test(line));
  if (strange !== undefined) return refused(`names and versions of a registry in requirements.txt, got ${valueText(strange)}`);
  return { kind: "named", file: "requirements.txt", text: `${lines.join("\n")}\n` };
}

function refused(expected: string): NamedPackages {
  return { kind: "refused", reason: `Expected ${expected}. Name each package with its version, or install it yourself.` };
}
