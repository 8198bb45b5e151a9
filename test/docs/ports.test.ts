import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../architecture/read-house.ts";

const folder = join(root, "examples/ports");
const page = readFileSync(join(root, "docs/guides/ports.md"), "utf8");

/** Counts the lines of the program of a port and of its imports, without blank and comment lines. */
function linesOf(file: string): number {
  const text = readFileSync(join(folder, file), "utf8");
  const program = /\/\/ #region program\n([\s\S]*?)\/\/ #endregion/.exec(text)?.[1] ?? "";
  const imports = text.split("\n").filter((line) => {
    const names = /^import \{ (.*) \} from/.exec(line)?.[1]?.split(", ") ?? [];
    return names.some((name) => new RegExp(`\\b${name}\\b`).test(program));
  });
  const lines = program.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("//"));
  return imports.length + lines.length;
}

it("the page of the ports has each port once, with its lines", () => {
  const shown = [...page.matchAll(/^\| \[[^\]]+\]\(\.\.\/\.\.\/examples\/ports\/([\w-]+\.ts)\) \| [^|]+ \| (\d+) \|/gm)];
  const counted = readdirSync(folder).map((file) => `${file} ${linesOf(file)}`);
  expect(shown.map(([, file, lines]) => `${file} ${lines}`).toSorted()).toEqual(counted.toSorted());
});
