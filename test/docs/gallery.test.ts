import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../architecture/read-house.ts";
import { xmlParts } from "../research/plot/xml-parts.ts";

const namesIn = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))
    .toSorted();
const studies = namesIn("examples/research", ".ts");
const page = readFileSync(join(root, "docs/guides/gallery.md"), "utf8");

it("the gallery has each study of the shelf once: its question, its program, and its picture", () => {
  const shown = [
    ...page.matchAll(
      /^\*\*[^*]+\?\*\* \[`([\w-]+)\.ts`\]\(\.\.\/\.\.\/examples\/research\/\1\.ts\): [^!]+?\n\n!\[[^\]]+\]\(\.\.\/pictures\/gallery\/\1\.svg\)$/gm,
    ),
  ];
  expect(shown.map(([, name = ""]) => name).toSorted()).toEqual(studies);
  expect(namesIn("docs/pictures/gallery", ".svg")).toEqual(studies);
});

it("every picture is small, well formed, and fetches nothing", () => {
  for (const study of studies) {
    const svg = readFileSync(join(root, "docs/pictures/gallery", `${study}.svg`), "utf8");
    expect([study, svg.length]).toEqual([study, expect.toSatisfy((length: number) => length < 12_000)]);
    const { elements, texts } = xmlParts(svg);
    expect(texts.length).toBeGreaterThan(4);
    expect(elements.filter(({ name }) => /^(script|image|foreignObject|use|style)$/.test(name))).toEqual([]);
    expect(
      elements.flatMap(({ attributes }) => [...attributes]).filter(([name, value]) => /href|src/.test(name) || /url\((?!#)/.test(value)),
    ).toEqual([]);
  }
});
