/**
 * The program that reads source files inside a sandbox without running them: the text of a script for `node -e`, with the flag
 * `--experimental-vm-modules`. It reads its order on standard input and reports one line that begins with the order's nonce.
 */
export const SYNTAX_DRIVER: string =
  String.raw`
const fs = require("node:fs"), path = require("node:path"), vm = require("node:vm"), nodeModule = require("node:module");
const { spawnSync } = require("node:child_process");
const order = JSON.parse(fs.readFileSync(0, "utf8"));
const root = process.cwd();
const faults = [];
const add = (kind, file, message) => { if (faults.length < order.mostFaults) faults.push({ kind, file, message: message.replaceAll(root + "/", "").slice(0, 1000) }); };
const isThere = (file) => fs.existsSync(path.join(root, file));
function textOf(file) {
  try {
    const at = path.join(root, file);
    return fs.statSync(at).size > order.fileBytes ? undefined : fs.readFileSync(at, "utf8").replace(/^\uFEFF/, "");
  } catch { return undefined; }
}

const asScript = (text) => { new vm.Script(text); };
const asCommon = (text) => { vm.compileFunction(text.replace(/^#!.*/, ""), ["exports", "require", "module", "__filename", "__dirname"]); };
const asModule = (text) => { new vm.SourceTextModule(text.replace(/^#!.*/, "")); };
const errorOf = (parse, text) => { try { parse(text); return undefined; } catch (error) { return error; } };

function typeAbove(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const text = textOf(path.join(folder, "package.json"));
    if (text !== undefined) try { return JSON.parse(text).type; } catch { return undefined; }
    if (folder === ".") return undefined;
  }
}
function placeOf(file, error) {
  const checked = spawnSync(process.execPath, ["--no-warnings", "--check", "./" + file], { cwd: root, encoding: "utf8", timeout: 10000 });
  const said = checked.status === 0 ? "" : checked.stderr.split("\n").filter((line) => line.trim() !== "" && !/^\s+at |^Node\.js v/.test(line)).join("\n");
  return said.replaceAll("file://", "") || String(error);
}
function checkScript(file) {
  const text = textOf(file);
  if (text === undefined) return;
  const loaded = classic.get(file);
  if (loaded !== undefined) {
    const error = errorOf(asScript, text);
    if (error === undefined) return;
    const isModule = errorOf(asModule, text) === undefined;
    add("syntax", file, isModule ? loaded + " loads it as a classic script, and it has import or export. Write it without them." : placeOf(file, error));
    return;
  }
  const type = /\.mjs$/.test(file) || inModule.has(file) ? "module" : /\.cjs$/.test(file) ? "commonjs" : typeAbove(file);
  const error = type === "module" ? errorOf(asModule, text) : errorOf(asCommon, text);
  if (error === undefined) return;
  if (type === undefined && errorOf(asModule, text) === undefined) return;
  add("syntax", file, placeOf(file, error));
}
function checkTypeScript(file) {
  const text = textOf(file);
  if (text === undefined || nodeModule.stripTypeScriptTypes === undefined) return;
  const error = errorOf((source) => nodeModule.stripTypeScriptTypes(source), text);
  if (error !== undefined) add("syntax", file, String(error));
}
function checkJson(file) {
  const text = textOf(file);
  const error = text === undefined ? undefined : errorOf(JSON.parse, text);
  if (error !== undefined) add("syntax", file, String(error));
}

const classic = new Map(), inModule = new Set();
function attributes(tag) {
  const found = new Map();
  for (const [, name, , double, single, bare] of tag.matchAll(/([^\s"'<>\/=]+)(\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>` +
  "`" +
  String.raw`]+)))?/g)) if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), double ?? single ?? bare ?? "");
  return found;
}
function localFile(page, address) {
  if (/^(data|blob|mailto|tel|javascript|about):/i.test(address) || address.startsWith("#") || address.trim() === "") return undefined;
  if (/^([a-z][a-z0-9+.-]*:)?\/\//i.test(address)) { add("page", page, "It loads " + address.slice(0, 200) + " from the network. Use a file of the project."); return undefined; }
  if (address.startsWith("/")) { add("page", page, "It names " + address.slice(0, 200) + ", which begins at the root of the disk. Use a relative path."); return undefined; }
  let name = address.replace(/[?#].*$/s, "");
  try { name = decodeURIComponent(name); } catch {}
  const file = path.posix.normalize(path.posix.join(path.posix.dirname(page), name));
  if (!file.startsWith("../") && isThere(file)) return file;
  add("page", page, "It names " + address.slice(0, 200) + ", which is not there.");
  return undefined;
}
function checkPage(page) {
  const text = textOf(page)?.replace(/<!--[^]*?-->/g, "");
  if (text === undefined) return;
  for (const [, tag, body] of text.matchAll(/<script\b([^>]*)>([^]*?)<\/script\s*>/gi)) {
    const found = attributes(tag), type = (found.get("type") ?? "").trim().toLowerCase(), address = found.get("src");
    if (type !== "" && type !== "module" && !/javascript|ecmascript/.test(type)) continue;
    const file = address === undefined ? undefined : localFile(page, address);
    if (type === "module" && address !== undefined) {
      if (file !== undefined) { inModule.add(file); add("page", page, "It loads " + address.slice(0, 200) + ' with type="module". A browser refuses that from the disk. Use a classic script.'); }
    } else if (file !== undefined) classic.set(file, page);
    else if (address === undefined) {
      const error = errorOf(type === "module" ? asModule : asScript, body);
      if (error !== undefined) add("syntax", page, "A script in it is no JavaScript: " + String(error));
    }
  }
  for (const [, tag] of text.matchAll(/<link\b([^>]*)>/gi)) {
    const found = attributes(tag);
    if (/\b(stylesheet|manifest)\b/i.test(found.get("rel") ?? "") && found.has("href")) localFile(page, found.get("href"));
  }
  for (const [, tag] of text.matchAll(/<img\b([^>]*)>/gi)) { const address = attributes(tag).get("src"); if (address !== undefined) localFile(page, address); }
}

const COMPILE = [
  "import json, sys, warnings",
  "warnings.simplefilter('ignore')",
  "found = []",
  "for file in json.load(sys.stdin):",
  "    try:",
  "        with open(file, 'rb') as source: compile(source.read(), file, 'exec', dont_inherit=True)",
  "    except SyntaxError as error: found.append([file, '%s: %s, line %s: %s' % (type(error).__name__, error.msg, error.lineno, (error.text or '').strip())])",
  "    except (ValueError, RecursionError, MemoryError) as error: found.append([file, '%s: %s' % (type(error).__name__, error)])",
  "    except OSError: pass",
  "json.dump(found, sys.stdout)",
].join("\n");
function checkPython(files) {
  const ran = spawnSync("python3", ["-I", "-c", COMPILE], { cwd: root, input: JSON.stringify(files), encoding: "utf8", maxBuffer: 20000000, timeout: order.limit });
  if (ran.error?.code === "ENOENT") return;
  let found;
  try { found = JSON.parse(ran.stdout); } catch { add("syntax", files[0], "The Python files could not be read: " + String(ran.error ?? ran.stderr).slice(0, 500)); return; }
  for (const [file, message] of found) add("syntax", file, message);
}

const ending = (file) => path.extname(file).toLowerCase();
for (const file of order.pages) checkPage(file);
const all = [...new Set([...order.files, ...classic.keys(), ...inModule])];
for (const file of all) {
  if ([".js", ".mjs", ".cjs"].includes(ending(file))) checkScript(file);
  else if ([".ts", ".mts", ".cts"].includes(ending(file))) checkTypeScript(file);
  else if (ending(file) === ".json") checkJson(file);
}
const python = order.files.filter((file) => ending(file) === ".py");
if (python.length > 0) checkPython(python);
process.stdout.write("\n" + order.nonce + " " + JSON.stringify({ faults }) + "\n", () => process.exit(0));
`;
