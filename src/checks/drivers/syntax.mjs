/* Reads source files without running them. Needs `--experimental-vm-modules`. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import nodeModule from "node:module";
import path from "node:path";
import vm from "node:vm";
import { mayBeMissing, order, report, root, withoutRoot } from "./order.mjs";

/** @type {{ kind: "syntax" | "page"; file: string; message: string }[]} */
const faults = [];
/** Scripts by the page that loads them as classic ones. @type {Map<string, string>} */
const classic = new Map();
/** Scripts that a page loads as modules. @type {Set<string>} */
const inModule = new Set();

/** @param {"syntax" | "page"} kind @param {string} file @param {string} message */
function add(kind, file, message) {
  if (faults.length < order.mostFaults) faults.push({ kind, file, message: withoutRoot(message).slice(0, 1000) });
}

/** @param {string} file */
function textOf(file) {
  const found = fs.statSync(path.join(root, file), { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size > order.fileBytes) return undefined;
  return fs.readFileSync(path.join(root, file), "utf8").replace(/^\uFEFF/, "");
}

/** @param {string} text */
const asScript = (text) => new vm.Script(text);
/** @param {string} text */
const asCommon = (text) => vm.compileFunction(text.replace(/^#!.*/, ""), ["exports", "require", "module", "__filename", "__dirname"]);
/** @param {string} text */
const asModule = (text) => new vm.SourceTextModule(text.replace(/^#!.*/, ""));

/** @param {(text: string) => unknown} parse @param {string | undefined} text @returns {string | undefined} */
function errorOf(parse, text) {
  try {
    if (text !== undefined) parse(text);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** The type that the nearest `package.json` gives to a file. @param {string} file @returns {unknown} */
function typeAbove(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const text = textOf(path.join(folder, "package.json"));
    if (text !== undefined && errorOf(JSON.parse, text) === undefined) return Object(JSON.parse(text)).type;
    if (text !== undefined || folder === ".") return undefined;
  }
}

/** The error with its line, as Node.js shows it. @param {string} file @param {string} error */
function shownError(file, error) {
  const checked = spawnSync(process.execPath, ["--no-warnings", "--check", `./${file}`], { cwd: root, encoding: "utf8", timeout: 10_000 });
  const lines = checked.stderr.split("\n").filter((line) => line.trim() !== "" && !/^\s+at |^Node\.js v/.test(line));
  return (checked.status === 0 ? "" : lines.join("\n").replaceAll("file://", "")) || error;
}

/** @param {string} file */
function checkScript(file) {
  const text = textOf(file);
  const page = classic.get(file);
  if (page !== undefined) {
    const error = errorOf(asScript, text);
    if (error === undefined) return;
    const isModule = errorOf(asModule, text) === undefined;
    const classicWords = `${page} loads it as a classic script, and it has import or export. Write it without them.`;
    add("syntax", file, isModule ? classicWords : shownError(file, error));
    return;
  }
  const type = file.endsWith(".mjs") || inModule.has(file) ? "module" : file.endsWith(".cjs") ? "commonjs" : typeAbove(file);
  const error = errorOf(type === "module" ? asModule : asCommon, text);
  // Without a type Node.js takes what fits.
  if (error === undefined || (type === undefined && errorOf(asModule, text) === undefined)) return;
  add("syntax", file, shownError(file, error));
}

/** @param {string} file @param {(text: string) => unknown} parse */
function checkBy(file, parse) {
  const error = errorOf(parse, textOf(file));
  if (error !== undefined) add("syntax", file, error);
}

/** @param {string} tag @returns {Map<string, string>} */
function attributes(tag) {
  const found = new Map();
  for (const [, name = "", double, single, bare] of tag.matchAll(/([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g))
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), double ?? single ?? bare ?? "");
  return found;
}

/** The file of the project that a page names. @param {string} page @param {string | undefined} address */
function localFile(page, address = "") {
  if (/^(data|blob|mailto|tel|javascript|about):/i.test(address) || address.startsWith("#") || address.trim() === "") return undefined;
  const shown = address.slice(0, 200);
  /** @param {string} message */
  const wrong = (message) => add("page", page, message);
  if (/^([a-z][a-z0-9+.-]*:)?\/\//i.test(address)) return wrong(`It loads ${shown} from the network. Use a file of the project.`);
  if (address.startsWith("/")) return wrong(`It names ${shown}, which begins at the root of the disk. Use a relative path.`);
  const name = address.replace(/[?#].*$/s, "");
  const decoded = errorOf(decodeURIComponent, name) === undefined ? decodeURIComponent(name) : name;
  const file = path.posix.join(path.posix.dirname(page), decoded);
  if (!file.startsWith("../") && fs.existsSync(path.join(root, file))) return file;
  if (mayBeMissing(file)) return undefined;
  return wrong(`It names ${shown}, which is not there. A file that the product writes stands in .gitignore.`);
}

/** @param {string} page */
function checkPage(page) {
  const text = textOf(page)?.replace(/<!--[^]*?-->/g, "") ?? "";
  for (const [, tag = "", body] of text.matchAll(/<script\b([^>]*)>([^]*?)<\/script\s*>/gi)) checkScriptTag(page, attributes(tag), body);
  for (const [, tag = ""] of text.matchAll(/<link\b([^>]*)>/gi)) {
    const found = attributes(tag);
    if (/\b(stylesheet|manifest)\b/i.test(found.get("rel") ?? "")) localFile(page, found.get("href"));
  }
  for (const [, tag = ""] of text.matchAll(/<img\b([^>]*)>/gi)) localFile(page, attributes(tag).get("src"));
}

/** @param {string} page @param {Map<string, string>} tag @param {string | undefined} body */
function checkScriptTag(page, tag, body) {
  const [type, address] = [(tag.get("type") ?? "").trim().toLowerCase(), tag.get("src")];
  if (type !== "" && type !== "module" && !/javascript|ecmascript/.test(type)) return;
  if (address === undefined) {
    const error = errorOf(type === "module" ? asModule : asScript, body);
    if (error !== undefined) add("syntax", page, `A script in it is no JavaScript: ${error}`);
    return;
  }
  const file = localFile(page, address);
  if (file === undefined) return;
  if (type !== "module") {
    classic.set(file, page);
    return;
  }
  inModule.add(file);
  const advice = "A browser refuses that from the disk. Use a classic script.";
  add("page", page, `It loads ${address.slice(0, 200)} with type="module". ${advice}`);
}

/** @param {string[]} files */
function checkPython(files) {
  const program = path.join(import.meta.dirname, "compile_python.py");
  const options = /** @type {const} */ ({ cwd: root, encoding: "utf8", maxBuffer: 20_000_000, timeout: order.limit });
  const ran = spawnSync("python3", ["-I", program], { ...options, input: JSON.stringify(files) });
  if (ran.error !== undefined && Reflect.get(ran.error, "code") === "ENOENT") return;
  try {
    for (const [file, message] of JSON.parse(ran.stdout)) add("syntax", file, message);
  } catch {
    add("syntax", files[0] ?? "", `The Python files could not be read: ${String(ran.error ?? ran.stderr).slice(0, 500)}`);
  }
}

/** TypeScript is checked where Node.js can strip its types. */
const strip = /** @type {((text: string) => string) | undefined} */ (Reflect.get(nodeModule, "stripTypeScriptTypes"));
for (const file of order.pages) checkPage(file);
for (const file of new Set([...order.files, ...classic.keys(), ...inModule])) {
  if (/\.[cm]?js$/i.test(file)) checkScript(file);
  else if (/\.[cm]?ts$/i.test(file) && strip !== undefined) checkBy(file, strip);
  else if (/\.json$/i.test(file)) checkBy(file, JSON.parse);
}
const python = order.files.filter((/** @type {string} */ file) => /\.py$/i.test(file));
if (python.length > 0) checkPython(python);
await report({ faults });
process.exit(0);
