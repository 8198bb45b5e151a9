import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { afterEachFile } from "../after-file.ts";
import { freePort } from "../kernel/free-port.ts";

/** Milliseconds that a service may take to start on a busy machine. */
const LIMIT = 60_000;
/** Another process may take the port before the service has it. */
const STARTS = 3;

/** A real server of another program, on the loopback address. */
export interface Service {
  readonly port: number;
  /** Kills the server and all its processes. Connections end without a word. */
  kill(): Promise<void>;
  /** Starts it again at the same port, and resolves when it is ready. */
  restart(): Promise<void>;
  /** It keeps its connections and answers nothing. */
  pause(): void;
  resume(): void;
}

type Signal = (child: ChildProcess, signal: NodeJS.Signals) => void;
const toOne: Signal = (child, signal) => void child.kill(signal);

const running = new Map<ChildProcess, Signal>();
afterEachFile(() => {
  for (const [child, signal] of running) signal(child, "SIGKILL");
});

/** Kills a process at the end of the file of tests, unless it has ended. */
export function kept<C extends ChildProcess>(child: C, signal: Signal = toOne): C {
  running.set(child, signal);
  child.once("close", () => running.delete(child));
  return child;
}

/** Starts a service at a free port, at most three times. @param start begins a process that is {@link kept}, and waits until it is ready */
export async function startService(start: (port: number) => Promise<ChildProcess>): Promise<Service> {
  const begun = await atPort(start);
  let { child } = begun;
  const send = (signal: NodeJS.Signals): void => running.get(child)?.(child, signal);
  return {
    port: begun.port,
    async kill() {
      if (!running.has(child)) return;
      const gone = new Promise((resolve) => child.once("close", resolve));
      send("SIGKILL");
      await gone;
    },
    async restart() {
      child = await start(begun.port);
    },
    pause: () => send("SIGSTOP"),
    resume: () => send("SIGCONT"),
  };
}

async function atPort(start: (port: number) => Promise<ChildProcess>): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  for (let nth = 1; ; nth += 1) {
    const port = await freePort();
    try {
      return { port, child: await start(port) };
    } catch (error) {
      if (nth === STARTS) throw error;
    }
  }
}

/** Resolves when the service has printed `words`. One that ends or is silent for a minute is killed and rejects with its output. */
export function printed(child: ChildProcess, output: Readable, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    const limit = setTimeout(() => child.kill("SIGKILL"), LIMIT);
    output.setEncoding("utf8").on("data", (chunk: string) => {
      said = `${said}${chunk}`.slice(-4000);
      if (!said.includes(words)) return;
      clearTimeout(limit);
      resolve();
    });
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(limit);
      reject(new Error(`${child.spawnfile} ended before it was ready: ${said}`));
    });
  });
}
