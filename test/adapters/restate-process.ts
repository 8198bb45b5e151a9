import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../kernel/free-port.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { kept, type Service, startService } from "./service-start.ts";

/** The server is no dependency of this package: `.ci/run` puts it into this folder, and a user installs it himself. */
const program = fileURLToPath(
  new URL(
    `../../node_modules/.cache/restate/node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
    import.meta.url,
  ),
);

/** True if there is a server to test with. Its absence is told, because the tests that need it do not run. */
export const hasRestate: boolean = existsSync(program);
if (!hasRestate) {
  const install = "npm install --prefix node_modules/.cache/restate --no-save --ignore-scripts @restatedev/restate-server@1.7.12";
  process.stderr.write(`\nRestate tests do not run: its server is not installed. Install it: ${install}\n`);
}

/** A real server. Its data outlive `kill`. */
export interface RestateProcess extends Service {
  readonly ingress: string;
  readonly admin: string;
}

/** Starts a server with data of its own. */
export async function startRestate(): Promise<RestateProcess> {
  const folder = scratchFolder();
  const [node, admin] = [await freePort(), await freePort()];
  const config = join(folder, "restate.toml");
  const service = await startService(async (ingress) => {
    writeFileSync(config, configured(node, admin, ingress));
    const o = { cwd: folder, stdio: "ignore" } as const;
    const child = kept(spawn(program, ["--config-file", config, "--base-dir", join(folder, "data")], o));
    for (const url of [`http://127.0.0.1:${admin}/health`, `http://127.0.0.1:${ingress}/restate/health`]) {
      while (!(await fetch(url).catch(() => undefined))?.ok) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error("The Restate server ended before it was ready.");
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    }
    return child;
  });
  return { ...service, ingress: `http://127.0.0.1:${service.port}`, admin: `http://127.0.0.1:${admin}` };
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
