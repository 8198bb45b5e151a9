import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { DoomedWorker } from "../../src/testing/index.ts";
import { afterEachFile } from "../after-file.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import type { Task } from "./graphile-child.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = await sourceProgram(fileURLToPath(new URL("graphile-child.ts", import.meta.url)));

const running = new Set<ChildProcess>();
afterEachFile(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a worker in a process of its own, which takes one job and never ends it. */
export function startDoomed(task: Task): DoomedWorker {
  const child = spawn(process.execPath, ["--input-type=module", "-", JSON.stringify(task)], { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(program);
  running.add(child);
  let trouble = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (trouble += text));
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      running.delete(child);
      resolve();
    });
  });
  const took = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", (text: string) => resolve(text.trim()));
    void ended.then(() => reject(new Error(`The worker ended before it took a job: ${trouble}`)));
  });
  took.catch(() => undefined);
  return {
    took,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
