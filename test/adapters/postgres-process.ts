import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scratchFolder } from "../workspace/scratch.ts";
import { afterEachFile } from "../after-file.ts";
import { printed, startAtPort } from "./service-start.ts";

/** Debian keeps the programs of the server out of the path. */
const VERSIONS = "/usr/lib/postgresql";
const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : [];
const programs = versions.map((version) => join(VERSIONS, version, "bin")).find((folder) => existsSync(join(folder, "initdb")));

/** Whether there is a server to test with. Where there is none, that is told, because the tests that need it do not run. */
export const hasPostgres: boolean = programs !== undefined;
if (!hasPostgres) process.stderr.write("\nPostgres tests do not run: postgresql is not installed\n");

/** The server refuses to run as root. */
const runsAs = process.getuid?.() === 0 ? userOf("postgres") : undefined;

function userOf(name: string): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

/** A real server on the loopback address, with an empty database. Its data outlive `kill`. */
export interface PostgresProcess {
  readonly url: string;
  readonly port: number;
  /** Kills the server and all its processes. Connections end without a word. */
  kill(): Promise<void>;
  /** Starts it again at the same port over the same data, and resolves when it takes connections. */
  restart(): Promise<void>;
  /** It keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
}

const running = new Set<ChildProcess>();
afterEachFile(() => {
  for (const child of running) killAll(child);
});

/** Starts a server with data of its own. @param more options of the program `postgres` */
export async function startPostgres(...more: readonly string[]): Promise<PostgresProcess> {
  const folder = ownedFolder();
  const data = join(folder, "data");
  const made = spawnSync(program("initdb"), ["-D", data, "-U", "troupe", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"], {
    ...runsAs,
    cwd: folder,
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const optionsAt = (at: number): readonly string[] => [
    ...["-D", data, "-p", String(at), "-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${folder}`],
    ...more,
  ];
  const begun = await startAtPort(async (free) => ({ port: free, child: await started(optionsAt(free), folder) }));
  const { port } = begun;
  let { child } = begun;
  return {
    url: `postgres://troupe@127.0.0.1:${port}/postgres`,
    port,
    async kill() {
      const gone = new Promise((resolve) => child.once("close", resolve));
      killAll(child);
      await gone;
    },
    async restart() {
      child = await started(optionsAt(port), folder);
    },
    pause: () => signalAll(child, "SIGSTOP"),
    resume: () => signalAll(child, "SIGCONT"),
  };
}

function program(name: string): string {
  return join(programs ?? "", name);
}

/** A folder that the user of the server can reach and write. */
function ownedFolder(): string {
  const outer = scratchFolder();
  chmodSync(outer, 0o711);
  const folder = join(outer, "pg");
  mkdirSync(folder, { mode: 0o700 });
  if (runsAs !== undefined) chownSync(folder, runsAs.uid, runsAs.gid);
  return folder;
}

async function started(options: readonly string[], cwd: string): Promise<ChildProcess> {
  const child = spawn(program("postgres"), options, { ...runsAs, cwd, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  running.add(child);
  child.once("close", () => running.delete(child));
  await printed(child, child.stderr, "ready to accept connections");
  return child;
}

/** The server stands still first, so that it starts no process meanwhile. */
function killAll(child: ChildProcess): void {
  child.kill("SIGSTOP");
  signalAll(child, "SIGKILL");
}

/** Signals the server and its processes, one for each connection. Each is the leader of a group of its own. */
function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  for (const one of [pid, ...childrenOf(pid)]) {
    try {
      process.kill(one, signal);
    } catch {
      // It has ended.
    }
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return (readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").match(/\d+/g) ?? []).map(Number);
  } catch {
    return [];
  }
}
