import { execFile } from "node:child_process";
import { root } from "../architecture/read-house.ts";

/** Runs a program of the evaluation as a process of its own, from the top of the repository. */
export function program(
  name: string,
  words: readonly string[],
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [`evaluation/${name}.mjs`, ...words],
      { cwd: root, encoding: "utf8", maxBuffer: 50_000_000 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      },
    );
  });
}
