import { fileURLToPath } from "node:url";
import type { DoomedWorker } from "../../src/testing/contracts/run-driver.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import { startProgram } from "./program-process.ts";

const programs = new Map<string, Promise<string>>();

/** Starts a worker in a process of its own, which takes one job and never ends it. @param file the program */
export async function startDoomed(file: URL, task: object): Promise<DoomedWorker> {
  const program = programs.get(file.href) ?? sourceProgram(fileURLToPath(file.href));
  programs.set(file.href, program);
  const child = startProgram(await program, task);
  const took = child.said(1);
  took.catch(() => undefined);
  return {
    took,
    async kill() {
      child.kill("SIGKILL");
      await child.ended;
    },
  };
}
