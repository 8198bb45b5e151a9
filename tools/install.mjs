import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { npm } from "./npm.mjs";
import { root } from "./root.mjs";

// Development packages and the compiler's per-platform binary are needed to build, whatever NODE_ENV or an .npmrc says of them.
// npm's own pauses between retries add up to 70 s; without a network that is a long time to say so.
const CI_ARGUMENTS = [
  ...["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--include=dev", "--include=optional"],
  ...["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"],
];

/** Explanations of npm's error codes for a first start. */
const EXPLAINED = [
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|EHOSTUNREACH|network/i,
    "the npm registry cannot be reached. Connect to the network (or set `registry` or `proxy` in your .npmrc) and run the command again",
  ],
  [/ENOSPC/, "the disk is full"],
  [/EACCES|EPERM|EROFS/, `the folder ${join(root, "node_modules")} cannot be written. Use a folder of your own`],
  [/EUSAGE/, "package.json and package-lock.json disagree. Run `npm install` once and look at what it changes"],
];

/** True when node_modules holds exactly what the lockfile asks for on this platform. Compares contents: file times lie after a checkout. */
export function isInstalled() {
  const installed = packagesOf("node_modules/.package-lock.json");
  if (installed === undefined) return false;
  const wanted = packagesOf("package-lock.json");
  if (wanted === undefined) return true;
  const isSame = ([path, entry]) => installed[path]?.version === entry.version && installed[path]?.integrity === entry.integrity;
  const isForeign = ([path, entry]) => entry.optional === true && installed[path] === undefined;
  const asked = Object.entries(wanted).filter(([path]) => path !== "");
  return (
    asked.every((entry) => isSame(entry) || isForeign(entry)) &&
    Object.keys(installed).every((path) => wanted[path] && existsSync(join(root, path)))
  );
}

/** Installs from the lockfile. @returns a sentence when it failed. */
export function install() {
  const result = npm(CI_ARGUMENTS, { stdio: ["ignore", "pipe", "pipe"] });
  if (result.status === 0) return undefined;
  if (result.error !== undefined) return `npm could not be started (${result.error.message}). Install npm, or put it on the PATH.`;
  const said = `${result.stderr}\n${result.stdout}`;
  const reason = EXPLAINED.find(([pattern]) => pattern.test(said))?.[1];
  const lines = said.split("\n").filter((line) => /^npm error (?! {4}at |[{}])/.test(line));
  return `The packages could not be installed: ${reason ?? `npm ci ended with code ${result.status}`}.\n${lines.slice(0, 6).join("\n")}`;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8")).packages;
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
