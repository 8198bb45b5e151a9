import { kinds } from "../kernel/option-kinds.ts";
import { takes } from "../kernel/argument.ts";
import { writeFile, mkdir } from "node:fs/promises";
import { join, dirname } from "node:path";
import { type BubblewrapMeans, bubblewrapSandbox } from "./bubblewrap.ts";
import { visible } from "./path-rules.ts";
import { findCgroups, runLimited, startBy, type StreamedRequest } from "./cgroup.ts";
import { temporaryFolder, inCopy, keepFolder } from "./project-copy.ts";
import { runProcess } from "./process.ts";
import { findProgram, plainEnvironment } from "./program-path.ts";
import { missingMount } from "./sandbox-mounts.ts";
import {
  checkSandboxRequest,
  findPrlimit,
  limitWords,
  NODE_OPTIONS,
  type Refusal,
  refusedSandbox,
  type Sandbox,
  SANDBOX_TIMEOUT,
  sandboxLimits,
  type SandboxMode,
  type SandboxRequest,
  type SandboxResult,
} from "./sandbox.ts";
import { WATCH_INTERVAL, canMeasureTrees } from "./limit-watch.ts";

const PROBE_TIMEOUT = 20_000;
const PROBE_WORD = "the sandbox works";

/** The one probe of this process: machines do not change their mind about namespaces while a run lasts. */
let probed: Promise<Sandbox> | undefined;

/**
 * Returns the sandbox of a mode. `auto` and `bubblewrap` try the whole profile once per process; where it fails, the sandbox runs nothing
 * and says why. `none` isolates nothing and is for code the user trusts.
 *
 * @throws WorkspaceError `WORKSPACE_FULL`, `WORKSPACE_UNWRITABLE` and their kin without a place for a temporary folder.
 */
export async function chooseSandbox(mode: SandboxMode): Promise<Sandbox> {
  takes("chooseSandbox", "mode", mode, kinds.oneOf("auto", "bubblewrap", "none"));
  if (mode === "none") return plainSandbox();
  probed ??= probeBubblewrap().catch((error: unknown) => {
    // A full disk, say: that may have changed when someone asks again.
    probed = undefined;
    throw error;
  });
  return probed;
}

/** Tries bubblewrap now, whatever was found before; for a check of the machine's health. */
export async function probeBubblewrap(): Promise<Sandbox> {
  if (process.platform !== "linux") return refused("bubblewrap runs on Linux only", "");
  const bwrap = findProgram("bwrap");
  if (bwrap === undefined) return refused("bubblewrap is not installed", installHint);
  let first = "";
  for (const means of await meansOf(bwrap)) {
    const sandbox = bubblewrapSandbox(means);
    const trouble = await troubleOf(sandbox);
    if (trouble === undefined) return sandbox;
    if (first === "") first = trouble;
  }
  return refused(`bubblewrap is installed but does not work here: ${first}`, hintFor(first));
}

async function meansOf(bwrap: string): Promise<BubblewrapMeans[]> {
  const isRoot = process.getuid?.() === 0;
  const setpriv = isRoot ? findProgram("setpriv") : undefined;
  const prlimit = findPrlimit();
  const forbidsNamespaces = await knowsDisableUserns(bwrap);
  const [unshare, mount] = [findProgram("unshare"), findProgram("mount")];
  const limitsProcesses = prlimit !== undefined && (!isRoot || setpriv !== undefined);
  const full = { bwrap, setpriv, prlimit, limitsProcesses, forbidsNamespaces, room: undefined, cgroups: findCgroups() };
  const room = unshare === undefined || mount === undefined ? undefined : { unshare, mount };
  const means: BubblewrapMeans[] = room === undefined ? [full] : [{ ...full, room }, full];
  if (full.forbidsNamespaces) means.push({ ...full, forbidsNamespaces: false });
  if (full.limitsProcesses) means.push({ ...full, forbidsNamespaces: false, limitsProcesses: false });
  if (setpriv !== undefined) means.push({ ...full, forbidsNamespaces: false, limitsProcesses: false, setpriv: undefined });
  if (prlimit !== undefined)
    means.push({ ...full, forbidsNamespaces: false, limitsProcesses: false, setpriv: undefined, prlimit: undefined });
  return means;
}

async function knowsDisableUserns(bwrap: string): Promise<boolean> {
  const help = await runProcess({ file: bwrap, args: ["--help"], cwd: "/", timeout: PROBE_TIMEOUT });
  return help.kind === "exited" && help.stdout.includes("--disable-userns");
}

async function troubleOf(sandbox: Sandbox): Promise<string | undefined> {
  const { path: project, remove } = temporaryFolder("troupe-probe-");
  try {
    await writeFile(join(project, "probe.mjs"), `process.stdout.write(${JSON.stringify(PROBE_WORD)});\n`);
    const result = await sandbox.run({ root: project, command: ["node", "probe.mjs"], timeout: PROBE_TIMEOUT });
    return result.kind === "exited" && result.code === 0 && result.stdout === PROBE_WORD ? undefined : troubleIn(result);
  } finally {
    await remove();
  }
}

function troubleIn(result: SandboxResult): string {
  const said = "stderr" in result ? result.stderr.trim() : "";
  return said === "" ? `a first program in it ended as "${result.kind}"` : visible(said.split("\n")[0] ?? said, 300);
}

const installHint = "Install it (Debian and Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap). ";

function hintFor(trouble: string): string {
  if (/unknown option/i.test(trouble)) return "Bubblewrap 0.7 or newer is needed. ";
  return /permission|not permitted|RTM_NEWADDR|uid map|namespace/i.test(trouble)
    ? "The system forbids user namespaces: on Ubuntu 24.04 load the AppArmor profile bwrap-userns-restrict, in a container allow them. "
    : "";
}

function refused(reason: string, hint: string): Sandbox {
  const allow = "llow the project's code to run without isolation, if you trust it: --sandbox none.";
  return refusedSandbox(reason, `${hint}${hint === "" ? "A" : "Or a"}${allow}`);
}

/** Runs commands as the user of this process, on a copy without its environment. It limits accidents, not malicious code. */
export function plainSandbox(): Sandbox {
  const prlimit = findPrlimit();
  const cgroups = process.platform === "linux" ? findCgroups() : { reason: "there is no cgroup v2" };
  const parent = "parent" in cgroups ? cgroups.parent : undefined;
  const watched = canMeasureTrees ? `watched every ${WATCH_INTERVAL} ms` : "no limit";
  const describe = [
    "no isolation: a copy of the project, an environment without keys",
    prlimit === undefined ? "no limits of memory and file size (prlimit is missing)" : "memory and file size limited",
    ...("parent" in cgroups ? [] : [`memory and processes together: ${watched}, ${cgroups.reason}`]),
    "number of files and bytes in all of them: no limit",
  ];
  const run = async (request: StreamedRequest): Promise<SandboxResult> => {
    checkSandboxRequest(request);
    const refusal = missingMount(request.mounts) ?? openness(request);
    const limits = sandboxLimits(request.limits);
    if (refusal !== undefined) return refusal;
    const { command, timeout = SANDBOX_TIMEOUT, keep } = request;
    const each = prlimit === undefined ? [] : limitWords(prlimit, timeout, { ...limits, processes: undefined });
    const [name, ...args] = command;
    const words = [...each, name === "node" ? process.execPath : name, ...args];
    return inCopy(request.root, { signal: request.signal }, async ({ scratch, project }) => {
      const home = join(scratch, "home");
      await mkdir(home);
      const result = await runLimited(request, words, { cwd: project, env: environmentIn(home) }, { limits, cgroups: parent });
      if (keep !== undefined && result.kind === "exited" && result.code === 0) await keepFolder(join(project, keep.folder), keep.to);
      return result;
    });
  };
  return { kind: "none", describe: describe.join("; "), run, start: startBy(run) };
}

/** The refusal of what would be more open without isolation than was asked for. */
function openness({ mounts = [], network = [] }: SandboxRequest): Refusal | undefined {
  const moved = mounts.find(({ from, to }) => from !== to);
  if (moved !== undefined) {
    const reason = `without isolation ${moved.from} cannot be shown as ${moved.to}`;
    return { kind: "refused", reason, hint: "Use bubblewrap, or the same path inside and outside." };
  }
  if (network.length === 0) return undefined;
  const reason = `without isolation the command would reach more of the network than ${network.join(", ")}`;
  return { kind: "refused", reason, hint: "Use bubblewrap: --sandbox auto. Or do the step yourself." };
}

function environmentIn(home: string): Record<string, string> {
  const plain = plainEnvironment();
  const separator = process.platform === "win32" ? ";" : ":";
  return { ...plain, PATH: `${dirname(process.execPath)}${separator}${plain["PATH"] ?? ""}`, HOME: home, TMPDIR: home, NODE_OPTIONS };
}
