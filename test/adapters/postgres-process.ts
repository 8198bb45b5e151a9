import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scratchFolder } from "../workspace/scratch.ts";
import { kept, printed, type Service, startService } from "./service-start.ts";

/** Debian keeps the programs of the server out of the path. */
const VERSIONS = "/usr/lib/postgresql";
const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : [];
const programs = versions.map((version) => join(VERSIONS, version, "bin")).find((folder) => existsSync(join(folder, "initdb")));

/** True if there is a server to test with. Its absence is told, because the tests that need it do not run. */
export const hasPostgres: boolean = programs !== undefined;
if (!hasPostgres) process.stderr.write("\nPostgres tests do not run: postgresql is not installed\n");

/** The server refuses to run as root. */
const runsAs = process.getuid?.() === 0 ? userOf("postgres") : undefined;

function userOf(name: string): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

/** A real server with an empty database. Its data outlive `kill`. */
export interface PostgresProcess extends Service {
  readonly url: string;
}

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
  const service = await startService((port) => started(optionsAt(port), folder));
  return { ...service, url: `postgres://troupe@127.0.0.1:${service.port}/postgres` };
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
  const child = kept(
    spawn(program("postgres"), options, { ...runsAs, cwd, detached: true, stdio: ["ignore", "ignore", "pipe"] }),
    signalAll,
  );
  await printed(child, child.stderr, "ready to accept connections");
  return child;
}

/** Signals the server and its processes, one for each connection. Each is the leader of a group of its own. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  // The server is stopped first, so that it starts no process meanwhile.
  if (signal === "SIGKILL") child.kill("SIGSTOP");
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
