import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sourceProgram } from "../kernel/source-program.ts";
import type { Part } from "./effect-child.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = await sourceProgram(fileURLToPath(new URL("effect-child.ts", import.meta.url)));

/** A process that asks for effects, or does them. */
export interface EffectProcess {
  /** True when it has done all that it was to do. */
  readonly isDone: boolean;
  readonly hasEnded: boolean;
  /** True when it has ended as SIGKILL ends a process. */
  readonly wasKilled: boolean;
  readonly trouble: string;
  /** Ends it as SIGKILL does. */
  kill(): Promise<void>;
}

export function startEffectProcess(part: Part): EffectProcess {
  const child = spawn(process.execPath, ["--input-type=module", "-", JSON.stringify(part)], { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
  // A process may be killed before it has read its program.
  child.stdin.on("error", () => undefined).end(program);
  let [said, trouble] = ["", ""];
  let hasEnded = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (trouble += text));
  const ended = new Promise<void>((resolve) => void child.once("close", () => ((hasEnded = true), resolve())));
  return {
    get isDone() {
      return said.includes("done");
    },
    get hasEnded() {
      return hasEnded;
    },
    get wasKilled() {
      return child.signalCode === "SIGKILL";
    },
    get trouble() {
      return trouble;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
