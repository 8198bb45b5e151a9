import fs from "node:fs";
import path from "node:path";
import { root, textOf } from "./order.mjs";

/** Calls an entry point of `pyproject.toml`. */
const CALL =
  "import sys; from importlib import import_module; name, module, function = sys.argv[1:4]; sys.argv[:4] = [name]; sys.exit(getattr(import_module(module), function)())";

/** The program that a command starts: of the project, of `package.json` or of the system. @param {string[]} command @returns {[string, string[]]} */
export function programOf([name = "", ...args], depth = 0) {
  if (name === "node") return [process.execPath, args];
  if (name === "python" || name === "python3") return ["python3", args];
  if (/^(npm|pnpm|yarn)$/.test(name) && depth < 3) return scriptOf(name, args, depth);
  if (name === "npx" && args[0] !== undefined && binOf(args[0]) !== undefined) return programOf(args, depth + 1);
  const file = binOf(name) ?? [name, `node_modules/.bin/${name}`].find(isFile);
  if (file !== undefined && isInside(path.join(root, file))) return ownProgram(file, args);
  const entry = entryPointOf(name);
  return entry === undefined ? [name, args] : ["python3", ["-c", CALL, ...entry, ...args]];
}

/** @param {string} file */
export function isInside(file) {
  try {
    const real = fs.realpathSync(file);
    return real === root || real.startsWith(root + path.sep);
  } catch {
    return false;
  }
}

/** @param {string} name @param {string[]} args @param {number} depth @returns {[string, string[]]} */
function scriptOf(name, args, depth) {
  const words = args[0] === "run" || args[0] === "run-script" ? args.slice(1) : args;
  const script = manifest().scripts?.[words[0] ?? ""];
  if (typeof script !== "string" || !/^[\w./:=@, -]+$/.test(script)) return [name, args];
  const rest = words.slice(words[1] === "--" ? 2 : 1);
  return programOf([...script.trim().split(/ +/), ...rest], depth + 1);
}

/** @param {string} file @param {string[]} args @returns {[string, string[]]} */
function ownProgram(file, args) {
  const start = (textOf(path.join(root, file)) ?? "").slice(0, 200);
  if (/\.[cm]?js$/.test(file) || /^#!.*\bnode\b/.test(start)) return [process.execPath, [file, ...args]];
  if (file.endsWith(".py") || /^#!.*\bpython/.test(start)) return ["python3", [file, ...args]];
  return [path.join(root, file), args];
}

/** @param {string} name */
function isFile(name) {
  return fs.statSync(path.join(root, name), { throwIfNoEntry: false })?.isFile() === true;
}

function manifest() {
  try {
    return Object(JSON.parse(textOf(path.join(root, "package.json")) ?? ""));
  } catch {
    return {};
  }
}

/** @param {string} name @returns {string | undefined} */
function binOf(name) {
  const { bin, name: own } = manifest();
  if (typeof bin === "string")
    return String(own ?? "")
      .split("/")
      .at(-1) === name
      ? bin
      : undefined;
  const target = Object.hasOwn(bin ?? {}, name) ? bin[name] : undefined;
  return typeof target === "string" ? target : undefined;
}

/** The name, the module and the function of an entry point. @param {string} name */
function entryPointOf(name) {
  const section = /^\[project\.scripts\]\s*$([^[]*)/m.exec(textOf(path.join(root, "pyproject.toml")) ?? "")?.[1] ?? "";
  const points = [...section.matchAll(/^\s*"?([\w.-]+)"?\s*=\s*["']([\w.]+):(\w+)["']/gm)];
  return points.find((point) => point[1] === name)?.slice(1);
}
