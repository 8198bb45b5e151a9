import type { LoggerInterface } from "vega";
import type { TopLevelSpec } from "vega-lite";
import { optionalPackage } from "../optional-package.ts";
import type { ChartSpec } from "./chart-spec.ts";

/** Turns a chart into what Vega draws. */
export type CompileChart = (spec: ChartSpec, logger: LoggerInterface) => ReturnType<typeof import("vega-lite").compile>["spec"];

/** The `toJSON` that vega-lite gives every `Set` when it is loaded; undefined before, or where another loaded it. */
let ofSets: PropertyDescriptor | undefined;

/**
 * Loads vega-lite. Every `Set` of the process has its `toJSON` only while a chart is compiled, because a set is no JSON elsewhere.
 *
 * @throws UsageError `PACKAGE_MISSING`
 */
export async function chartCompiler(): Promise<CompileChart> {
  const before = present();
  const { compile } = await optionalPackage("vega-lite", "6", async () => import("vega-lite"));
  if (present()?.value !== before?.value) {
    ofSets = present();
    put(before);
  }
  return (spec, logger) => {
    const own = present();
    if (ofSets !== undefined) put(ofSets);
    try {
      return compile(spec as unknown as TopLevelSpec, { logger }).spec;
    } finally {
      put(own);
    }
  };
}

function present(): PropertyDescriptor | undefined {
  return Object.getOwnPropertyDescriptor(Set.prototype, "toJSON");
}

function put(descriptor: PropertyDescriptor | undefined): void {
  if (descriptor === undefined) Reflect.deleteProperty(Set.prototype, "toJSON");
  else Object.defineProperty(Set.prototype, "toJSON", descriptor);
}
