import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, freshFolder } from "./kept-run.ts";

const role = (body: string): string =>
  `import { defineRole } from "troupe";\nexport const Ann = defineRole({ name: "Ann", react: (rc) => ${body} });\n`;

describe("troupe check --determinism", () => {
  it.each([
    ["nothing is found", role("rc.publish(String(rc.random()))"), 0, /Nothing in the roles/],
    ["something is found", role("rc.publish(String(Math.random()))"), 1, /study\.mjs:2:\d+ /],
    ["the program cannot be parsed", "const = ;", 2, /Expected /],
    ["the program cannot be read", undefined, 2, /FILE_UNREADABLE/],
  ])("tells by its exit code that %s", async (_what, text, code, said) => {
    const cwd = freshFolder();
    if (text !== undefined) writeFileSync(join(cwd, "study.mjs"), text);
    const ended = await command(cwd, ["check", "--determinism", "study.mjs"]);
    expect(ended.code).toBe(code);
    expect(`${ended.stdout}${ended.stderr}`).toMatch(said);
  });
});
