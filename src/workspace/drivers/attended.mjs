/*
 * Runs a program for as long as the process that started it lives: the end of that process closes the pipe 3. At either end all that the program
 * started ends too: its process group, and on Linux whatever has the program's mark. The mark is a limit of memory that Linux ignores: every
 * process inherits it, whatever its group, parent and environment. Without a program it ends what an earlier start with this mark left.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { Socket } from "node:net";

const [mark = "", file, ...args] = process.argv.slice(2);
const isLinux = process.platform === "linux";
const MARKED = 'ulimit -S -m "$0" 2>/dev/null; exec "$@"';
/** What is found may have started others meanwhile. */
const PASSES = 50;

function endStrays() {
  const ended = new Set();
  for (let [pass, before] = [0, -1]; isLinux && ended.size > before && pass < PASSES; pass++) {
    before = ended.size;
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name) && !ended.has(name))) {
      try {
        if (!readFileSync(`/proc/${pid}/limits`, "utf8").includes(` ${Number(mark) * 1024} `)) continue;
        process.kill(Number(pid), "SIGKILL");
        ended.add(pid);
      } catch {
        // It has ended, or is another user's.
      }
    }
  }
}

function end() {
  endStrays();
  process.kill(-process.pid, "SIGKILL");
}

/** @param {string} program */
function begin(program) {
  const [started, words] = isLinux ? ["/bin/sh", ["-c", MARKED, mark, program, ...args]] : [program, args];
  const child = spawn(started, words, { stdio: "inherit" });
  child.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => {
    endStrays();
    if (signal !== null) process.stderr.write(`It was ended by ${signal}.\n`);
    process.exit(code ?? 1);
  });
}

new Socket({ fd: 3 }).on("error", end).on("close", end).resume();
process.on("SIGTERM", end);
if (file === undefined) end();
else begin(file);
