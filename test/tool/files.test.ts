import { describe, expect, it } from "vitest";
import { Agent, defineTool } from "../../src/agent/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { call, calls } from "../agent/setup.ts";

const PDF = new TextEncoder().encode("%PDF-1.7 x");

async function shown(files: unknown): Promise<string> {
  const model = scriptedModel([calls(call("fetch")), "Done."], { takes: ["application/pdf"] });
  const fetch = defineTool({
    name: "fetch",
    description: "Fetches.",
    effect: "read",
    execute: () => ({ output: "Here.", files }) as never,
  });
  await new Agent({ name: "Ada", model, tools: [fetch] }).run("Fetch it.").result;
  return JSON.stringify(model.calls[1]?.messages);
}

describe("files of a tool's result", () => {
  it("are parts that a model reads", async () => {
    expect(await shown([{ name: "r.pdf", data: PDF }])).toContain(Buffer.from(PDF).toString("base64"));
  });

  it("are words in the place of text, quoted as content from outside", async () => {
    expect(await shown([{ name: "r.csv", data: new TextEncoder().encode("a,b\n1,2") }])).toContain("> 1,2");
  });

  it.each([
    ["a path", ["./r.pdf"]],
    ["another type", [{ name: "r.png", data: PDF }]],
    ["one that is too large", [{ name: "r.bin", data: new Uint8Array(6_000_000) }]],
    ["no list", 5],
  ])("are left out with a note: %s", async (_what, files) => {
    expect(await shown(files)).toMatch(/Here\..*Expected/s);
  });
});
