import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { INSTALLED } from "./table.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const product = fileURLToPath(new URL("../..", import.meta.url));
const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

function npm(args, cwd) {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 300_000 });
}

function bytesBelow(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, path, name }) => sum + statSync(join(parentPath ?? path, name)).size, 0);
}

/** Bytes that `npm install` of these alone puts on the disk, without install scripts. */
function installed(packages) {
  const folder = mkdtempSync(join(tmpdir(), "bench-install-"));
  try {
    writeFileSync(join(folder, "package.json"), '{"private":true}');
    npm(["install", ...QUIET, ...packages], folder);
    const modules = join(folder, "node_modules");
    const known = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
    return { bytes: bytesBelow(modules), packages: Object.keys(known.packages).length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The tarball of Troupe as it would be published. */
function packed(folder) {
  const [{ filename }] = JSON.parse(npm(["pack", "--json", "--pack-destination", folder], product));
  return join(folder, filename);
}

/** A row for each: bytes and packages, or why it could not be installed. */
export function installRows() {
  const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "bench-pack-"));
  const exact = (names) => names.map((name) => `${name}@${dependencies[name]}`);
  const asked = [["troupe", () => [packed(folder)]], ...Object.entries(INSTALLED).map(([peer, names]) => [peer, () => exact(names)])];
  const rows = asked.map(([peer, packages]) => {
    try {
      return { case: "install", measure: "install", peer, ...installed(packages()) };
    } catch (error) {
      return { case: "install", measure: "install", peer, failed: reasonIn(String(error.stderr || error)) };
    }
  });
  rmSync(folder, { recursive: true, force: true });
  return rows;
}

/** The line of a process's last words that says why. */
export function reasonIn(text) {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.find((line) => /(^|\s)(\w*Error|FATAL ERROR|npm error)\b.*/.test(line)) ?? lines.at(-1) ?? "it said nothing";
}
