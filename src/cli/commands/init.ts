import { lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../../kernel/errors.ts";
import { ifThere, isMissing, succeeds, systemCode } from "../../kernel/system-error.ts";
import { clauseText, thrownText } from "../../kernel/value-text.ts";
import { ownPackage } from "../../research/experiment/manifest.ts";
import type { Flags } from "../options.ts";
import { column, plural, shellWord, shown, type TextStyle } from "../screen/text.ts";
import { printResult, type Session } from "../session.ts";

type Ranges = Readonly<Record<string, string>>;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly peerDependencies: Ranges;
  readonly devDependencies?: Ranges;
  readonly dependencies: Ranges;
}

/** npm does not pack a `.gitignore`, and a `package.json` inside the package would hide its own. */
const RENAMED: Readonly<Record<string, string>> = { _gitignore: ".gitignore", "_package.json": "package.json" };
const TEMPLATE_NAME = "my-team";
const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;
const MAX_NAME = 214;
const MAX_LISTED = 8;
const ABOUT: Readonly<Record<string, string>> = {
  team: "the roles, their actions, and the choice of the model",
  main: "npm start",
  "team.test": "npm test",
};

/** Makes a project in a new or empty folder. It writes no file that is there, and removes what it wrote where it fails. */
export async function init(session: Session, flags: Flags, given: string = "."): Promise<void> {
  const { cwd } = session.host;
  if (given === "") throw new UsageError("PROJECT_FOLDER_INVALID", `Expected a folder, got "". Name one: troupe init ${TEMPLATE_NAME}`);
  const folder = resolve(cwd, given);
  const name = checkedName(flags.name ?? basename(folder), flags.name === undefined ? given : undefined);
  const project = await projectFor(folder, name, flags.js === true ? "js" : "ts");
  await assertFree(project);
  await write(project);
  const files = [...project.files.keys()];
  await printResult(session, { type: "project", name, folder, troupe: project.troupe, files }, (o) => lines(project, cwd, o));
}

function checkedName(name: string, folder: string | undefined): string {
  const isTaken = [...builtinModules, "troupe", "zod", "typescript", "node_modules", "favicon.ico"].includes(name);
  if (PACKAGE_NAME.test(name) && name.length <= MAX_NAME && !isTaken) return name;
  const why = isTaken ? "which is the name of something else" : "which npm does not take: small letters, digits and dashes";
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, MAX_NAME);
  const free = slug === "" || isTaken ? TEMPLATE_NAME : slug;
  const advice = folder === undefined ? `--name ${free}` : `troupe init ${shellWord(folder)} --name ${free}`;
  throw new UsageError(
    "PROJECT_NAME_INVALID",
    `Expected the name of a package, got "${shown(name, 200)}", ${why}. Give another: ${advice}`,
  );
}

type Project = Awaited<ReturnType<typeof projectFor>>;

async function projectFor(folder: string, name: string, language: "js" | "ts") {
  const own = ownPackage();
  const root = own === undefined ? "" : fileURLToPath(own.folder);
  const template = join(root, "templates", language);
  const paths = await readdir(template, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new UsageError("TEMPLATE_MISSING", `Expected the templates of this package in ${template}. Install the package again.`, {
      cause,
    });
  });
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Manifest;
  const troupe = (await isFromRegistry(root, manifest.name)) ? `^${manifest.version}` : `file:${posix(relative(folder, root))}`;
  const files = new Map<string, string>();
  for (const entry of paths.filter((one) => one.isFile())) {
    const path = relative(template, join(entry.parentPath, entry.name));
    const text = await readFile(join(template, path), "utf8");
    const isManifest = path === "_package.json";
    files.set(posix(RENAMED[path] ?? path), isManifest ? filled(text, name, troupe, manifest) : text.replaceAll(TEMPLATE_NAME, name));
  }
  // npm copies the folder, as it would a published package: a link would use the folder's own copy of zod.
  if (troupe.startsWith("file:")) files.set(".npmrc", "install-links=true\n");
  return { name, folder, troupe, files: new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) };
}

function filled(text: string, name: string, troupe: string, { peerDependencies, devDependencies = {} }: Manifest): string {
  const ranged = (wanted: Ranges): Ranges =>
    Object.fromEntries(
      Object.keys(wanted).map((one) => [one, one === "troupe" ? troupe : (peerDependencies[one] ?? `^${devDependencies[one]}`)]),
    );
  const project = JSON.parse(text) as Manifest;
  const { dependencies, devDependencies: tools } = project;
  const whole = { ...project, name, dependencies: ranged(dependencies), ...(tools && { devDependencies: ranged(tools) }) };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

/** Returns whether npm installed this package from a registry: a range would name a package of somebody else otherwise. */
async function isFromRegistry(root: string, name: string): Promise<boolean> {
  const packages = dirname(root);
  if (basename(packages) !== "node_modules") return false;
  const lock = await ifThere(readFile(join(packages, ".package-lock.json"), "utf8"));
  if (lock === undefined) return false;
  const { packages: locked = {} } = JSON.parse(lock) as { readonly packages?: Readonly<Record<string, { readonly resolved?: string }>> };
  return locked[`node_modules/${name}`]?.resolved?.startsWith("https://") === true;
}

async function assertFree({ folder, files }: Project): Promise<void> {
  const found = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    const why = systemCode(error) === "ENOTDIR" ? "a file has that path" : clauseText(thrownText(error));
    throw new UsageError("PROJECT_UNWRITABLE", `Expected a folder at ${shown(folder, 300)}, but ${why}. Name another one.`, {
      cause: error,
    });
  });
  const others = found.filter((one) => !one.startsWith(".") || files.has(one));
  if (others.length === 0) return;
  const isThere = await Promise.all([...files.keys()].map((path) => succeeds(lstat(join(folder, path)))));
  throw taken(
    folder,
    others,
    [...files.keys()].filter((_, at) => isThere[at] === true),
  );
}

function taken(folder: string, others: readonly string[], overwritten: readonly string[]): UsageError {
  const list = (paths: readonly string[]): string =>
    `${paths
      .slice(0, MAX_LISTED)
      .map((one) => shown(one, 80))
      .join(", ")}${paths.length > MAX_LISTED ? ", ..." : ""}`;
  const has = `it has ${plural(others.length, "file or folder", "files or folders")} (${list(others)})`;
  const lost = overwritten.length === 0 ? "" : `, and ${list(overwritten)} would be overwritten`;
  const text = `Expected a new or empty folder at ${shown(folder, 300)}, but ${has}${lost}. Nothing was written. Name another folder.`;
  return new UsageError("PROJECT_FOLDER_TAKEN", text, { data: { overwritten: [...overwritten] } });
}

async function write({ folder, files }: Project): Promise<void> {
  const made: string[] = [];
  try {
    for (const [path, text] of files) {
      const file = join(folder, path);
      const first = await mkdir(dirname(file), { recursive: true });
      if (first !== undefined) made.push(...foldersFrom(first, dirname(file)));
      await writeFile(file, text, { flag: "wx" });
      made.push(file);
    }
  } catch (cause) {
    for (const path of made.toReversed()) await rm(path).catch(() => rmdir(path).catch(() => {}));
    if (systemCode(cause) === "EEXIST") throw taken(folder, [basename(String((cause as { path?: unknown }).path))], []);
    const why = isMissing(cause) ? "its path is no folder" : clauseText(thrownText(cause));
    const text = `Expected to write a project into ${shown(folder, 300)}, but ${why}. Nothing is left of it. Name another one.`;
    throw new UsageError("PROJECT_UNWRITABLE", text, { cause });
  }
}

function foldersFrom(first: string, last: string): readonly string[] {
  return first === last ? [last] : [...foldersFrom(first, dirname(last)), last];
}

function lines({ name, folder, troupe, files }: Project, cwd: string, { style }: TextStyle): readonly string[] {
  const width = Math.max(...[...files.keys()].map((path) => path.length)) + 2;
  const about = (path: string): string => ABOUT[basename(path).replace(/\.(ts|js)$/, "")] ?? "";
  const way = relative(cwd, folder);
  return [
    `${style.good("✓")} ${style.strong(shown(name))}: two roles, and a script that answers without a key.`,
    "",
    ...[...files.keys()].map((path) => `  ${column(path, width)}${style.faint(about(path))}`.trimEnd()),
    "",
    ...(troupe.startsWith("file:")
      ? [`Troupe is installed from ${shown(troupe.slice("file:".length), 300)}: it is not published.`, ""]
      : []),
    "Next:",
    ...(way === "" ? [] : [`  cd ${shellWord(way)}`]),
    ...["npm install", "npm test", "npm start"].map((command) => `  ${command}`),
    `  ${column('OPENAI_API_KEY=... npm start -- "the moon"', 44)}${style.faint("a model in place of the script")}`,
  ];
}

function posix(path: string): string {
  return path.split(sep).join("/");
}
