import { having, takes } from "../kernel/argument.ts";
import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { anyAddressSpace, type Sandbox, type SandboxLimits, type SandboxMount } from "../workspace/sandbox.ts";
import { BROWSER_PAGES } from "./page-browser.ts";
import { DOM_PAGES } from "./page-dom.ts";
import { PAGE_DRIVER } from "./page-driver.ts";

/** A way to run pages in a sandbox. */
export interface PageMeans {
  readonly by: "browser" | "dom";
  /** One phrase for a screen. */
  readonly describe: string;
  /** The text of the program for `node -e`. */
  readonly script: string;
  /** Parts of the order that only this program needs. */
  readonly order: { readonly driver: string; readonly executable?: string; readonly blocks: boolean };
  readonly mounts: readonly SandboxMount[];
  readonly limits: Partial<SandboxLimits>;
}

/** The choice of the means: a browser if there is one, else a DOM (`auto`), or only one of them. */
export type PageMeansChoice = "auto" | "browser" | "dom";

interface Search {
  readonly choice: PageMeansChoice;
  /** The user's browser; undefined: the known places are searched. */
  readonly browser: string | undefined;
}

/** Where Linux and macOS have Chromium and its kin: the program itself, not the script that starts it. */
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

/** Chromium has a dozen processes of many threads, and V8 reserves terabytes of address space. */
const BROWSER_LIMITS: Partial<SandboxLimits> = { memory: 3 * 1024 ** 3, processes: 1024, addressSpace: anyAddressSpace };
const PACKAGES = "/mounted/node_modules";
const BROWSER_FOLDER = "/mounted/browser";

/** The ways that this machine offers, best first, and what is missing for the others. */
export function findPageMeans(
  sandbox: Sandbox,
  { choice, browser }: Search,
): { readonly means: readonly PageMeans[]; readonly missing: readonly string[] } {
  const isIsolated = sandbox.kind === "bubblewrap";
  const found = [choice === "dom" ? undefined : browserMeans(isIsolated, browser), choice === "browser" ? undefined : domMeans(isIsolated)];
  const means = found.filter((one) => typeof one === "object");
  return { means, missing: found.filter((one) => typeof one === "string") };
}

/** Why no page can be opened in a sandbox of this machine, with the user's remedy; undefined where one can. Nothing is started. @throws UsageError `ARGUMENT_INVALID` */
export function missingPageMeans(sandbox: Sandbox): string | undefined {
  takes("missingPageMeans", "sandbox", sandbox, having("a sandbox", "run"));
  if (sandbox.kind === "refused") return sandbox.describe;
  const { means, missing } = findPageMeans(sandbox, { choice: "auto", browser: process.env["CHROME_PATH"] });
  return means.length > 0 ? undefined : missing.join("; ");
}

/** The missing part, in words, where a browser cannot be used. */
function browserMeans(isIsolated: boolean, wanted: string | undefined): PageMeans | string {
  const program = wanted ?? [...BROWSERS, ...playwrightBrowsers()].find(isProgram);
  if (program === undefined) return "there is no Chromium (Debian and Ubuntu: apt install chromium)";
  if (!isProgram(program)) return `${program} is no program`;
  const packages = packagesOf("playwright-core");
  if (packages === undefined) return "the package playwright-core is missing (npm install playwright-core)";
  const file = realpathSync(program);
  const isMounted = isIsolated && !file.startsWith("/usr/");
  const fonts = ["/etc/fonts"].filter((folder) => existsSync(folder));
  const mounts = [
    ...mountsOf(packages),
    ...(isMounted ? [{ from: dirname(file), to: BROWSER_FOLDER }] : []),
    ...fonts.map((folder) => ({ from: folder, to: folder })),
  ];
  return {
    by: "browser",
    describe: `a browser: ${program}`,
    script: PAGE_DRIVER + BROWSER_PAGES,
    order: {
      driver: isIsolated ? `${PACKAGES}/playwright-core` : (packages.get("playwright-core") ?? ""),
      executable: isMounted ? `${BROWSER_FOLDER}/${basename(file)}` : file,
      blocks: !isIsolated,
    },
    mounts: isIsolated ? mounts : [],
    limits: BROWSER_LIMITS,
  };
}

function domMeans(isIsolated: boolean): PageMeans | string {
  const packages = packagesOf("happy-dom");
  if (packages === undefined) return "the package happy-dom is missing (npm install happy-dom)";
  return {
    by: "dom",
    describe: "a DOM without layout: happy-dom",
    script: PAGE_DRIVER + DOM_PAGES,
    order: { driver: isIsolated ? `${PACKAGES}/happy-dom` : (packages.get("happy-dom") ?? ""), blocks: !isIsolated },
    mounts: isIsolated ? mountsOf(packages) : [],
    limits: { memory: 3 * 1024 ** 3, addressSpace: anyAddressSpace },
  };
}

/** Browsers that `npx playwright install chromium` has put into the user's cache, newest first. */
function playwrightBrowsers(): string[] {
  const folder = join(homedir(), ".cache", "ms-playwright");
  try {
    const names = readdirSync(folder).filter((name) => name.startsWith("chromium"));
    const files = [
      "chrome-linux64/chrome",
      "chrome-linux/chrome",
      "chrome-headless-shell-linux64/chrome-headless-shell",
      "chrome-linux/headless_shell",
    ];
    return names
      .sort()
      .reverse()
      .flatMap((name) => files.map((file) => join(folder, name, file)));
  } catch {
    return [];
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function mountsOf(packages: ReadonlyMap<string, string>): SandboxMount[] {
  return [...packages].map(([name, from]) => ({ from, to: `${PACKAGES}/${name}` }));
}

/**
 * The folders of a package and of all packages it needs, by name; undefined when it is not installed. It is looked for beside this package,
 * never in a project: a project must not bring the program that judges it.
 */
function packagesOf(name: string): ReadonlyMap<string, string> | undefined {
  const folders = new Map<string, string>();
  const open: { readonly name: string; readonly from: string }[] = [{ name, from: import.meta.filename }];
  for (const next of open) {
    if (folders.has(next.name)) continue;
    const folder = folderOf(next.name, next.from);
    if (folder === undefined) {
      if (next.name === name) return undefined;
      continue;
    }
    folders.set(next.name, folder);
    for (const needed of dependenciesOf(folder)) open.push({ name: needed, from: join(folder, "package.json") });
  }
  return folders;
}

function folderOf(name: string, from: string): string | undefined {
  const places = createRequire(from).resolve.paths(name) ?? [];
  const place = places.map((folder) => join(folder, name)).find((folder) => existsSync(join(folder, "package.json")));
  return place === undefined ? undefined : realpathSync(place);
}

function dependenciesOf(folder: string): string[] {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  // Types are for compilers.
  return Object.keys(manifest.dependencies ?? {}).filter((name) => !name.startsWith("@types/"));
}
