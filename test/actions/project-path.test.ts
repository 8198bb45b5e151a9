import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTestFile, ProjectPathsSchema, tooMany } from "../../actions/project-path.ts";
import { checkPath } from "../../src/workspace/path-rules.ts";
import { titled } from "../titled.ts";

function faults(paths: readonly string[]): string[] {
  const parsed = ProjectPathsSchema.safeParse(paths);
  return parsed.success ? [] : parsed.error.issues.map((issue) => issue.message);
}

describe("paths of a plan", () => {
  test("come out in normal form, each once, in their order", () => {
    expect(ProjectPathsSchema.parse(["./src/a.js", "index.html", "src//a.js", "src/a.js"])).toEqual(["src/a.js", "index.html"]);
  });

  const attacks = [
    "../x.js",
    "src/../../x.js",
    "/etc/passwd",
    "C:/windows/x",
    "C:\\windows\\x",
    ".git/hooks/pre-commit",
    "src/.GIT/config",
    ".troupe/journal.db",
    "node_modules/left-pad/index.js",
    "a\u0000b.js",
    "a\nb.js",
    "con",
    "src/",
    "",
    ".",
    `${"a/".repeat(30)}a.js`,
    "x".repeat(5_000),
  ];

  test.each(titled(attacks))("%s is refused, with its place and what is wrong", (_case, path) => {
    const parsed = ProjectPathsSchema.safeParse(["src/a.js", path]);
    expect(parsed.success).toBe(false);
    expect(parsed.error?.issues).toHaveLength(1);
    expect(parsed.error?.issues[0]).toMatchObject({ path: [1], message: expect.stringContaining("Expected a relative path") });
  });

  test("the company's own documents are not the plan's to write", () => {
    for (const path of ["docs/prd/x.json", "docs/requirement.txt", "docs/TASK/a.md", "./docs/system_design/a"]) {
      expect(faults([path])).toEqual(["is where the company keeps its own documents"]);
    }
    expect(faults(["docs/guide.md"])).toEqual([]);
  });

  test("sixty files are a project, sixty-one are not, and doubles do not count", () => {
    const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `src/${index}.js`);
    expect(faults(many(60))).toEqual([]);
    expect(faults([...many(60), ...many(60)])).toEqual([]);
    expect(faults(many(61))).toEqual(["names 61 files, and a project may have 60"]);
    expect(tooMany(61)).toBe("names 61 files, and a project may have 60");
  });

  test("an accepted path is a path that the workspace takes unchanged", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "/", ".", "..", "\\", "git", " ", "\u202e") }), { maxLength: 8 }),
        (paths) => {
          const parsed = ProjectPathsSchema.safeParse(paths);
          if (parsed.success) for (const path of parsed.data) expect(checkPath(path)).toBe(path);
        },
      ),
    );
  });
});

test("files of tests are in tests/ and end in .test.mjs", () => {
  for (const path of ["tests/a.test.mjs", "tests/deep/a.test.mjs"]) expect(isTestFile(path)).toBe(true);
  for (const path of ["tests/a.mjs", "test/a.test.mjs", "a.test.mjs", "tests/a.test.js", "tests/.test.mjs.txt", "src/tests/a.test.mjs"]) {
    expect(isTestFile(path)).toBe(false);
  }
});
