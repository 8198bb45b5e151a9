import type { LoggerInterface } from "vega";
import type { TopLevelSpec } from "vega-lite";
import { optionalPackage } from "../../adapters/optional-package.ts";
import { UsageError } from "../../kernel/errors.ts";
import { thrownText } from "../../kernel/value-text.ts";
import type { ChartSpec } from "./chart-spec.ts";

/** The drawing under way. Vega numbers the gradients and clips of a drawing with one counter for the process. */
let last: Promise<unknown> = Promise.resolve();

/** Draws a chart as SVG. Expressions are interpreted, so no string becomes code. @throws UsageError `PACKAGE_MISSING`; `PLOT_VALUE` */
export async function drawnSvg(spec: ChartSpec): Promise<string> {
  const drawing = last.then(async () => draw(spec));
  last = drawing.catch(() => undefined);
  return drawing;
}

async function draw(spec: ChartSpec): Promise<string> {
  const compile = await chartCompiler();
  const { parse, resetSVGDefIds, View } = await optionalPackage("vega", "6", async () => import("vega"));
  const { expressionInterpreter } = await optionalPackage("vega-interpreter", "2", async () => import("vega-interpreter"));
  const faults: unknown[] = [];
  const logger = loggerInto(faults);
  const chart = parse(compile(spec, logger), undefined, { ast: true });
  const view = new View(chart, { expr: expressionInterpreter, renderer: "none", logger });
  try {
    resetSVGDefIds();
    const svg = await view.toSVG();
    if (faults.length === 0) return svg;
    throw faults[0] instanceof Error ? faults[0] : new Error(String(faults[0]));
  } catch (cause) {
    throw new UsageError(
      "PLOT_VALUE",
      `Expected rows that Vega can draw, got some it cannot: ${thrownText(faults[0] ?? cause)}. Scale the numbers, or plot a part of them.`,
      { cause },
    );
  } finally {
    view.finalize();
  }
}

/** Vega continues after an error and draws a part: errors are kept here. */
function loggerInto(faults: unknown[]): LoggerInterface {
  const logger: LoggerInterface = {
    level: ((level?: number) => (level === undefined ? 1 : logger)) as LoggerInterface["level"],
    error: (...reported) => {
      faults.push(reported[0]);
      return logger;
    },
    warn: () => logger,
    info: () => logger,
    debug: () => logger,
  };
  return logger;
}

type CompileChart = (spec: ChartSpec, logger: LoggerInterface) => ReturnType<typeof import("vega-lite").compile>["spec"];

/** The `toJSON` that vega-lite gives every `Set` when it is loaded; undefined before, or where another loaded it. */
let ofSets: PropertyDescriptor | undefined;

/** Loads vega-lite. `Set` has its `toJSON` only while a chart is compiled, because a set is no JSON elsewhere. @throws UsageError `PACKAGE_MISSING` */
async function chartCompiler(): Promise<CompileChart> {
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
