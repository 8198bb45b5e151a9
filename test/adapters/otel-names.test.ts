import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ATTRIBUTES, METRICS } from "./genai-conventions.ts";

const GUIDE = readFileSync("docs/guides/traces.md", "utf8");
const SOURCES = readdirSync("src/adapters")
  .filter((file) => /^(?:otel|otlp)/.test(file))
  .map((file) => readFileSync(`src/adapters/${file}`, "utf8"))
  .join("\n");
const written = [...new Set(SOURCES.match(/(?<=")(?:gen_ai|troupe)\.[a-z_.]+(?=")/g))];

describe("the names of traces and metrics", () => {
  it("are those of the conventions, or of our own under troupe", () => {
    const strange = written.filter((name) => !name.startsWith("troupe.") && !ATTRIBUTES.has(name) && !METRICS.has(name));
    expect([written.length > 30, strange]).toEqual([true, []]);
  });

  it("are in the guide", () => {
    expect(written.filter((name) => !GUIDE.includes(`\`${name}\``) && !GUIDE.includes(`\`${name} <`))).toEqual([]);
  });
});
