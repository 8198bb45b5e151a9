/* Runs a program for as long as the process that started it lives: the end of that process closes the pipe 3, and the group of the program ends. */
import { spawn } from "node:child_process";
import { Socket } from "node:net";

const [file = "", ...args] = process.argv.slice(2);
const end = () => process.kill(-process.pid, "SIGKILL");
new Socket({ fd: 3 }).on("error", end).on("close", end).resume();
const child = spawn(file, args, { stdio: "inherit" });
child.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(127);
});
child.on("exit", (code) => process.exit(code ?? 1));
