import { expect, test, vi } from "vitest";

/*
 * A program that imports the package pays for what its modules do when they are loaded. The JSON Schema of a tool is the dearest of it, and
 * most programs never show that tool to a model. This file replaces a module, so it has a process of its own.
 */

const made = vi.hoisted((): string[] => []);

vi.mock("../../src/tool/tool-parameters.ts", async (original) => {
  const parameters = await original<typeof import("../../src/tool/tool-parameters.ts")>();
  return {
    ...parameters,
    zodParameters: (...given: Parameters<typeof parameters.zodParameters>) => {
      made.push(given[0]);
      return parameters.zodParameters(...given);
    },
  };
});

test("the import of the package makes no tool, and an agent makes the one that ends its work", async () => {
  const { Agent } = await import("../../src/index.ts");
  expect(made).toEqual([]);
  const { scriptedModel } = await import("../../src/testing/index.ts");
  const { terminate } = await import("../../src/agent/index.ts");
  const seen: string[] = [];
  const model = scriptedModel(({ tools = [] }) => {
    seen.push(...tools.map(({ name }) => name));
    return "done";
  });
  await new Agent({ name: "Ann", model }).run("go").result;
  expect(seen).toContain(terminate.name);
  expect(made).toEqual([terminate.name]);
});
