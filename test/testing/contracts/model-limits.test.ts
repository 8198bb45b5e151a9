import { describe, expect, it } from "vitest";
import { allLimits, type ModelLimits, modelLimits } from "../../../src/model/limits.ts";
import { modelLimitsContract } from "../../../src/testing/contracts/model-limits.ts";

const kit = { describe, it, expect };

modelLimitsContract(kit, "modelLimits", (options) => modelLimits(options));
modelLimitsContract(kit, "limits that hold besides others", (options) => {
  return allLimits(modelLimits({ concurrency: 100 }), modelLimits(options)) as ModelLimits;
});
