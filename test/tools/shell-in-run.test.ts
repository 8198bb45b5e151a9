import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { someOf } from "../long.ts";
import { scratchFolder, sleepersWith, until } from "../workspace/scratch.ts";

const isolated = await chooseSandbox("auto");
const modes: readonly (readonly [string, string])[] = [
  ["no isolation", "none"],
  ...(isolated.kind === "bubblewrap" ? [["bubblewrap", "auto"] as const] : []),
];

describe.each(someOf(modes, 1))("the end of the process around a command, with %s", (_name, mode) => {
  it.each(someOf(["a signal", "exit", "an error"], 1))(
    "ShellDriver.D2 is the end of all that the command started: %s",
    { tags: "company" },
    async (end) => {
      const mark = `4903.${process.pid}${mode.length}${end.length}`;
      const order = JSON.stringify({ mode, end, mark, root: scratchFolder() });
      const child = spawn(process.execPath, [fileURLToPath(new URL("shell-child.mjs", import.meta.url)), order], { stdio: "pipe" });
      const ended = once(child, "close");
      await until(() => sleepersWith(mark).length === 2 || child.exitCode !== null);
      expect(child.exitCode).toBeNull();
      child.stdin.end("end\n");
      await ended;
      await until(() => sleepersWith(mark).length === 0);
    },
  );
});
