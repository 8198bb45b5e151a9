import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { DoomedWorker } from "../../src/testing/contracts/run-driver.ts";
import type { Json } from "../../src/kernel/json.ts";
import { afterEachFile } from "../after-file.ts";
import { sourceProgram } from "../kernel/source-program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const programs = new Map<string, Promise<string>>();

/** The program of a file. It is made once. */
function programOf({ href }: URL): Promise<string> {
  const program = programs.get(href) ?? sourceProgram(fileURLToPath(href));
  programs.set(href, program);
  return program;
}

const running = new Set<ChildProcess>();
afterEachFile(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a worker in a process of its own, which takes one job and never ends it. @param file the program */
export async function startDoomed(file: URL, task: Json): Promise<DoomedWorker> {
  const program = await programOf(file);
  const child = spawn(process.execPath, ["--input-type=module", "-", JSON.stringify(task)], { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  // A process may be killed before it has read its program.
  child.stdin.on("error", () => undefined).end(program);
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
