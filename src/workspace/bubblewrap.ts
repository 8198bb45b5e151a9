import { isMissing, succeeds } from "../kernel/system-error.ts";
import { constants, lstatSync, readlinkSync } from "node:fs";
import { chmod, copyFile, link, mkdir, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WATCH_INTERVAL } from "./limit-watch.ts";
import { inCopy, keepFolder, own, type ProjectCopy } from "./project-copy.ts";
import { plainEnvironment } from "./program-path.ts";
import { driverFolder, gateWords, isOpenToAll, isReadable, missingMount, mountWords } from "./sandbox-mounts.ts";
import { CARRIER, carrierWords, type NetworkGate, openGate } from "./sandbox-network.ts";
import {
  checkSandboxRequest,
  limitWords,
  NODE_OPTIONS,
  type Refusal,
  type Sandbox,
  SANDBOX_TIMEOUT,
  sandboxLimits,
  type SandboxLimits,
  type SandboxRequest,
  type SandboxResult,
} from "./sandbox.ts";
import { runLimited, startBy, type StreamedRequest } from "./cgroup.ts";
import { NOBODY } from "./temporary-owner.ts";

export interface BubblewrapMeans {
  readonly bwrap: string;
  /** Drops root before anything else: limits on the number of processes do not bind root. Undefined when not root or not there. */
  readonly setpriv: string | undefined;
  readonly prlimit: string | undefined;
  readonly limitsProcesses: boolean;
  readonly forbidsNamespaces: boolean;
  /** Programs that make the room in which a command writes: memory with a bound of its bytes and its files. Undefined: bytes only. */
  readonly room: { readonly unshare: string; readonly mount: string } | undefined;
  readonly cgroups: { readonly parent: string } | { readonly reason: string };
}

const INSIDE_USER = "1000";
/** Bytes of the page in which memory is given to a file, however small. */
const PAGE = 4096;
const ROOM_ENTRIES = 4;
const NODE = "/troupe/node";
/** The project as it was, read only, beside the folder in which a command works. */
export const SOURCE_FOLDER = "/source";

/** Processes that bubblewrap keeps around a command: its parent outside and the first process inside, and as many while it starts. */
const WRAPPERS = 4;

const ENTER: readonly string[] = ["/bin/sh", "-c", `cp -R ${SOURCE_FOLDER}/. /project/ && exec "$@"`, "enter"];

/** Mounts the room where only the sandbox sees it, and becomes bubblewrap, which alone cannot bound the number of files. */
const FURNISH = '"$1" -t tmpfs -o "$2" troupe "$3" && mkdir -m 1777 "$3/tmp" "$3/shm" && mkdir "$3/project" && shift 3 && exec "$@"';

const FURNISH_AND_KEEP =
  '"$1" -t tmpfs -o "$2" troupe "$3" && mkdir -m 1777 "$3/tmp" "$3/shm" && mkdir "$3/project" || exit 1; room=$3 folder=$4 kept=$5; shift 5; "$@"; ' +
  'code=$?; if [ "$code" = 0 ] && [ -d "$room/project/$folder" ] && [ ! -L "$room/project/$folder" ]; then cp -R -P "$room/project/$folder" "$kept" || exit 1; fi; exit "$code"';

const NOTHING_KEPT: Refusal = {
  kind: "refused",
  reason: "nothing can be kept of a sandbox where unshare does not work",
  hint: "Do the step yourself, outside the sandbox.",
};

/** A sandbox of namespaces by bubblewrap. Invariants S1-S7 of sandbox.ts. */
export function bubblewrapSandbox(means: BubblewrapMeans): Sandbox {
  const owner = means.setpriv === undefined ? undefined : NOBODY;
  const as = means.setpriv === undefined ? "" : ", as nobody";
  const run = async (request: StreamedRequest): Promise<SandboxResult> => {
    const limits = sandboxLimits(request.limits);
    checkSandboxRequest(request);
    const refusal = missingMount(request.mounts) ?? (means.room === undefined && request.keep !== undefined ? NOTHING_KEPT : undefined);
    if (refusal !== undefined) return refusal;
    const { network = [], keep, signal } = request;
    return inCopy(request.root, { owner, signal }, async (copy) => {
      const gate = network.length === 0 ? undefined : await openGate(copy.scratch, network, owner);
      try {
        const kept = join(copy.scratch, "kept");
        const words = await wordsFor(means, request, copy, { owner, limits, gate, kept });
        // bubblewrap's own environment can be read from inside, at /proc/1/environ.
        const place = { cwd: "/", env: plainEnvironment() };
        const result = await runLimited(request, words, place, {
          limits,
          cgroups: "parent" in means.cgroups ? means.cgroups.parent : undefined,
          folders: ["/project", "/tmp", "/dev/shm"],
          entries: copy.entries + ROOM_ENTRIES,
          wrappers: WRAPPERS,
        });
        if (keep !== undefined && result.kind === "exited" && result.code === 0) await keepFolder(join(kept, keep.folder), keep.to);
        return result;
      } finally {
        gate?.close();
      }
    });
  };
  const what = `bubblewrap: a copy of the project, no network, no other files, no keys${as}`;
  return { kind: "bubblewrap", describe: [what, ...missingOf(means)].join("; "), run, start: startBy(run) };
}

interface InsideOptions {
  readonly owner: number | undefined;
  readonly limits: SandboxLimits;
  readonly gate: NetworkGate | undefined;
  /** The path of a kept folder. */
  readonly kept: string;
}

async function wordsFor(
  means: BubblewrapMeans,
  { timeout = SANDBOX_TIMEOUT, mounts = [], signal, keep, command }: SandboxRequest,
  { scratch, project, bytes, entries }: ProjectCopy,
  { owner, limits, gate, kept }: InsideOptions,
): Promise<string[]> {
  const carrier = gate === undefined ? [] : [{ from: join(driverFolder("workspace"), "carrier.mjs"), to: CARRIER }];
  const shown = [...gateWords(gate), ...(await mountWords([...mounts, ...carrier], { scratch, owner, signal }))];
  const node = await findNode(scratch, owner !== undefined);
  const etc = await writeEtc(scratch, owner);
  const room = join(scratch, "room");
  for (const folder of [room, kept]) await mkdir(folder);
  await own([room, kept], owner);
  const bounds = { ...limits, processes: means.limitsProcesses ? limits.processes : undefined };
  const each = means.prlimit === undefined ? [] : limitWords(means.prlimit, timeout, bounds);
  const [name, ...args] = command;
  const carried = gate === undefined ? [] : carrierWords(NODE);
  const size = limits.bytes + bytes + PAGE * entries;
  const files = limits.files + entries + ROOM_ENTRIES;
  const writable =
    means.room === undefined
      ? ["/dev/shm", "/tmp", "/project"].flatMap((folder) => ["--size", String(size), "--tmpfs", folder])
      : ["--bind", join(room, "shm"), "/dev/shm", "--bind", join(room, "tmp"), "/tmp", "--bind", join(room, "project"), "/project"];
  return [
    ...(means.setpriv === undefined ? [] : [means.setpriv, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--"]),
    ...(means.room === undefined ? [] : roomWords(means.room, room, { size, files, keep: keep && [keep.folder, kept] })),
    ...[means.bwrap, ...profile(means, { node, etc, writable, source: project, shown }), "--"],
    ...[...ENTER, ...each, ...carried, name === "node" ? NODE : name, ...args],
  ];
}

function roomWords(
  { unshare, mount }: { unshare: string; mount: string },
  room: string,
  bounds: { size: number; files: number; keep: readonly string[] | undefined },
): string[] {
  const options = `size=${bounds.size},nr_inodes=${bounds.files},mode=755,nosuid,nodev`;
  const enter = [unshare, "--user", "--map-root-user", "--mount", "--propagation", "private", "--"];
  const text = bounds.keep === undefined ? FURNISH : FURNISH_AND_KEEP;
  return [...enter, "/bin/sh", "-c", text, "furnish", mount, options, room, ...(bounds.keep ?? [])];
}

/** The arguments of bubblewrap. Order matters: each mounts on what the ones before made. */
function profile(
  means: BubblewrapMeans,
  given: { node: string; etc: string; writable: readonly string[]; source: string; shown: readonly string[] },
): string[] {
  const { node, etc, writable, source, shown } = given;
  return [
    ...["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"],
    ...(means.forbidsNamespaces ? ["--disable-userns"] : []),
    ...["--hostname", "sandbox", "--uid", INSIDE_USER, "--gid", INSIDE_USER],
    ...["--ro-bind", "/usr", "/usr", ...systemFolders()],
    ...["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
    ...["--ro-bind", join(etc, "hosts"), "/etc/hosts", "--ro-bind", join(etc, "passwd"), "/etc/passwd"],
    ...["--ro-bind", node, NODE],
    ...["--proc", "/proc", "--dev", "/dev", ...writable, "--ro-bind", source, SOURCE_FOLDER, ...shown],
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

/** A path of this Node.js that the user of the sandbox can reach: `nobody` cannot reach installations below /root. */
async function findNode(scratch: string, isNobody: boolean): Promise<string> {
  const program = await realpath(process.execPath);
  if (!isNobody || (await isOpenToAll(program))) return program;
  const reachable = join(scratch, "node");
  // No link can be made to another file system.
  if (isReadable(await stat(program)) && (await succeeds(link(program, reachable)))) return reachable;
  await copyFile(program, reachable, constants.COPYFILE_FICLONE);
  await chmod(reachable, 0o755);
  return reachable;
}

function missingOf(means: BubblewrapMeans): string[] {
  const watched = `watched every ${WATCH_INTERVAL} ms`;
  const isGrouped = "parent" in means.cgroups;
  return [
    ...("parent" in means.cgroups ? [] : [`memory of all processes together: ${watched}, ${means.cgroups.reason}`]),
    ...(means.prlimit === undefined ? ["memory and file size of each process: no limit (prlimit is missing)"] : []),
    ...(means.limitsProcesses || isGrouped ? [] : [`number of processes: ${watched} (it cannot be set on this machine)`]),
    ...(means.room === undefined ? [`number of files: ${watched}, bytes of each folder instead of all (unshare does not work here)`] : []),
  ];
}
