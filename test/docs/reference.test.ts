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

const guides = ["README.md", "docs/index.md", "docs/guide.md", ...filesBelow("docs/guides", ".md"), ...filesBelow("skills", ".md")];
const onPages = Object.fromEntries(guides.flatMap((page) => programsOf(page)));
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

describe("docs/guides/from-metagpt-openmanus.md", () => {
  const rows = tableRows(readFileSync(join(root, "docs/guides/from-metagpt-openmanus.md"), "utf8"));
  const code = filesBelow("examples", ".ts")
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n");
  const text = [...pages.values()].join("\n");
  const exported = new Set([...text.matchAll(/^### (\w+)/gm)].map(([, name]) => name));
  const members = new Set([...text.matchAll(/^(?:#### \w+\.| +(?:readonly |get |set |static )*)(\w+)/gm)].map(([, name]) => name));

  it("has the names of both, each beside one that an entry exports, or a member of one", () => {
    expect(rows.length).toBeGreaterThan(100);
    const unknown = rows.flatMap(([, here, line]) =>
      codesIn(here)
        .filter((name) => /^\w+$/.test(name))
        .filter((name) => !exported.has(name) && (/^[A-Z]/.test(name) || (!members.has(name) && !line.includes(name)))),
    );
    expect(unknown).toEqual([]);
  });

  it("shows for each a line of an example, or where it is told", () => {
    const lost = rows.filter(([, , line]) => {
      const codes = codesIn(line);
      return codes.length === 0 ? !line.startsWith("see ") : !codes.every((one) => code.includes(one));
    });
    expect(lost).toEqual([]);
  });
});

it("each part that the seeds name stands in the code of a guide", () => {
  const parts = [
    "MessageQueue",
    "tryRemember",
    "onEvict",
    "exportSnapshot",
    "messageFlow",
    "Lifecycle",
    "ToolResult",
    "ToolCollection",
    "nextStepPrompt",
  ];
  const shown = Object.values(onPages).join("\n");
  expect(parts.filter((part) => !shown.includes(part))).toEqual([]);
});

/** The rows of the tables of three columns, without their heads. */
function tableRows(page: string): (readonly [string, string, string])[] {
  const cells = page.split("\n").map((line) => /^\| (.*?) \| (.*?) \| (.*) \|$/.exec(line)?.slice(1) ?? []);
  return cells.flatMap(([theirs = "", here = "", line = ""]) => (line === "" || line === "a line" ? [] : [[theirs, here, line] as const]));
}

function codesIn(cell: string): readonly string[] {
  return [...cell.matchAll(/(`+)(.+?)\1/g)].map(([, , one = ""]) => one);
}

/** The errors of some of the files that exist in memory. */
function faultsOf(files: Readonly<Record<string, string>>): readonly string[] {
  return program.faults().filter((fault) => Object.hasOwn(files, fault.split(":", 1).join()));
}

/** The code that a page shows of each example, in the order of the page, as one program with the imports that the blocks show. */
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
