import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { sourceProgram } from "../kernel/source-program.ts";
import { scratchFolder } from "../workspace/scratch.ts";

it("a worker whose parent is gone drains, and what it tells then ends nothing", async () => {
  const program = join(scratchFolder(), "child.mjs");
  await writeFile(program, await sourceProgram(fileURLToPath(new URL("worker-parent-child.ts", import.meta.url))));
  const child = fork(program, ["null"], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
  const streams = [child.stdout, child.stderr].flatMap((stream) => stream ?? []);
  child.once("message", () => child.disconnect());
  const [[code], ...said] = await Promise.all([once(child, "exit"), ...streams.map((stream) => text(stream))]);
  expect([code, said]).toEqual([0, ["goes on after 1 drain", ""]]);
});
