import { describe, expect, it } from "vitest";
import { realModel } from "../../src/cli/model-choice.ts";
import type { ModelSettings } from "../../src/cli/model-settings.ts";
import { companySettings } from "../../src/cli/settings.ts";
import { usd } from "../../src/model/money.ts";
import { titled } from "../titled.ts";

const company = companySettings({});
const priced: ModelSettings = {
  id: "gpt-5-mini",
  apiKey: "sk-hidden-hidden-hidden",
  keyFrom: "OPENAI_API_KEY",
  baseURL: undefined,
  price: undefined,
  timeouts: {},
};
const unpriced: ModelSettings = {
  ...priced,
  id: "my-own-model",
  apiKey: undefined,
  keyFrom: undefined,
  baseURL: "http://127.0.0.1:11434/v1",
};

describe("realModel", () => {
  it("refuses a budget that cannot bind, and says how to say otherwise", async () => {
    const refused = realModel(unpriced, companySettings({ budget: usd(1) }));
    await expect(refused).rejects.toMatchObject({ code: "BUDGET_UNPRICED", name: "UsageError" });
    await expect(refused).rejects.toThrow("--allow-unpriced");
    expect(await realModel(unpriced, companySettings({ budget: usd(1), allowUnpriced: true }))).toMatchObject({ budget: 1_000_000 });
  });

  it.each(
    titled([
      [{ ...priced, apiKey: "two words" }, "MODEL_AUTH"],
      [{ ...priced, baseURL: "not a url" }, "BASE_URL_INVALID"],
      [{ ...priced, baseURL: "http://me:pw@host/v1" }, "BASE_URL_INVALID"],
    ]),
  )("refuses %s", async (_case, settings, code) => {
    await expect(realModel(settings, company)).rejects.toMatchObject({ code });
  });
});
