import { join, relative, resolve, sep } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TroupeError } from "../../src/kernel/errors.ts";
import { checkPath, isNormalPath, visible, visibleLines } from "../../src/workspace/path-rules.ts";
import { tries } from "../long.ts";

/** Pieces that attacks on paths are made of, next to harmless ones. */
const pieces = [
  "..", ".", "", "/", "\\", "a", "src", "app.js", "~", "$HOME", "%2e%2e", "%00", "\0", "\n", "\u001b[2J", "\u202e", "\u2028", "\ud800",
  ".git", ".GIT", ".gi\u200ct", "git~1", ".troupe", "node_modules", "CON", "nul.txt", "com1", "C:", "c:", "//", "file:", "-rf", "--help",
  "...", "a.", "a ", " a", "*", "?", "|", "ä", "𝒜", "[id]", ".troupe-tmp", "__proto__", "x".repeat(210),
]; // prettier-ignore

const hostilePath = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join("")),
  fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join("/")),
  fc.string({ unit: "binary", maxLength: 40 }),
);

function accepted(path: string): string | undefined {
  try {
    return checkPath(path);
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    expect(error.code).toBe("WORKSPACE_PATH");
    return undefined;
  }
}

describe("checkPath", () => {
  it.each([
    ["src/app.js", "src/app.js"],
    ["./src//app.js", "src/app.js"],
    ["index.html", "index.html"],
    [".gitignore", ".gitignore"],
    ["docs/.gitkeep", "docs/.gitkeep"],
    ["routes/[id]/(group)/page.js", "routes/[id]/(group)/page.js"],
    ["a..b/..c", "a..b/..c"],
    ["Größe/日本語.md", "Größe/日本語.md"],
    ["console.js", "console.js"],
    ["-rf", "-rf"],
    ["my file.txt", "my file.txt"],
  ])("takes %j", (path, normal) => {
    expect(checkPath(path)).toBe(normal);
  });

  it.each(["CON", "con.txt", "Aux.tar.gz", "docs/NUL", "COM9.js", "lpt1", "COM¹", "CONOUT$", "nul .txt"])(
    "refuses %j, which Windows takes for a device",
    (path) => {
      expect(accepted(path)).toBeUndefined();
    },
  );

  it("Workspace.W1 takes no path that resolves outside the root, whatever it is made of", { tags: "numbers" }, () => {
    const root = resolve("/some/project");
    fc.assert(
      fc.property(hostilePath, (path) => {
        const normal = accepted(path);
        if (normal === undefined) return;
        const way = relative(root, join(root, normal));
        expect(way.split(sep)[0]).not.toBe("..");
        expect(way).toBe(normal.split("/").join(sep));
        expect(resolve(root, normal).startsWith(root + sep)).toBe(true);
      }),
      { numRuns: tries(1_667, 20_000) },
    );
  });

  it("Workspace.W1 takes no path into git's or this package's folders, in any case", () => {
    fc.assert(
      fc.property(hostilePath, (path) => {
        const segments = (accepted(path) ?? "").toLowerCase().split("/");
        expect(segments.filter((segment) => [".git", ".troupe", "node_modules"].includes(segment))).toEqual([]);
      }),
    );
  });

  it("gives a normal form that is its own normal form", () => {
    fc.assert(
      fc.property(hostilePath, (path) => {
        const normal = accepted(path);
        if (normal === undefined) return;
        expect(checkPath(normal)).toBe(normal);
        expect(isNormalPath(normal)).toBe(true);
      }),
    );
  });

  it("says what is wrong, what came and what to do, without control characters", () => {
    fc.assert(
      fc.property(hostilePath, (path) => {
        try {
          checkPath(path);
        } catch (error) {
          expect((error as Error).message).toMatch(/^Expected .*, got ".*": it .*\. Use /u);
          expect((error as Error).message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
          expect((error as Error).message.length).toBeLessThan(2500);
        }
      }),
    );
  });
});

describe("visible", () => {
  it("shows control characters instead of sending them", () => {
    expect(visible("a\u001b[31m\u0000\u202eb")).toBe("a\\u{1b}[31m\\u{0}\\u{202e}b");
  });
});

describe("visibleLines", () => {
  it("keeps the lines, whatever ends them, and shows the rest as visible does", () => {
    expect(visibleLines("a\u001b[31m \r\n\n b\rc\n")).toBe("a\\u{1b}[31m\n b\nc");
  });

  it("property: nothing in it steers a terminal", () => {
    fc.assert(
      fc.property(hostilePath, (text) => {
        expect(visibleLines(text).replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });
});
