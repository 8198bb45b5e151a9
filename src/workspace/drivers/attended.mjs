/*
 * Runs a program for as long as the process that started it lives: the end of that process closes the pipe 3. At either end all that the program
 * started ends too: its process group, and on Linux what left the group and has the program's mark in its environment.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { Socket } from "node:net";

const [file = "", ...args] = process.argv.slice(2);
const mark = `TROUPE_WORKER=${randomBytes(8).toString("hex")}`;

function endStrays() {
  for (const pid of process.platform === "linux" ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : []) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, "utf8").includes(mark)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended, or is another user's.
    }
  }
}

function end() {
  endStrays();
  process.kill(-process.pid, "SIGKILL");
}

new Socket({ fd: 3 }).on("error", end).on("close", end).resume();
process.on("SIGTERM", end);
const [name = "", value = ""] = mark.split("=");
const child = spawn(file, args, { stdio: "inherit", env: { ...process.env, [name]: value } });
child.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(127);
});
child.on("exit", (code, signal) => {
  endStrays();
  if (signal !== null) process.stderr.write(`It was ended by ${signal}.\n`);
  process.exit(code ?? 1);
});
