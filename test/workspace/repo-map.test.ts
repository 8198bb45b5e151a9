import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../src/memory/tokens.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { memoryWorkspace } from "../../src/workspace/memory-workspace.ts";
import { namesIn } from "../../src/workspace/outline.ts";
import { repoMap } from "../../src/workspace/repo-map.ts";
import { surveyFiles } from "../../src/workspace/survey.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { tries } from "../long.ts";
import { scratchFolder } from "./scratch.ts";
import { git, put, userProject } from "./user-project.ts";

const shop = {
  "README.md": "# Shop\n\nText.\n\n## Use\n",
  "package.json": "{}\n",
  "src/index.js": 'import { total } from "./cart.js";\nimport { log } from "./log.js";\n',
  "src/cart.js": 'import { log } from "./log.js";\nexport class Cart {}\nexport function total(items) {}\n',
  "src/log.js": "export const log = (text) => {};\n",
  "src/shipping.js": 'import { log } from "./log.js";\nexport function shippingCost() {}\n',
  "test/cart.test.js": 'import { total } from "../src/cart.js";\nconst items = [];\n',
  "docs/data.csv": "a,b\n",
};

describe("a map of a project", () => {
  it("tells lines and names of each file, and begins with what the task is about", async () => {
    const map = await repoMap({ workspace: memoryWorkspace({ files: shop }), budget: 500, focus: "The shipping cost is wrong for Norway" });
    const [count, first, ...rest] = map.split("\n");
    expect([count, first]).toEqual(["8 files.", "src/shipping.js (2 lines): shippingCost"]);
    expect(rest).toContain("src/cart.js (3 lines): Cart, total");
    expect(rest).toContain("README.md (5 lines): Shop, Use");
    expect(rest).toContain("docs/data.csv");
  });

  it.each<[string, string, readonly string[]]>([
    ["a.rb", "module Shop\n  class Cart\n    def empty?\n", ["Shop", "Cart", "empty?"]],
    ["a.php", "final class Cart {\n  public static function total() {}\n", ["Cart", "total"]],
    ["a.sh", "set -e\nbuild() {\n}\nfunction clean {\n", ["build", "clean"]],
    [
      "a.c",
      "#define MAX 5\nstruct cart {\nstatic int *cart_total(struct cart *c)\n{\n  return sum(c);\nprintf(x);\n",
      ["MAX", "cart", "cart_total"],
    ],
    ["a.sql", "create table if not exists carts (\n", ["carts"]],
    ["a.go", "var Rates = 1\ntype Cart struct {\nfunc (c *Cart) Total() int {\n", ["Rates", "Cart", "Total"]],
    ["a.rs", "pub const MAX: u8 = 5;\npub(crate) fn total() {\nstatic mut N: u8 = 0;\nmacro_rules! sum {\n", ["MAX", "total", "N", "sum"]],
  ])("names what %s declares", (path, content, names) => {
    expect(namesIn(path, content)).toEqual(names);
  });

  it("finds a name by the words in it, and a file by a name that stands in it alone", async () => {
    const files = { ...shop, "src/a.js": "export function parseJsonHeader() {}\n", "src/b.py": "def write_http_reply(): pass\n" };
    const first = async (focus: string): Promise<string> =>
      (await repoMap({ workspace: memoryWorkspace({ files }), budget: 500, focus })).split("\n")[1] ?? "";
    expect(await first("the header is parsed twice: parse json header")).toContain("src/a.js");
    expect(await first("HTTP reply")).toContain("src/b.py");
  });

  it("without a task begins with sources, and ends with tests and data", async () => {
    const lines = (await repoMap({ workspace: memoryWorkspace({ files: shop }), budget: 500 })).split("\n").slice(1);
    const place = (path: string): number => lines.findIndex((line) => line.startsWith(path));
    expect(place("src/shipping.js")).toBeLessThan(place("test/cart.test.js"));
    expect(place("docs/data.csv")).toBe(lines.length - 1);
  });

  it("is the same each time, and stays within its budget whatever the files are", async () => {
    const path = fc.stringMatching(/^[a-z]{1,8}(\/[a-z]{1,8}){0,3}\.(js|py|md|bin)$/);
    const content = fc.oneof(fc.string({ maxLength: 400 }), fc.constant("export const x = 1;\n".repeat(400)));
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(path, content, { maxKeys: 30 }),
        fc.integer({ min: 50, max: 800 }),
        fc.string(),
        async (given, budget, focus) => {
          // A file cannot be a folder too.
          const files = Object.fromEntries(Object.entries(given).map(([name, text]) => [name.replaceAll(/\.(?=.*\/)/g, "-"), text]));
          const draw = (): Promise<string> => repoMap({ workspace: memoryWorkspace({ files }), budget, focus });
          const map = await draw();
          expect(estimateTokens(map)).toBeLessThanOrEqual(budget);
          expect(await draw()).toBe(map);
        },
      ),
      { numRuns: tries(10, 60) },
    );
  });

  it("shows binary, minified, large and linked files without names, and hides no word in them", async () => {
    const root = scratchFolder();
    put(root, "pic.js", Buffer.from([0, 1, 2]));
    put(root, "min.js", `export function gone(){}${"x();".repeat(2_000)}`);
    put(root, "large.js", "export const a = 1;\n".repeat(50_000));
    put(root, "odd.md", "# \u202etitle\u001b[2J\n");
    symlinkSync("/etc/passwd", join(root, "link.js"));
    const map = await repoMap({ workspace: fileWorkspace({ root, git: false }), budget: 500 });
    expect(map.split("\n").slice(1).sort()).toEqual(["large.js", "min.js (1 line)", "odd.md (1 line): \\u{202e}title\\u{1b}[2J", "pic.js"]);
  });

  it("leaves out what git ignores, and what lies in other repositories", async () => {
    const map = await repoMap({ workspace: fileWorkspace({ root: userProject() }), budget: 500 });
    expect(map).toContain("src/app.js (1 line): app");
    expect(map).not.toMatch(/build|keys\.secret|nested\/own|vendor\/lib\/lib/);
  });
});

describe("the survey of a project", () => {
  it("tells what git tracks or would take; what it ignores only where that is named", async () => {
    const root = userProject();
    put(root, "new.js", "1");
    put(root, "README.md", "changed");
    const workspace = fileWorkspace({ root });
    await workspace.remove("crlf.txt");
    const { paths, isWhole } = await surveyFiles(workspace);
    expect(isWhole).toBe(true);
    expect(paths).toEqual([
      ".gitignore",
      ".gitmodules",
      "README.md",
      "bom.txt",
      "new.js",
      "open-end.txt",
      "pic.png",
      "run.sh",
      "src/app.js",
    ]);
    expect((await surveyFiles(workspace, { under: "src" })).paths).toEqual(["src/app.js"]);
    expect((await surveyFiles(workspace, { under: "build" })).paths).toEqual(["build/out.js"]);
  });

  it("makes no repository, and tells all files where there is none", async () => {
    const root = scratchFolder();
    put(root, ".gitignore", "*.log\n");
    put(root, "a.log", "1");
    const workspace: Workspace = fileWorkspace({ root });
    expect((await surveyFiles(workspace)).paths).toEqual([".gitignore", "a.log"]);
    expect((await surveyFiles(fileWorkspace({ root: join(root, "none") }))).paths).toEqual([]);
    git(root, "init", "--quiet");
    expect((await surveyFiles(workspace)).paths).toEqual([".gitignore"]);
  });

  it("and the map of tens of thousands of files take seconds", { tags: ["company", "long"] }, async () => {
    const root = scratchFolder();
    const folders = tries(210, 500);
    for (let folder = 0; folder < folders; folder++) {
      mkdirSync(join(root, `pkg${folder % 20}/mod${folder}`), { recursive: true });
      for (let n = 0; n < 100; n++)
        writeFileSync(join(root, `pkg${folder % 20}/mod${folder}/file${n}.js`), `export const value${folder}x${n} = ${n};\n`);
    }
    put(root, "pkg3/mod3/tax.js", "export function valueAddedTax() {}\n");
    const workspace = fileWorkspace({ root, git: false });
    expect((await surveyFiles(workspace)).paths).toHaveLength(folders * 100 + 1);
    const started = performance.now();
    const map = await repoMap({ workspace, budget: 1_000, focus: "the value added tax is wrong" });
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(map.split("\n")[0]).toBe(`${folders * 100 + 1} files.`);
    expect(map).toContain("pkg3/mod3/tax.js (1 line): valueAddedTax");
    expect(estimateTokens(map)).toBeLessThanOrEqual(1_000);
  });
});
