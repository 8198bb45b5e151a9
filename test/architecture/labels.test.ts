import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, readHouse, root } from "./read-house.ts";

/*
 * A label names an invariant of a file: `RunLog.W2`. The comment that states it stands in the sources; tests cite it in their names. The
 * contracts of `troupe/testing` are tests too.
 */

const LABEL = /\b[A-Z]\w+\.[A-Z]{1,2}\d+\b/g;
const COMMENT = /^\s*(?:\*|\/\*|\/\/)/;

interface Labels {
  readonly stated: ReadonlySet<string>;
  readonly cited: ReadonlySet<string>;
}

function labelsOf(files: Iterable<readonly [path: string, text: string]>): Labels {
  const stated = new Set<string>();
  const cited = new Set<string>();
  for (const [path, text] of files) {
    if (path.startsWith("test/architecture/")) continue;
    for (const line of text.split("\n")) {
      const isStatement = COMMENT.test(line) && /^(?:src|actions|roles)\//.test(path);
      const isCitation = path.startsWith("test/") || path.startsWith("src/testing/contracts/");
      for (const [label] of line.matchAll(LABEL)) {
        if (isStatement) stated.add(label);
        else if (isCitation) cited.add(label);
      }
    }
  }
  return { stated, cited };
}

describe("labels of invariants", () => {
  const drivers = filesBelow("src", ".mjs").map((path) => [path, readFileSync(join(root, path), "utf8")] as const);
  const { stated, cited } = labelsOf([...readHouse(["src", "actions", "roles", "test"]), ...drivers]);

  it("stand in a comment of the sources when a test cites them", () => {
    expect([...cited].filter((label) => !stated.has(label))).toEqual([]);
  });

  it("are cited by a test", () => {
    expect([...stated].filter((label) => !cited.has(label))).toEqual([]);
  });

  it("are found in comments and in names of tests", () => {
    const files = [
      ["src/kernel/line.ts", "/** `Line.L1` it has no end. */"],
      ["test/kernel/line.test.ts", 'it("Line.L1 Line.L2 has no end", () => {});'],
    ] as const;
    expect(labelsOf(files)).toEqual({ stated: new Set(["Line.L1"]), cited: new Set(["Line.L1", "Line.L2"]) });
  });
});
