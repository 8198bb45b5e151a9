import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openProgram, type Program } from "../../tools/api.mjs";
import { referencePages, docExamples } from "../../tools/reference.mjs";
import { filesBelow, root } from "../architecture/read-house.ts";
import { codeBlocks } from "./markdown.ts";

// Without other files: an example may declare more of a type of the package, as that of `Deps` does.
const source = openProgram();
const { missing, examples } = docExamples(source);
const pages = referencePages(source);
source.close();

const onPages = Object.fromEntries(["README.md", "docs/guide.md", ...filesBelow("docs/guides", ".md")].flatMap((page) => programsOf(page)));
let program: Program;
beforeAll(() => {
  program = openProgram({ ...examples, ...onPages });
});
afterAll(() => program.close());

describe("the doc comments of the entry points", () => {
  it("have an example for every class and function of the root entry", () => {
    expect(missing).toEqual([]);
  });

  it("show the imports of each example", () => {
    expect(Object.keys(examples).filter((name) => !/^import .* from "troupe/m.test(examples[name] ?? ""))).toEqual([]);
  });

  it("have examples that compile", () => {
    expect(faultsOf(examples)).toEqual([]);
  });

  describe("each example", () => {
    const folder = join(root, "dist/doc-examples");
    beforeAll(() => {
      mkdirSync(folder, { recursive: true });
      for (const [name, code] of Object.entries(examples)) writeFileSync(join(folder, name), `${code}\nexport {};\n`);
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it.each(Object.keys(examples))("%s prints what its comments say", { tags: ["company", "long"] }, async (name) => {
      const lines: string[] = [];
      vi.spyOn(console, "log").mockImplementation(
        (...words: unknown[]) => void lines.push(words.map((word) => (typeof word === "string" ? word : inspect(word))).join(" ")),
      );
      await import(`${folder}/${name}`);
      const promised = [...(examples[name] ?? "").matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);
      expect(lines).toEqual(promised);
    });
  });
});

describe("the code of the pages", () => {
  it("compiles as it is shown: a reader finds every name above or in an import", () => {
    expect(faultsOf(onPages)).toEqual([]);
  });
});

describe("the reference", () => {
  it("has a page with a link for each entry point", () => {
    const contents = pages.get("docs/reference/README.md") ?? "";
    expect([...contents.matchAll(/\]\(([\w.-]+\.md)\)/g)].map(([, page]) => `docs/reference/${page}`).sort()).toEqual(
      [...pages.keys()].filter((page) => page !== "docs/reference/README.md").sort(),
    );
  });

  it.each([...pages.keys()])("has links to names that exist in %s", (path) => {
    const anchors = (page: string): readonly string[] =>
      [...(pages.get(page) ?? "").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replace(/[^\w -]/g, "")
          .replaceAll(" ", "-"),
      );
    const links = [...(pages.get(path) ?? "").matchAll(/\]\(([\w.-]*\.md)?#([\w-]+)\)/g)];
    const broken = links.filter(([, page, name = ""]) => !anchors(page === undefined ? path : `docs/reference/${page}`).includes(name));
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

/** The errors of some of the files that exist in memory. */
function faultsOf(files: Readonly<Record<string, string>>): readonly string[] {
  return program.faults().filter((fault) => Object.hasOwn(files, fault.split(":", 1).join()));
}

/** What a page shows of each example, in the order of the page, as one program with the imports that the blocks show. */
function programsOf(page: string): (readonly [string, string])[] {
  const blocks = new Map<string, { imports: Set<string>; code: string[] }>();
  for (const block of codeBlocks(readFileSync(join(root, page), "utf8"))) {
    const [path = ""] = block.from.split("#", 1);
    if (!path.startsWith("examples/")) continue;
    const one = blocks.get(path) ?? { imports: new Set(), code: [] };
    blocks.set(path, one);
    one.code.push(block.code.replace(/^import .*;\n/gm, ""));
    for (const [, type = "", names = "", from = ""] of block.code.matchAll(/^import (type )?(.*) from (".*");$/gm)) {
      const list = /^\{(.*)\}$/.exec(names)?.[1]?.split(",") ?? [];
      for (const name of list) one.imports.add(`import { ${type}${name.trim()} } from ${from};`);
    }
  }
  const nameOf = (path: string): string => `${page}-${path}`.replace(/[^\w.-]/g, "_");
  return [...blocks].map(([path, { imports, code }]) => [nameOf(path), [...imports, ...code, "export {};"].join("\n")]);
}
