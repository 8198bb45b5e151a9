import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { freePort } from "../kernel/free-port.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { afterEachFile } from "../after-file.ts";

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
  const port = await freePort();
  let child = await started(port, more);
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

function started(port: number, more: readonly string[]): Promise<ChildProcess> {
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", scratchFolder(), ...more];
  const child = spawn(SERVER, options, { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("close", () => running.delete(child));
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes("Ready to accept connections")) resolve(child);
    });
    child.once("close", () => reject(new Error(`redis-server ended before it was ready: ${said}`)));
  });
}
