import { accessSync, constants, existsSync, readdirSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { having, takes } from "../kernel/argument.ts";
import { anyAddressSpace, type Sandbox, type SandboxLimits, type SandboxMount } from "../workspace/sandbox.ts";

export interface Chromium {
  readonly program: string;
  readonly executable: string;
  /** True if Chromium must block the network itself, because no sandbox does. */
  readonly blocks: boolean;
  readonly mounts: readonly SandboxMount[];
}

/** The paths of Chromium and its kin on Linux and macOS: the program itself, not the script that starts it. */
const BROWSERS = [
  "/usr/lib/chromium/chromium",
  "/usr/lib/chromium-browser/chromium-browser",
  "/usr/lib64/chromium-browser/chromium-browser",
  "/usr/lib64/chromium/chromium",
  "/opt/google/chrome/chrome",
  "/opt/chromium.org/chromium/chromium",
  "/opt/microsoft/msedge/msedge",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
const PLAYWRIGHT = ["chrome-linux64/chrome", "chrome-linux/chrome", "chrome-headless-shell-linux64/chrome-headless-shell"];
/** Beside the drivers, so that these find the package by its name. */
const PACKAGE = "/mounted/node_modules/playwright-core";
const BROWSER_FOLDER = "/mounted/browser";

/** Chromium has a dozen processes of many threads, and V8 reserves terabytes of address space. */
export const CHROMIUM_LIMITS: Partial<SandboxLimits> = { memory: 3 * 1024 ** 3, processes: 1024, addressSpace: anyAddressSpace };

/** Finds Chromium, or says what is missing and how to install it. Nothing is started. */
export function findChromium(sandbox: Sandbox, wanted: string | undefined = process.env["CHROME_PATH"]): Chromium | string {
  if (sandbox.kind === "refused") return sandbox.describe;
  const program = wanted ?? [...BROWSERS, ...playwrightBrowsers()].find(isProgram);
  if (program === undefined) return "there is no Chromium (Debian and Ubuntu: apt install chromium)";
  if (!isProgram(program)) return `${program} is no program`;
  const driver = playwrightFolder();
  if (driver === undefined) return "the package playwright-core is missing (npm install playwright-core)";
  const file = realpathSync(program);
  if (sandbox.kind === "none") return { program, executable: file, blocks: true, mounts: [] };
  const isMounted = !file.startsWith("/usr/");
  const mounts = [
    { from: driver, to: PACKAGE },
    ...(isMounted ? [{ from: dirname(file), to: BROWSER_FOLDER }] : []),
    ...(existsSync("/etc/fonts") ? [{ from: "/etc/fonts", to: "/etc/fonts" }] : []),
  ];
  return { program, executable: isMounted ? `${BROWSER_FOLDER}/${basename(file)}` : file, blocks: false, mounts };
}

/** Returns why no page can be opened in a sandbox of this machine, with the user's remedy; undefined where one can. */
export function missingPageMeans(sandbox: Sandbox): string | undefined {
  takes("missingPageMeans", "sandbox", sandbox, having("a sandbox", "run"));
  const found = findChromium(sandbox);
  return typeof found === "string" ? found : undefined;
}

function playwrightBrowsers(): string[] {
  const folder = join(homedir(), ".cache", "ms-playwright");
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith("chromium"));
  return names
    .toSorted()
    .toReversed()
    .flatMap((name) => PLAYWRIGHT.map((file) => join(folder, name, file)));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The package has no dependencies. It is never that of a project: a project must not bring the program that judges it. */
function playwrightFolder(): string | undefined {
  const folders = createRequire(import.meta.filename).resolve.paths("playwright-core") ?? [];
  const found = folders.map((folder) => join(folder, "playwright-core")).find((folder) => existsSync(join(folder, "package.json")));
  return found === undefined ? undefined : realpathSync(found);
}
