import { spawn, spawnSync } from "node:child_process";
import { scratchFolder } from "../workspace/scratch.ts";
import { kept, printed, type Service, startService } from "./service-start.ts";

const SERVER = "redis-server";

/** True if there is a server to test with. Its absence is said, for the tests that need it do not run. */
export const hasRedis = spawnSync(SERVER, ["--version"]).status === 0;
if (!hasRedis) process.stderr.write("\nRedis tests do not run: redis-server is not installed\n");

/** A real server without anything on the disk: a kill ends it as a power cut would, and it starts again empty. */
export interface RedisProcess extends Service {
  readonly url: string;
}

export async function startRedis(...more: readonly string[]): Promise<RedisProcess> {
  const service = await startService(async (port) => {
    const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", scratchFolder(), ...more];
    const child = kept(spawn(SERVER, options, { stdio: ["ignore", "pipe", "pipe"] }));
    await printed(child, child.stdout, "Ready to accept connections");
    return child;
  });
  return { ...service, url: `redis://127.0.0.1:${service.port}` };
}
