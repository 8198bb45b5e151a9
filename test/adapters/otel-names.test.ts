import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DURATIONS, GEN_AI, OPERATIONS, TROUPE, USED, USED_EACH } from "../../src/adapters/otel-names.ts";
import { ATTRIBUTES, METRICS, OPERATION_NAMES } from "./genai-conventions.ts";

const GUIDE = readFileSync("docs/guides/traces.md", "utf8");
const measured = [DURATIONS, USED, USED_EACH].flatMap((table) => Object.values<string>(table));

describe("the names of traces and metrics", () => {
  it.each([
    ["attributes", Object.values<string>(GEN_AI), ATTRIBUTES],
    ["operations", Object.values<string>(OPERATIONS), OPERATION_NAMES],
    ["metrics", measured, METRICS],
  ])("are those of the conventions: %s", (_what, own, theirs) => {
    expect(own.filter((name) => !theirs.has(name))).toEqual([]);
  });

  it("of our own are under troupe, and no name is there twice", () => {
    const all = [...Object.values<string>(GEN_AI), ...Object.values<string>(TROUPE)];
    expect(Object.values<string>(TROUPE).filter((name) => !name.startsWith("troupe."))).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
  });

  it("stand in one file", () => {
    const files = readdirSync("src/adapters").filter((file) => /^(?:otel|otlp)/.test(file) && file !== "otel-names.ts");
    const written = files.flatMap((file) => readFileSync(`src/adapters/${file}`, "utf8").match(/"(?:gen_ai|troupe)\.[^"]*"/g) ?? []);
    expect(written).toEqual([]);
  });

  it("stand in the guide", () => {
    const all = [...Object.values<string>(GEN_AI), ...Object.values<string>(TROUPE), ...Object.values<string>(OPERATIONS), ...measured];
    const absent = all.filter((name) => !GUIDE.includes(`\`${name}\``) && !GUIDE.includes(`\`${name} <`));
    expect(absent).toEqual([]);
  });
});
