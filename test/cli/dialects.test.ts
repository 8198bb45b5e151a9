import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openaiStub } from "../../src/testing/index.ts";
import { command, expectEnd, expectRefusal, linesIn, placed } from "./kept-run.ts";

const CREW = "roles: [{ name: Ada, actions: [{ name: Say, prompt: '{{text}}' }] }]\n";

/** A folder with a crew, and a home with settings of the user's. */
const withCrew = (user = "") => placed({ "company.yaml": CREW, "~/config.yaml": user });

const RUN = ["run", "--crew", "company.yaml", "greet us", "--price", "1,2"];

describe("--dialect", () => {
  it("says beforehand what a server takes, also in the user's file", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "hello" }) });
    const words = [...RUN, "--base-url", stub.url];
    const [option, own] = [withCrew(), withCrew("dialect: maxTokensField=none,stream=false")];
    await expectEnd(option.cwd, [...words, "--dialect", "maxTokens=512,maxTokensField=max_completion_tokens"], 0, "", option);
    await expectEnd(own.cwd, words, 0, "", own);
    await expectEnd(own.cwd, [...words, "--dialect", "maxTokens=512"], 0, "", own);
    expect(stub.requests).toMatchObject([{ max_completion_tokens: 512, stream: true }, {}, { max_tokens: 512, stream: true }]);
    expect([stub.requests[0]?.max_tokens, stub.requests[1]?.max_tokens, stub.requests[1]?.stream === true]).toEqual([
      undefined,
      undefined,
      false,
    ]);
  });

  it("is refused where it has no effect, and from a folder", async () => {
    const { cwd, env } = withCrew();
    const words = [...RUN, "--model", "anthropic/claude-test", "--dialect", "stream=false"];
    await expectRefusal(cwd, words, /no --dialect for anthropic\/claude-test.*OPTION_CONFLICT/s, { env });
    writeFileSync(join(cwd, "troupe.config.yaml"), "dialect: stream=false");
    await expectRefusal(cwd, RUN, /dialect.*CONFIG_INVALID/s, { env });
  });
});

describe("what refusals teach", () => {
  const requests: string[] = [];
  /** A server that does not know a field of streams. */
  const picky = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      requests.push(body);
      const isRefused = body.includes("stream_options");
      const reply = { model: "m", choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }] };
      response.writeHead(isRefused ? 400 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isRefused ? { error: { message: "Unknown parameter: 'stream_options'." } } : reply));
    });
  });
  const listening = new Promise<string>((ready) => {
    picky.listen(0, "127.0.0.1", () => ready(`http://127.0.0.1:${(picky.address() as AddressInfo).port}/v1`));
  });
  afterAll(() => void picky.close());

  let keys = 0;
  /** Counts the requests that a run needs. Each has a key of its own, so that only the file knows what was learnt. */
  async function asks({ cwd, env }: ReturnType<typeof withCrew>) {
    const before = requests.length;
    const OPENAI_API_KEY = `canary-${(keys += 1)}-0123456789abcdef`;
    const words = [...RUN, "--model", "m", "--base-url", `${await listening}?key=hidden-in-a-query`];
    const { stderr } = await expectEnd(cwd, words, 0, "", { env: { ...env, OPENAI_API_KEY } });
    return { count: requests.length - before, stderr };
  }
  const fileIn = (cwd: string): string => join(cwd, ".troupe/runs.db-dialects.json");
  const lesson = async (at: number) => ({ tenant: "", baseURL: await listening, model: "m", dialect: { omit: ["stream_options"] }, at });

  it("is kept beside the store, without a secret, for the next process", async () => {
    const place = withCrew();
    expect([(await asks(place)).count, (await asks(place)).count, (await asks(withCrew())).count]).toEqual([2, 1, 2]);
    const text = readFileSync(fileIn(place.cwd), "utf8");
    expect(JSON.parse(text)).toEqual([{ ...(await lesson(0)), at: expect.any(Number) as number }]);
    expect([text, statSync(fileIn(place.cwd)).mode & 0o777]).toEqual([expect.not.stringMatching(/canary|hidden/), 0o600]);
  });

  it("is listed and removed by troupe doctor", async () => {
    const place = withCrew();
    const doctor = async (...words: readonly string[]): Promise<string> =>
      (await command(place.cwd, ["doctor", ...words], place)).stdout.replaceAll(/\s+/g, " ");
    expect(await doctor("--dialects")).toContain("There are no lessons");
    await asks(place);
    expect(await doctor("--dialects")).toMatch(
      /^m at http:\/\/127\.0\.0\.1:\d+\/v1: omit=stream_options, until \d{4}-.* Kept in .*json\. $/,
    );
    const { stdout } = await command(place.cwd, ["doctor", "--dialects", "--json"], place);
    expect(linesIn(stdout)).toMatchObject([{ type: "dialects", cleared: false, dialects: [{ tenant: "", model: "m" }] }]);
    expect(await doctor("--dialects", "--clear")).toContain("Removed.");
    expect([await doctor("--dialects"), (await asks(place)).count]).toEqual([expect.stringContaining("There are no lessons"), 2]);
    await expectRefusal(place.cwd, ["doctor", "--clear"], "OPTION_CONFLICT");
  });

  it("does not hold after a day, nor from a clock that is ahead", async () => {
    const [now, day] = [Date.now(), 86_400_000];
    for (const [at, count] of [[now - day - 1, 2] as const, [now + 2 * day, 2] as const, [now - day / 2, 1] as const]) {
      const place = withCrew();
      mkdirSync(join(place.cwd, ".troupe"));
      writeFileSync(fileIn(place.cwd), JSON.stringify([await lesson(at)]), { mode: 0o600 });
      expect((await asks(place)).count).toBe(count);
    }
  });

  it.each<readonly [string, (file: string, whole: string) => void]>([
    ["is empty", (file) => writeFileSync(file, "", { mode: 0o600 })],
    ["is cut", (file, whole) => writeFileSync(file, whole.slice(0, -9), { mode: 0o600 })],
    ["has another field", (file, whole) => writeFileSync(file, whole.replace("tenant", "tenants"), { mode: 0o600 })],
    ["has a field that no dialect has", (file, whole) => writeFileSync(file, whole.replace('"omit"', '"omits"'), { mode: 0o600 })],
    ["is too large", (file, whole) => writeFileSync(file, whole + " ".repeat(5_000_000), { mode: 0o600 })],
    ["others can read", (file, whole) => (writeFileSync(file, whole), chmodSync(file, 0o644))],
    ["is a link", (file, whole) => (writeFileSync(`${file}.other`, whole, { mode: 0o600 }), symlinkSync(`${file}.other`, file))],
  ])("is not taken from a file that %s: it is a warning, and rewritten", async (_how, write) => {
    const place = withCrew();
    mkdirSync(join(place.cwd, ".troupe"));
    write(fileIn(place.cwd), JSON.stringify([await lesson(Date.now())]));
    const [first, second] = [await asks(place), await asks(place)];
    expect([first.count, second.count]).toEqual([2, 1]);
    expect([first.stderr, second.stderr]).toEqual([expect.stringContaining("rewritten"), expect.not.stringContaining("rewritten")]);
  });
});
