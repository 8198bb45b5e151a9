import { describe, expect, it } from "vitest";
import { plotHtml, plotSvg } from "../../../src/research/index.ts";
import type { PlotOptions, PlotRow } from "../../../src/research/plot/plot-options.ts";
import { xmlParts } from "./xml-parts.ts";

const rows: readonly PlotRow[] = ["ring", "star", "tree"].flatMap((shape, nth) =>
  [1, 2, 4, 8].map((x) => ({ shape, x, y: x * (nth + 1), kind: x < 3 ? "few" : "many", v: x + 10 * nth })),
);
const points = { kind: "points", x: "x", y: "y" } as const;
const ring = rows.slice(0, 4);

type Place = readonly [x: number, y: number];

/** What is dashed, and what is a point, by their places in the picture. */
async function drawn(
  given: readonly PlotRow[],
  o: PlotOptions,
): Promise<{ readonly dashed: readonly (readonly Place[])[]; readonly marks: readonly Place[] }> {
  const elements = xmlParts(await plotSvg(given, o)).elements.map(({ name, attributes }) => ({ name, attributes: new Map(attributes) }));
  const placeOf = (text = "0,0"): Place => (/(-?[\d.]+),(-?[\d.]+)/.exec(text)?.slice(1).map(Number) ?? [0, 0]) as unknown as Place;
  const dashed = elements.flatMap(({ name, attributes }) => {
    if (!attributes.has("stroke-dasharray")) return [];
    if (name === "path")
      return [[...(attributes.get("d") ?? "").matchAll(/[ML](-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]): Place => [Number(x), Number(y)])];
    const [x, y] = placeOf(attributes.get("transform"));
    return [[[x, y] as const, [x + Number(attributes.get("x2")), y + Number(attributes.get("y2"))] as const]];
  });
  const marks = elements
    .filter(({ name, attributes }) => name === "path" && (attributes.get("aria-roledescription") ?? "") === "point")
    .map(({ attributes }) => placeOf(attributes.get("transform")));
  return { dashed, marks };
}

describe("a reference", () => {
  it("is a dashed line over the whole plot, at the place of its number", async () => {
    for (const scale of ["linear", "log"] as const) {
      const { dashed, marks } = await drawn(ring, {
        ...points,
        reference: { x: 2, y: 4 },
        xScale: scale,
        yScale: scale,
        width: 300,
        height: 200,
      });
      const [[from = [0, 0], to = [0, 0]] = [], [left = [0, 0], right = [0, 0]] = []] = dashed;
      expect([from[0], to[0]]).toEqual([expect.closeTo(marks[1]?.[0] ?? -1, 2), expect.closeTo(marks[1]?.[0] ?? -1, 2)]);
      expect([left[1], right[1]]).toEqual([expect.closeTo(marks[2]?.[1] ?? -1, 2), expect.closeTo(marks[2]?.[1] ?? -1, 2)]);
      expect([Math.abs(from[1] - to[1]), Math.abs(left[0] - right[0])]).toEqual([200, 300]);
    }
  });

  it("outside the rows widens the axis, is in each facet, and is named below the title", async () => {
    const { texts } = xmlParts(await plotSvg(ring, { ...points, reference: { y: 30 } }));
    expect(texts).toContain("30");
    expect(texts).toContain("dashed: reference");
    expect((await drawn(rows, { ...points, facet: "shape", reference: { y: 5 } })).dashed).toHaveLength(3);
    expect((await drawn(rows, { kind: "bars", x: "shape", y: "y", interval: "none", reference: { y: 5 } })).dashed).toHaveLength(1);
  });
});

describe("a curve", () => {
  it("passes the points that it has, on every scale, and over the ranges of a histogram", async () => {
    for (const scale of ["linear", "log"] as const) {
      const { dashed, marks } = await drawn(ring, { ...points, curve: (x) => x, xScale: scale, yScale: scale });
      for (const [end, mark] of [
        [dashed[0]?.[0], marks[0]],
        [dashed[0]?.at(-1), marks.at(-1)],
      ])
        expect([end?.[0], end?.[1]]).toEqual([expect.closeTo(mark?.[0] ?? -1, 2), expect.closeTo(mark?.[1] ?? -1, 2)]);
    }
    const { dashed } = await drawn(ring, { kind: "histogram", x: "x", bins: 2, curve: () => 1, width: 200 });
    expect([dashed[0]?.[0]?.[0], dashed[0]?.at(-1)?.[0]]).toEqual([0, 200]);
    expect((await drawn(ring, { kind: "line", x: "x", y: "y", interval: "none", curve: Math.sqrt })).dashed).toHaveLength(1);
  });
});

describe("a facet", () => {
  it("has a picture for each of its values, in their order, with equal axes, and all kinds have them", async () => {
    const kinds: readonly PlotOptions[] = [
      { ...points, facet: "shape" },
      { kind: "line", x: "x", y: "y", facet: "shape", interval: "none" },
      { kind: "bars", x: "kind", y: "y", facet: "shape" },
      { kind: "histogram", x: "y", facet: "shape" },
      { kind: "heatmap", x: "x", y: "kind", value: "v", facet: "shape" },
    ];
    for (const o of kinds) {
      const { texts } = xmlParts(await plotSvg(rows, { ...o, width: 80, height: 80 }));
      expect(texts.filter((text) => ["ring", "star", "tree"].includes(text))).toEqual(["ring", "star", "tree"]);
      expect(texts).toContain("shape");
      const page = await plotHtml(rows, o);
      expect([...page.matchAll(/<tr><td>(\w+)<\/td>/g)].map(([, name]) => name)).toEqual(expect.arrayContaining(["ring", "star", "tree"]));
    }
  });

  it("of a histogram has the ranges of all rows, and counts each row in its own facet", async () => {
    const page = await plotHtml(rows, { kind: "histogram", x: "y", facet: "shape", bins: 3 });
    const counts = [
      ...page.matchAll(/<tr><td>(\w+)<\/td><td class="number">([\d.]+)<\/td><td class="number">[\d.]+<\/td><td class="number">(\d+)/g),
    ];
    expect(counts.map(([, shape, from]) => [shape, from]).slice(0, 3)).toEqual([
      ["ring", "1"],
      ["ring", "8.66667"],
      ["ring", "16.3333"],
    ]);
    for (const shape of ["ring", "star", "tree"])
      expect(counts.filter((one) => one[1] === shape).reduce((sum, one) => sum + Number(one[3]), 0)).toBe(4);
  });
});

it("what cannot be drawn is refused with the reason", async () => {
  const refused = (o: object, given: readonly PlotRow[] = ring): Promise<unknown> =>
    plotSvg(given, { ...points, ...o } as PlotOptions).then(
      () => "drawn",
      (error: unknown) => error,
    );
  expect(await refused({ curve: (x: number) => 1 / (x - 1) })).toMatchObject({
    code: "PLOT_VALUE",
    message: expect.stringContaining("got Infinity for 1"),
  });
  expect(await refused({ curve: () => "high" })).toMatchObject({ code: "PLOT_VALUE" });
  expect(await refused({ curve: () => -1, yScale: "log" })).toMatchObject({
    code: "PLOT_VALUE",
    message: expect.stringContaining("above 0"),
  });
  expect(await refused({ reference: { x: 0 }, xScale: "log" })).toMatchObject({ code: "PLOT_VALUE" });
  expect(await refused({ reference: { y: Number.NaN } })).toMatchObject({ code: expect.stringMatching(/OPTION_INVALID|PLOT_VALUE/) });
  expect(await refused({ reference: { z: 1 } })).toMatchObject({ code: "OPTION_UNKNOWN" });
  expect(await refused({ reference: { x: 1 }, x: "shape" })).toMatchObject({
    code: "PLOT_VALUE",
    message: expect.stringContaining("numbers on the x axis"),
  });
  expect(await refused({ kind: "bars", curve: (x: number) => x })).toMatchObject({ code: "OPTION_UNKNOWN" });
  expect(await refused({ kind: "heatmap", value: "v", reference: { x: 1 } })).toMatchObject({ code: "OPTION_UNKNOWN" });
  expect(await refused({ facet: "nothing" })).toMatchObject({ code: "PLOT_COLUMN" });
  expect(
    await refused(
      { facet: "f" },
      Array.from({ length: 21 }, (_, f) => ({ x: 1, y: 1, f })),
    ),
  ).toMatchObject({ code: "PLOT_TOO_LARGE" });
  expect(await refused({ curve: (x: number) => x, reference: { x: 1 } }, [{ x: 3, y: 3 }])).toBe("drawn");
});
