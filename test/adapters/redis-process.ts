import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { scratchFolder } from "../workspace/scratch.ts";
import { afterEachFile } from "../after-file.ts";
import { printed, startAtPort } from "./service-start.ts";

const SERVER = "redis-server";

/** Whether there is a server to test with. Where there is none, that is said, for the tests that need it do not run. */
export const hasRedis = spawnSync(SERVER, ["--version"]).status === 0;
if (!hasRedis) process.stderr.write("\nRedis tests do not run: redis-server is not installed\n");

/** A real server on this machine alone, without anything on the disk. */
export interface RedisProcess {
  readonly url: string;
  readonly port: number;
  /** Ends it as a power cut would; all it held is gone. */
  kill(): Promise<void>;
  /** Starts it again, empty, at the same port. */
  restart(): Promise<void>;
  /** It takes connections and answers nothing. */
  pause(): void;
  resume(): void;
}

const running = new Set<ChildProcess>();
afterEachFile(() => {
  for (const child of running) child.kill("SIGKILL");
});

export async function startRedis(...more: readonly string[]): Promise<RedisProcess> {
  const begun = await startAtPort(async (free) => ({ port: free, child: await started(free, more) }));
  const { port } = begun;
  let { child } = begun;
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    async kill() {
      const gone = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await gone;
    },
    async restart() {
      child = await started(port, more);
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
  };
}

async function started(port: number, more: readonly string[]): Promise<ChildProcess> {
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", scratchFolder(), ...more];
  const child = spawn(SERVER, options, { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("close", () => running.delete(child));
  await printed(child, child.stdout, "Ready to accept connections");
  return child;
}
