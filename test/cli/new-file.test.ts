import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeNewFile } from "../../src/cli/text-file.ts";
import { freshFolder } from "./kept-run.ts";

function* failing(before: readonly string[]): Generator<string> {
  yield* before;
  throw new Error("the record is damaged");
}

it.each([[[]], [["a line"]]])("an export that fails after %j leaves a file that is there as it is", async (before) => {
  const path = join(freshFolder(), "mine.txt");
  writeFileSync(path, "mine");
  await expect(writeNewFile(path, failing(before))).rejects.toMatchObject({ code: "EXPORT_UNWRITABLE" });
  expect(readFileSync(path, "utf8")).toBe("mine");
});

it("an export that fails leaves nothing of its own", async () => {
  const path = join(freshFolder(), "new.txt");
  await expect(writeNewFile(path, failing(["a line"]))).rejects.toMatchObject({ code: "EXPORT_UNWRITABLE" });
  expect(existsSync(path)).toBe(false);
});

it("a new file has the lines, and only its owner can read it", async () => {
  const path = join(freshFolder(), "new.txt");
  expect(await writeNewFile(path, ["a", "b"])).toBe(2);
  expect(readFileSync(path, "utf8")).toBe("a\nb\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
