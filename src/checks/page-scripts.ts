import { posix } from "node:path";
import { textIn } from "./project-text.ts";

const SOURCE = /<script\b[^>]*?\bsrc\s*=\s*["']?([^"'\s>]+)/gi;
const IMPORTED = /\b(?:import|export)\b[^"'`;]*["']([./][^"'\s]+)["']/g;

/** The scripts of a project's pages: those that a page names, and what these import. They are made for a browser. */
export async function pageScripts(root: string, files: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const open = files.filter((file) => /\.html?$/i.test(file)).map((file) => ({ file, names: SOURCE }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { file, names } = next;
    for (const [, address = ""] of ((await textIn(root, file)) ?? "").matchAll(names)) {
      const path = address.replace(/[?#].*$/s, "");
      const beside = posix.join(posix.dirname(file), path);
      // A server may offer any folder as the root of its addresses.
      const meant = files.filter((one) => (path.startsWith("/") ? `/${one}`.endsWith(path) : one === beside));
      for (const script of meant.filter((one) => !found.has(one))) {
        found.add(script);
        open.push({ file: script, names: IMPORTED });
      }
    }
  }
  return found;
}
