import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub } from "../../src/testing/index.ts";
import { command, expectRefusal, freshFolder } from "./kept-run.ts";

const CREW = "roles: [{ name: Ada, actions: [{ name: Say, prompt: '{{text}}' }] }]\n";

/** A folder with a crew, and a home with settings of the user's. */
function placed(user = "") {
  const [cwd, home] = [freshFolder(), freshFolder()];
  writeFileSync(join(cwd, "company.yaml"), CREW);
  mkdirSync(join(home, ".config/troupe"), { recursive: true });
  writeFileSync(join(home, ".config/troupe/config.yaml"), user);
  return { cwd, env: { HOME: home } };
}

const RUN = ["run", "--crew", "company.yaml", "greet us", "--price", "1,2"];

describe("--dialect", () => {
  it("says beforehand what a server takes, also in the user's file", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "hello" }) });
    const words = [...RUN, "--base-url", stub.url];
    const [option, own] = [placed(), placed("dialect: maxTokensField=none,stream=false")];
    expect((await command(option.cwd, [...words, "--dialect", "maxTokens=512,maxTokensField=max_completion_tokens"], option)).code).toBe(0);
    expect((await command(own.cwd, words, own)).code).toBe(0);
    expect((await command(own.cwd, [...words, "--dialect", "maxTokens=512"], own)).code).toBe(0);
    expect(stub.requests).toMatchObject([{ max_completion_tokens: 512, stream: true }, {}, { max_tokens: 512, stream: true }]);
    expect([stub.requests[0]?.max_tokens, stub.requests[1]?.max_tokens, stub.requests[1]?.stream === true]).toEqual([
      undefined,
      undefined,
      false,
    ]);
  });

  it("is refused where it has no effect, and from a folder", async () => {
    const { cwd, env } = placed();
    const words = [...RUN, "--model", "anthropic/claude-test", "--dialect", "stream=false"];
    await expectRefusal(cwd, words, /no --dialect for anthropic\/claude-test.*OPTION_CONFLICT/s, { env });
    writeFileSync(join(cwd, "troupe.config.yaml"), "dialect: stream=false");
    await expectRefusal(cwd, RUN, /dialect.*CONFIG_INVALID/s, { env });
  });
});
