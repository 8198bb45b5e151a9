import { spawn, spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kept, printed } from "./service-start.ts";
import { freePort } from "../kernel/free-port.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const POOLER = "pgbouncer";

/** True if there is a pooler to test with. Its absence is told, because the tests that need it do not run. */
export const hasPooler: boolean = spawnSync(POOLER, ["--version"]).status === 0;
if (!hasPooler) process.stderr.write("\nTests behind a pooler do not run: pgbouncer is not installed\n");

/** Starts PgBouncer in front of a server. @returns its address */
export async function startPooler(server: { readonly port: number }, mode: "session" | "transaction"): Promise<string> {
  const port = await freePort();
  const folder = scratchFolder();
  // It refuses to run as root.
  chmodSync(folder, 0o755);
  const file = join(folder, "pooler.ini");
  const options = { listen_addr: "127.0.0.1", listen_port: port, auth_type: "any", pool_mode: mode, unix_socket_dir: "" };
  const lines = Object.entries(options).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(file, `[databases]\npostgres = host=127.0.0.1 port=${server.port} user=troupe\n[pgbouncer]\n${lines.join("\n")}\n`);
  const words = process.getuid?.() === 0 ? ["-u", "postgres", file] : [file];
  const child = kept(spawn(POOLER, words, { stdio: ["ignore", "ignore", "pipe"] }));
  await printed(child, child.stderr, "process up");
  return `postgres://troupe@127.0.0.1:${port}/postgres`;
}
