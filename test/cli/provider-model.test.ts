import { describe, expect, it } from "vitest";
import { isProviderModel, providerModel } from "../../src/cli/provider-model.ts";
import { priceOf } from "../../src/model/price.ts";

describe("the model of a provider's name", () => {
  it.each([
    ["anthropic/claude-sonnet-4-5", true],
    ["bedrock/us.anthropic.claude-sonnet-4-5/v1", true],
    ["gpt-5-mini", false],
    ["qwen/qwen3", false],
    ["anthropic/", false],
    ["constructor/x", false],
  ])("%s: %s", (id, expected) => {
    expect(isProviderModel(id)).toBe(expected);
  });

  it("keeps the whole name, and is priced by it", () => {
    const model = providerModel("openai/gpt-5-mini", {});
    expect(model.id).toBe("openai/gpt-5-mini");
    expect(priceOf(model)).toEqual(priceOf({ id: "gpt-5-mini" }));
  });

  it("names the package to install", () => {
    const error = expect.objectContaining({
      code: "PACKAGE_MISSING",
      message: expect.stringContaining("npm install @ai-sdk/cohere") as string,
    });
    expect(() => providerModel("cohere/command-a", {})).toThrow(error as unknown as Error);
  });

  it("asks the package, which says that it has no key", async () => {
    const { signal } = new AbortController();
    const answer = providerModel("anthropic/claude-test", {}).chat({ messages: [{ role: "user", content: "Hi" }] }, { signal });
    await expect(answer).rejects.toMatchObject({ code: "MODEL_AUTH" });
  });
});
