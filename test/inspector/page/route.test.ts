import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashOf, routeOf, admissionIn, type Route } from "../../../src/inspector/page/route.ts";

const word = fc.string({ minLength: 1, unit: "grapheme" });
const route: fc.Arbitrary<Route> = fc.oneof(
  fc.constant<Route>({ page: "runs" }),
  fc.record({ page: fc.constant("run" as const), run: word, panel: word }),
  fc.record({ page: fc.constant("compare" as const), runs: fc.tuple(word, word) }),
);

describe("routes", () => {
  it("come back from the address they name", () => {
    fc.assert(
      fc.property(route, (one) => {
        expect(routeOf(hashOf(one))).toEqual(one);
      }),
    );
  });

  it("are the list of runs for an address that names nothing", () => {
    for (const hash of ["", "#", "#/", "#/nowhere/1", "#/runs", "#/runs/", "#/compare/a", "#token=abc"])
      expect(routeOf(hash)).toEqual({ page: "runs" });
  });

  it("never fail on a broken escape", () => {
    expect(routeOf("#/runs/%zz")).toMatchObject({ page: "run", run: "%zz" });
  });
});

describe("the token in an address", () => {
  it("is found in the fragment alone, with the run to open", () => {
    expect(admissionIn("#token=abc")).toEqual({ token: "abc", run: undefined });
    expect(admissionIn("#token=abc&run=m%2F1")).toEqual({ token: "abc", run: "m/1" });
    for (const hash of ["#/runs/token=abc", "", "#", "#token="]) expect(admissionIn(hash)).toBeUndefined();
  });
});
