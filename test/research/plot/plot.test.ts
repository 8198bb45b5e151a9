import { spawnSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plotHtml, plotSvg, tInterval } from "../../../src/research/index.ts";
import type { PlotOptions, PlotRow } from "../../../src/research/plot/plot-options.ts";
import { entryPoints, root } from "../../architecture/read-house.ts";

import { xmlParts } from "./xml-parts.ts";

const rows: readonly PlotRow[] = ["ring", "star"].flatMap((topology, place) =>
  [10, 100].flatMap((agents) =>
    [1, 2, 3].map((rep) => ({ topology, agents, rep, gini: 0.2 + place / 4 + rep / 50 + agents / 1_000, isDone: rep > 1 })),
  ),
);

const kinds: readonly PlotOptions[] = [
  { kind: "line", x: "agents", y: "gini", series: "topology", title: "Lines", xScale: "log" },
  { kind: "points", x: "agents", y: "gini", series: "topology" },
  { kind: "bars", x: "topology", y: "gini", series: "isDone" },
  { kind: "histogram", x: "gini", series: "topology", bins: 4 },
  { kind: "heatmap", x: "agents", y: "topology", value: "gini" },
];

/** Texts that a careless drawing would run, break on, or merge. */
const hostile = [
  "</text><script>alert(1)</script>",
  '" onload="alert(1)',
  "' + alert(1) + '",
  "${alert(1)} {{alert(1)}} datum.x",
  "a.b[0]",
  "__proto__",
  "constructor",
  "toString",
  "]]><!-- &amp; \\",
  "\u0000\u001b\ud800\uffff",
  "long ".repeat(100),
];

/** Numbers of the table of a page, row by row. */
function tableOf(page: string): readonly (readonly string[])[] {
  return [...page.matchAll(/<tr>(<td.*?)<\/tr>/g)].map(([, cells = ""]) =>
    [...cells.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, text = ""]) => text),
  );
}

it("a plot changes no global object: a set is no JSON before and after it", { tags: ["science", "long"] }, async () => {
  const before = JSON.stringify(new Set([1]));
  const first = await plotSvg(rows, { kind: "bars", x: "topology", y: "gini", series: "isDone" });
  expect(JSON.stringify(new Set([1]))).toBe(before);
  expect(Object.hasOwn(Set.prototype, "toJSON")).toBe(false);
  expect(await plotSvg(rows, { kind: "bars", x: "topology", y: "gini", series: "isDone" })).toBe(first);
});

describe("plotSvg", () => {
  it.each(kinds)("draws $kind as the same bytes twice, also side by side, and fetches nothing", async (o) => {
    const svg = await plotSvg(rows, o);
    const again = await Promise.all([plotSvg(rows, o), plotSvg(rows, { ...o, height: 400 }), plotSvg(rows, o)]);
    expect([again[0], again[2]]).toEqual([svg, svg]);
    expect(again[1]).not.toBe(svg);
    const { elements, texts } = xmlParts(svg);
    expect(elements.filter(({ name }) => /^(script|image|foreignObject|use|style)$/.test(name))).toEqual([]);
    const links = elements
      .flatMap(({ attributes }) => [...attributes])
      .filter(([name, value]) => /href|src/.test(name) || /url\((?!#)/.test(value));
    expect(links).toEqual([]);
    if (o.kind !== "histogram" && o.kind !== "bars") expect(texts).toContain("agents");
  });

  it("shows hostile names and texts as they are, and nothing of them runs", async () => {
    const bad = hostile.map((text, place) => ({ [text]: text, "y.z['0']": place + 1, "s'": hostile[(place + 3) % hostile.length] }));
    for (const column of [hostile[0] ?? "", "__proto__", "constructor"]) {
      const given = bad.map((row) =>
        Object.fromEntries([...Object.entries(row).filter(([name]) => name !== column), [column, Object.values(row)[0]]]),
      );
      for (const kind of ["bars", "line", "points"] as const) {
        const svg = await plotSvg(given, {
          kind,
          x: column,
          y: "y.z['0']",
          series: "s'",
          title: hostile.join(""),
          xTitle: hostile[0] ?? "",
        });
        const { elements, texts } = xmlParts(svg);
        expect(
          elements.filter(({ name, attributes }) => name === "script" || [...attributes.keys()].some((key) => key.startsWith("on"))),
        ).toEqual([]);
        expect(texts).toContain("' + alert(1) + '");
      }
    }
  });

  it("draws any table of texts and numbers as well-formed XML", { tags: ["science", "long"] }, async () => {
    const cell = fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.constantFrom(...hostile), fc.integer({ min: -5, max: 5 }));
    const table = fc.array(
      fc.record({ x: cell, y: fc.double({ noNaN: true, min: -1e12, max: 1e12 }).map((y) => (Math.abs(y) < 1e-90 ? 0 : y)), s: cell }),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    await fc.assert(
      fc.asyncProperty(table, fc.constantFrom("line" as const, "bars" as const, "points" as const), async (given, kind) => {
        expect(xmlParts(await plotSvg(given, { kind, x: "x", y: "y", series: "s" })).elements.length).toBeGreaterThan(5);
      }),
      { numRuns: 200 },
    );
  });

  it("says how many rows have no value, and leaves them out", async () => {
    const holes = [...rows, { topology: "ring", agents: 10, gini: null }, { topology: "ring", agents: null, gini: 1 }];
    expect(xmlParts(await plotSvg(holes, { kind: "line", x: "agents", y: "gini" })).texts).toContain("2 rows without a value left out");
  });

  it("refuses what it cannot draw, and says why", async () => {
    const line = (given: readonly PlotRow[], more: object = {}): Promise<string> =>
      plotSvg(given, { kind: "line", x: "x", y: "y", ...more });
    await expect(line([])).rejects.toMatchObject({ code: "PLOT_EMPTY" });
    await expect(line([{ a: 1 }])).rejects.toThrow(/the column "x".*\["a"\]/);
    await expect(line([{ x: 1, y: null }])).rejects.toMatchObject({ code: "PLOT_COLUMN" });
    for (const y of [Number.NaN, Infinity, 1e300, 5e-324, "5", {}, [], () => 5])
      await expect(line([{ x: 1, y }])).rejects.toMatchObject({ code: "PLOT_VALUE" });
    await expect(line([{ x: {}, y: 1 }])).rejects.toMatchObject({ code: "PLOT_VALUE" });
    await expect(line([{ x: "x".repeat(1_001), y: 1 }])).rejects.toMatchObject({ code: "PLOT_VALUE" });
    await expect(line([{ x: 1, y: 0 }], { yScale: "log" })).rejects.toThrow(/above 0 on the y axis/);
    await expect(line([{ x: 1, y: 1 }], { kind: "pie" })).rejects.toThrow(/line, points, bars/);
    await expect(line([{ x: 1, y: 1 }], { bins: 3 })).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
    await expect(line([{ x: 1, y: 1 }], { width: 1e6 })).rejects.toThrow(/from 50 to 4,000/);
    await expect(
      line(
        Array.from({ length: 51 }, (_, s) => ({ x: 1, y: 1, s })),
        { series: "s" },
      ),
    ).rejects.toThrow(/50 series/);
    const many = Array.from({ length: 50_001 }, (_, x) => ({ x, y: x }));
    await expect(plotSvg(many, { kind: "points", x: "x", y: "y" })).rejects.toMatchObject({ code: "PLOT_TOO_LARGE" });
  });
});

describe("plotHtml", () => {
  it("is one page without scripts or addresses, and its content policy allows none", async () => {
    const page = await plotHtml(rows, { kind: "bars", x: "topology", y: "gini", title: '</title><script>"&' });
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).toContain("<title>&lt;/title&gt;&lt;script&gt;&quot;&amp;</title>");
    expect(page).not.toMatch(/<script|<link|<img|@import|https?:(?!\/\/www\.w3\.org)/);
  });

  it("has the means and the t intervals of the rows", async () => {
    const page = await plotHtml(rows, { kind: "line", x: "agents", y: "gini", series: "topology", confidence: 0.9 });
    const values = rows.filter((row) => row["topology"] === "star" && row["agents"] === 100).map((row) => Number(row["gini"]));
    const { estimate, low, high } = await tInterval(values, { confidence: 0.9 });
    expect(tableOf(page)).toContainEqual([
      "star",
      "100",
      ...[estimate, low, high].map((value) => String(Number(value.toPrecision(6)))),
      "3",
    ]);
  });

  it("says that its means are not of equally many rows, and counts true as 1 and false as 0", async () => {
    const left = rows.filter(({ agents, rep }) => agents === 10 || rep === 3);
    const o = { kind: "line", x: "agents", y: "isDone", series: "topology" } as const;
    expect(xmlParts(await plotSvg(left, o)).texts).toContain("means of 1 to 3 rows");
    expect(xmlParts(await plotSvg(rows, o)).texts.filter((text) => text.startsWith("means of"))).toEqual([]);
    expect(tableOf(await plotHtml(left, { ...o, interval: "none" }))).toEqual([
      ["ring", "10", "0.666667", "3"],
      ["ring", "100", "1", "1"],
      ["star", "10", "0.666667", "3"],
      ["star", "100", "1", "1"],
    ]);
  });

  it("counts every row once in the ranges of a histogram, the largest value in the last one", async () => {
    for (const values of [
      [1, 2, 2.5, 9],
      [3, 3, 3],
      [-1e9, 1e9, 0],
    ]) {
      const page = await plotHtml(
        values.map((x) => ({ x })),
        { kind: "histogram", x: "x", bins: 3 },
      );
      expect(tableOf(page)).toHaveLength(3);
      expect(tableOf(page).reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(values.length);
    }
  });
});

describe("without code from texts", { tags: ["science", "long"] }, () => {
  it("draws in a process that refuses eval", () => {
    const entry = JSON.stringify(join(root, entryPoints.find(({ name }) => name === "troupe/research")?.default ?? ""));
    const script = `
      const { plotSvg } = await import(${entry});
      const svg = await plotSvg([{ x: "a", y: 1, v: 2 }, { x: "b", y: 2, v: 3 }], { kind: "heatmap", x: "x", y: "y", value: "v" });
      process.stdout.write(String(svg.startsWith("<svg")));`;
    const args = ["--disallow-code-generation-from-strings", "--input-type=module", "-e", script];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: "true", stderr: "" });
  });
});
