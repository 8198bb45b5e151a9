// @module-tag site
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openProgram } from "../../tools/api.mjs";
import { referencePages } from "../../tools/reference.mjs";
import { root } from "../architecture/read-house.ts";
import { freshFolder } from "../cli/kept-run.ts";

let docs = "";
let built = "";
let output = "";

function npm(...words: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync("npm", words, { cwd: docs, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(ending));
const page = (path: string): string => readFileSync(join(built, path), "utf8");

// A copy of the pages, with the packages of the lockfile beside them.
beforeAll(() => {
  docs = join(freshFolder(), "docs");
  cpSync(join(root, "docs"), docs, {
    recursive: true,
    filter: (path) => !/node_modules|docs.reference|\.vitepress[\\/](dist|cache)/.test(path),
  });
  mkdirSync(join(docs, "reference"));
  const program = openProgram();
  for (const [path, text] of referencePages(program)) writeFileSync(join(docs, "..", path), text);
  program.close();
  const installed = npm("ci", "--prefer-offline", "--no-audit", "--no-fund");
  const done = npm("run", "build");
  if (installed.status !== 0 || done.status !== 0) throw new Error(`The site could not be built:\n${installed.output}\n${done.output}`);
  output = done.output;
  built = join(docs, ".vitepress/dist");
});

describe("the site", () => {
  it("has each page as HTML and as Markdown, and no page failed to render", () => {
    const pages = filesIn(docs, ".md").filter((path) => !/node_modules|\.vitepress/.test(path));
    expect(pages.length).toBeGreaterThan(90);
    const both = pages.flatMap((path) => [path, path.replace(/md$/, "html")]);
    expect(both.filter((path) => !existsSync(join(built, path)))).toEqual([]);
    expect(output).not.toMatch(/\w*Error\b/);
  });

  it("leads only to pages, headings and pictures that are there", () => {
    const dead = filesIn(built, ".html").flatMap((path) => {
      const html = page(path);
      const targets = [...html.matchAll(/(?:href|src|srcset)="([^"]+)"/g)].map(([, target = ""]) => target.replaceAll("&amp;", "&"));
      return targets.filter((target) => !/^\w+:/.test(target) && !leads(path, target)).map((target) => `${path}: ${target}`);
    });
    expect(dead).toEqual([]);
  });

  it("has a search, and a list of its pages for programs", () => {
    expect(filesIn(join(built, "assets"), ".js").some((path) => /localSearchIndex/.test(path))).toBe(true);
    const listed = [...page("llms.txt").matchAll(/\]\(\/([^)]+)\)/g)].map(([, path = ""]) => path);
    expect(listed).toEqual(expect.arrayContaining(["guides/pipelines.md", "guides/company.md", "guides/experiments.md", "command.md"]));
    expect(listed.filter((path) => !existsSync(join(built, path)))).toEqual([]);
  });

  it("is not built with a link that leads nowhere", () => {
    appendFileSync(join(docs, "command.md"), "\n[nowhere](guides/nowhere.md)\n");
    const { status, output: said } = npm("run", "build");
    expect(status).not.toBe(0);
    expect(said).toMatch(/dead link/);
  });
});

/** Returns whether a link of a page leads to a file of the site, and to a heading of it. */
function leads(from: string, target: string): boolean {
  const [path = "", anchor = ""] = target.split("#").map(decodeURIComponent);
  const file = path === "" ? from : posix.join(path.startsWith("/") ? "" : posix.dirname(from), path).replace(/^\//, "");
  const found = [file, `${file}.html`, posix.join(file, "index.html")].find((one) => /\.\w+$/.test(one) && existsSync(join(built, one)));
  if (found === undefined) return false;
  return anchor === "" || !found.endsWith(".html") || page(found).includes(`id="${anchor}"`);
}
