import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { STATUS } from "../../src/server/http-errors.ts";

/** Codes that no request is told: of options, of the record of a paused run, and of a damaged record, whose error is told as 500. */
const ELSEWHERE: ReadonlySet<string> = new Set(["OPTION_INVALID", "LISTEN_OPEN", "LISTEN_FAILED", "SERVER_PAUSED", "JOURNAL_DAMAGED"]);

const told = new Map<string, readonly string[]>();
for (const line of readFileSync("docs/guides/serve.md", "utf8").split("\n")) {
  const [, statuses, codes] = /^\| (\d{3}(?:, \d{3})*) \| (.*) \|$/.exec(line) ?? [];
  for (const [, code = ""] of codes?.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g) ?? []) told.set(code, statuses?.split(", ") ?? []);
}

it("the guide to serving has every code that a route answers with, under its status", () => {
  for (const [code, status] of STATUS) expect(told.get(code), code).toContain(String(status));
  for (const file of readdirSync("src/server")) {
    for (const [, code = ""] of readFileSync(`src/server/${file}`, "utf8").matchAll(/"([A-Z]+(?:_[A-Z]+)+)"/g))
      if (!ELSEWHERE.has(code)) expect(told.has(code), `${code} of ${file}`).toBe(true);
  }
});
