import { spawnSync } from "node:child_process";
import { root } from "./root.mjs";

/** Runs npm in the checkout and waits: the npm that runs us, where there is one, else the one on the path. */
export function npm(args, options = {}) {
  const running = process.env.npm_execpath ?? "";
  const windows = process.platform === "win32";
  const [command, prefix, shell] = running.endsWith("npm-cli.js") ? [process.execPath, [running], false] : ["npm", [], windows];
  return spawnSync(command, [...prefix, ...args], { cwd: root, encoding: "utf8", shell, maxBuffer: 64 * 1024 * 1024, ...options });
}
