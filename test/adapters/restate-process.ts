import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEachFile } from "../after-file.ts";
import { freePort } from "../kernel/free-port.ts";
import { scratchFolder } from "../workspace/scratch.ts";

/** The server is no dependency of this package: `.ci/run` puts it into this folder, and a user installs it himself. */
const program = fileURLToPath(
  new URL(
    `../../node_modules/.cache/restate/node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
    import.meta.url,
  ),
);

/** Whether there is a server to test with. Where there is none, that is told, because the tests that need it do not run. */
export const hasRestate: boolean = existsSync(program);
if (!hasRestate) {
  const install = "npm install --prefix node_modules/.cache/restate --no-save --ignore-scripts @restatedev/restate-server@1.7.12";
  process.stderr.write(`\nRestate tests do not run: its server is not installed. Install it: ${install}\n`);
}

/** A real server on the loopback address. Its data outlive `kill`. */
export interface RestateProcess {
  readonly ingress: string;
  readonly admin: string;
  /** Kills the server. Connections end without a word. */
  kill(): Promise<void>;
  /** Starts it again at the same ports over the same data, and resolves when it answers. */
  restart(): Promise<void>;
}

const running = new Set<ChildProcess>();
afterEachFile(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a server with data of its own. */
export async function startRestate(): Promise<RestateProcess> {
  const folder = scratchFolder();
  const [node, admin, ingress] = [await freePort(), await freePort(), await freePort()];
  const config = join(folder, "restate.toml");
  writeFileSync(config, configured(node, admin, ingress));
  const o = { config, folder, ready: [`http://127.0.0.1:${admin}/health`, `http://127.0.0.1:${ingress}/restate/health`] };
  let child = await started(o);
  return {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    async kill() {
      if (!running.has(child)) return;
      const gone = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await gone;
    },
    async restart() {
      child = await started(o);
    },
  };
}

function configured(node: number, admin: number, ingress: number): string {
  return `bind-ip = "127.0.0.1"
bind-port = ${node}
advertised-ip = "127.0.0.1"
default-num-partitions = 1
rocksdb-total-memory-size = "128.0 MB"
disable-telemetry = true
[admin]
bind-address = "127.0.0.1:${admin}"
[ingress]
bind-address = "127.0.0.1:${ingress}"
`;
}

interface Start {
  readonly config: string;
  readonly folder: string;
  /** Addresses that answer when the server is ready. */
  readonly ready: readonly string[];
}

async function started({ config, folder, ready }: Start): Promise<ChildProcess> {
  const child = spawn(program, ["--config-file", config, "--base-dir", join(folder, "data")], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said = `${said}${text}`.slice(-4000)));
  child.once("close", () => running.delete(child));
  for (const url of ready) {
    while (!(await fetch(url).catch(() => undefined))?.ok) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The Restate server ended before it was ready: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  return child;
}
