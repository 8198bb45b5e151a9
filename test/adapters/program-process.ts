import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEachFile } from "../after-file.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A process that runs a program. */
export interface Child {
  readonly pid: number;
  /** The lines that it has printed so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line, once there are `count`; rejects when it ends before. */
  said(count: number): Promise<string>;
  /** Resolves with the exit code or the signal that ended it, once all its output has come. */
  readonly ended: Promise<number | string>;
  kill(signal: NodeJS.Signals): void;
  /** Its standard error. */
  trouble(): string;
}

const running = new Set<ChildProcessByStdio<Writable, Readable, Readable>>();
afterEachFile(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a process of a program, see `sourceProgram`. */
export function startProgram(source: string, task: object): Child {
  const child = spawn(process.execPath, ["--input-type=module", "-", JSON.stringify(task)], { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  // One that is killed before it has read its program does not read it.
  child.stdin.on("error", () => undefined).end(source);
  running.add(child);
  const lines: string[] = [];
  let rest = "";
  let trouble = "";
  const listeners = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = `${rest}${text}`.split("\n");
    // A line that a kill cut off was never said.
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (trouble += text));
  const ended = new Promise<number | string>((resolve) => {
    child.on("close", (code, signal) => {
      running.delete(child);
      resolve(code ?? signal ?? "?");
    });
  });
  const said = (count: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (lines.length < count) return;
        listeners.delete(look);
        resolve(lines[0] ?? "");
      };
      listeners.add(look);
      look();
      void ended.then((end) => reject(new Error(`expected ${count} lines, but it ended with ${end}: ${lines.join("\n")}${trouble}`)));
    });
  return { pid: child.pid ?? 0, lines, said, ended, kill: (signal) => void child.kill(signal), trouble: () => trouble };
}
