import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, root } from "../architecture/read-house.ts";

it("every error code that the guide names is one that the source throws", () => {
  const guide = readFileSync(join(root, "docs/guide.md"), "utf8");
  const named = [...guide.matchAll(/`([A-Z]+(?:_[A-Z]+)+|TIMEOUT)`/g)].map(([, code]) => code ?? "");
  const source = [...filesBelow("src", ".ts"), ...filesBelow("actions", ".ts")]
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n");
  expect(named.length).toBeGreaterThan(15);
  // Codes of files and tables are a prefix and the fault: `JOURNAL_${fault.toUpperCase()}`.
  const isMade = (prefix = "", fault = ""): boolean =>
    source.includes(`\`${prefix}_\${fault`) && source.includes(`"${fault.toLowerCase()}"`);
  expect(named.filter((code) => !source.includes(`"${code}"`) && !isMade(...code.split("_", 2)))).toEqual([]);
});
