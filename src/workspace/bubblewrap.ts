import { constants, lstatSync, readlinkSync, type Stats } from "node:fs";
import { chmod, copyFile, link, mkdir, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isMissing } from "./io-error.ts";
import { inCopy, own, type ProjectCopy } from "./project-copy.ts";
import { type ProcessResult, runProcess } from "./process.ts";
import { plainEnvironment } from "./program-path.ts";
import { limitWords, NODE_OPTIONS, PROCESSES } from "./resource-limits.ts";
import { type Sandbox, SANDBOX_OUTPUT, SANDBOX_TIMEOUT, type SandboxRequest } from "./sandbox.ts";

/** What a machine offers for the profile. */
export interface BubblewrapMeans {
  readonly bwrap: string;
  /** Drops root before anything else: limits on the number of processes do not bind root. Undefined when not root or not there. */
  readonly setpriv: string | undefined;
  readonly prlimit: string | undefined;
  /** Whether the number of processes is limited. */
  readonly limitsProcesses: boolean;
  /** Whether this bubblewrap can forbid namespaces inside the sandbox. */
  readonly forbidsNamespaces: boolean;
}

/** The user and group called nobody. */
const NOBODY = 65534;
/** The user a command believes to be. */
const INSIDE_USER = "1000";
/** Bytes of the private /tmp, and of what a command may add to the project. */
const TEMPORARY_BYTES = 256 * 1024 ** 2;
const SHARED_MEMORY_BYTES = 64 * 1024 ** 2;
/** Where the program lies inside, whatever its place outside. */
const NODE = "/troupe/node";

/**
 * The first program inside: it fills the project's folder, which is memory, from the copy, which is read only, and becomes the command.
 * So nothing a command writes is ever a file of this machine. The text is fixed; the command comes as arguments.
 */
const ENTER: readonly string[] = ["/bin/sh", "-c", 'cp -R /source/. /project/ && exec "$@"', "enter"];

/** A sandbox of namespaces by bubblewrap. Invariants S1-S7 of sandbox.ts. */
export function bubblewrapSandbox(means: BubblewrapMeans): Sandbox {
  const owner = means.setpriv === undefined ? undefined : NOBODY;
  return {
    kind: "bubblewrap",
    describe: describe(means),
    run: (request) => inCopy(request.root, { owner, signal: request.signal }, (copy) => runInside(means, request, copy, owner)),
  };
}

async function runInside(
  means: BubblewrapMeans,
  request: SandboxRequest,
  copy: ProjectCopy,
  owner: number | undefined,
): Promise<ProcessResult> {
  const timeout = request.timeout ?? SANDBOX_TIMEOUT;
  const node = await findNode(copy.scratch, owner !== undefined);
  const etc = await writeEtc(copy.scratch, owner);
  const limits = means.prlimit === undefined ? [] : limitWords(means.prlimit, timeout, means.limitsProcesses ? PROCESSES : undefined);
  const [name, ...args] = request.command;
  const inside = [...ENTER, ...limits, name === "node" ? NODE : name, ...args];
  const words = [...dropWords(means.setpriv), means.bwrap, ...profile(means, copy, node, etc), "--", ...inside];
  const [file = means.bwrap, ...rest] = words;
  return runProcess({
    file,
    args: rest,
    cwd: "/",
    // bubblewrap's own environment can be read from inside, at /proc/1/environ.
    env: plainEnvironment(),
    timeout,
    signal: request.signal,
    outputLimit: request.outputLimit ?? SANDBOX_OUTPUT,
  });
}

function dropWords(setpriv: string | undefined): string[] {
  return setpriv === undefined ? [] : [setpriv, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--"];
}

/** The arguments of bubblewrap. Order matters: each mounts on what the ones before made. */
function profile(means: BubblewrapMeans, copy: ProjectCopy, node: string, etc: string): string[] {
  return [
    ...["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    ...(means.forbidsNamespaces ? ["--disable-userns"] : []),
    ...["--hostname", "sandbox", "--uid", INSIDE_USER, "--gid", INSIDE_USER],
    ...["--ro-bind", "/usr", "/usr", ...systemFolders()],
    ...["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
    ...["--ro-bind", join(etc, "hosts"), "/etc/hosts", "--ro-bind", join(etc, "passwd"), "/etc/passwd"],
    ...["--ro-bind", node, NODE],
    ...["--proc", "/proc", "--dev", "/dev", "--size", String(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"],
    ...["--size", String(TEMPORARY_BYTES), "--tmpfs", "/tmp"],
    ...["--size", String(TEMPORARY_BYTES + copy.bytes), "--tmpfs", "/project", "--ro-bind", copy.project, "/source"],
    ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/project"],
    ...["--setenv", "PATH", `${dirname(NODE)}:/usr/local/bin:/usr/bin:/bin`, "--setenv", "HOME", "/tmp"],
    ...["--setenv", "LANG", "C.UTF-8", "--setenv", "NODE_OPTIONS", NODE_OPTIONS],
  ];
}

/** `/bin`, `/lib` and the like, as the machine has them: links into `/usr`, or folders of their own. */
function systemFolders(): string[] {
  return ["/bin", "/sbin", "/lib", "/lib32", "/lib64"].flatMap((folder) => {
    try {
      return lstatSync(folder).isSymbolicLink() ? ["--symlink", readlinkSync(folder), folder] : ["--ro-bind", folder, folder];
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  });
}

/** Names that programs look up: without a hosts file `localhost` is unknown, without a passwd file the user has no name. */
async function writeEtc(scratch: string, owner: number | undefined): Promise<string> {
  const etc = join(scratch, "etc");
  const hosts = join(etc, "hosts");
  const passwd = join(etc, "passwd");
  await mkdir(etc);
  await writeFile(hosts, "127.0.0.1 localhost\n::1 localhost\n");
  await writeFile(passwd, `troupe:x:${INSIDE_USER}:${INSIDE_USER}:troupe:/tmp:/bin/sh\n`);
  await own([etc, hosts, passwd], owner);
  return etc;
}

/**
 * The program of this process, at a path the user of the sandbox can reach. Root's own installations (below /root) cannot be reached by
 * nobody: such a program is linked, or else copied, next to the project's copy.
 */
async function findNode(scratch: string, isNobody: boolean): Promise<string> {
  const program = await realpath(process.execPath);
  if (!isNobody || (await isOpenToAll(program))) return program;
  const reachable = join(scratch, "node");
  if (isReadable(await stat(program)) && (await isLinked(program, reachable))) return reachable;
  await copyFile(program, reachable, constants.COPYFILE_FICLONE);
  await chmod(reachable, 0o755);
  return reachable;
}

/** Whether a second name for a file could be made: not on another file system, nor on one without links. */
async function isLinked(file: string, name: string): Promise<boolean> {
  return link(file, name).then(
    () => true,
    () => false,
  );
}

async function isOpenToAll(program: string): Promise<boolean> {
  for (let folder = dirname(program); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return isReadable(await stat(program));
  }
}

function isReadable(stats: Stats): boolean {
  return (stats.mode & 0o005) === 0o005;
}

function describe(means: BubblewrapMeans): string {
  const lacks = [
    ...(means.prlimit === undefined ? ["no limits of memory and processes (prlimit is missing)"] : []),
    ...(means.prlimit !== undefined && !means.limitsProcesses ? ["no limit of processes (it cannot be set on this machine)"] : []),
  ];
  const as = means.setpriv === undefined ? "" : ", as nobody";
  return ["bubblewrap: a copy of the project, no network, no other files, no keys" + as, ...lacks].join("; ");
}
