import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, freshFolder } from "./kept-run.ts";

describe("troupe serve", () => {
  it.each([
    [["--total-budget", "0"], "--total-budget"],
    [["--total-budget", "1", "--tenants", "tenants.json"], "OPTION_CONFLICT"],
    [["--listen", "127.0.0.1:8080"], "--listen 127.0.0.1 --port 8080"],
  ])("refuses %j", async (words, told) => {
    const cwd = freshFolder();
    writeFileSync(join(cwd, "tenants.json"), "{}");
    const { code, stdout, stderr } = await command(cwd, ["serve", ...words]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(told);
  });
});
