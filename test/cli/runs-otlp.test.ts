import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { attribute, hex, type Receiver, receiver, type Refusal, spansIn } from "../adapters/otlp-receiver.ts";
import { command, expectRefusal, type Said, storeWith } from "./kept-run.ts";

/** A folder with one run of two roles. */
const kept = storeWith(async (journal) => {
  const [ask, reply] = [defineAction({ name: "Ask", prompt: () => "SECRET?" }), defineAction({ name: "Reply", prompt: () => "!" })];
  const roles = [defineRole({ name: "Ann", actions: [ask] }), defineRole({ name: "Ben", actions: [reply], watch: [ask] })];
  await new Team({ name: "pair", roles, model: scriptedModel(["a", "b"], { id: "m" }), journal }).run("go", { id: "run-1" }).result;
});
const open: Receiver[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

async function opened(refuses?: (nth: number) => Refusal): Promise<Receiver> {
  const one = await receiver(refuses);
  open.push(one);
  return one;
}

const NAMES = ["chat m", "invoke_agent Ann", "chat m", "invoke_agent Ben", "invoke_workflow pair"];

async function exported(target: string, words: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Said> {
  return command(await kept, ["runs", "export", "run-1", "--otlp", target, ...words], { env });
}

describe("troupe runs export --otlp", () => {
  it("sends the spans of a run to a receiver, which decodes them", async () => {
    const { url, spans, requests } = await opened();
    const { code, stderr } = await exported(url, [], { OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b,x-other=c", OTEL_SERVICE_NAME: "news" });
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Exported run run-1, 5 spans, to 127.0.0.1:") as string,
    });
    expect(requests()).toMatchObject([{ path: "/v1/traces", headers: { "x-key": "a b", "x-other": "c" } }]);
    expect(spans().map(({ name }) => name)).toEqual(NAMES);
    const [chat, ann, , ben, run] = spans();
    expect([hex(chat?.parentSpanId), hex(ann?.parentSpanId), hex(run?.parentSpanId)]).toEqual([hex(ann?.spanId), hex(run?.spanId), ""]);
    expect(ben?.links.map(({ spanId }) => hex(spanId))).toEqual([hex(ann?.spanId)]);
    expect(spans().map(({ kind }) => kind)).toEqual([3, 1, 3, 1, 1]);
    expect(chat === undefined ? undefined : attribute(chat, "gen_ai.request.model")).toBe("m");
    for (const { startTimeUnixNano, endTimeUnixNano } of spans())
      expect(Number(endTimeUnixNano.toString())).toBeGreaterThanOrEqual(Number(startTimeUnixNano.toString()));
  });

  it("writes them into a new file, the same ones each time; texts only when it is asked to", async () => {
    const cwd = await kept;
    for (const file of ["a.jsonl", "b.jsonl"]) expect((await exported(file)).code).toBe(0);
    const [a, b] = ["a.jsonl", "b.jsonl"].map((file) => readFileSync(join(cwd, file), "utf8"));
    expect(a).toBe(b);
    expect(a).not.toContain("SECRET");
    expect(spansIn(Buffer.from(a ?? ""), "application/json").map(({ name }) => name)).toEqual(NAMES);
    expect((await exported("a.jsonl")).stderr).toContain("(EXPORT_UNWRITABLE)");
    const told = await exported("-", ["--content"]);
    expect(told.stdout).toContain("SECRET");
  });

  it.each<[string, Refusal, string]>([
    ["a request that is refused", { status: 401, body: "no \u001b[2Jkey" }, "OTLP_REFUSED"],
    ["a path that is not there", { status: 404, body: "x" }, "/v1/traces"],
    ["a busy receiver", { status: 429 }, "OTLP_REFUSED"],
    ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:1/" } }, "OTLP_UNREACHABLE"],
  ])("%s ends it with 2", async (_what, refusal, told) => {
    const { url, requests } = await opened(() => refusal);
    const { code, stderr } = await exported(url);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(told) as string });
    expect(stderr).not.toContain("\u001b");
    expect(requests().length).toBe(1);
  });

  it("a receiver that is not there ends it with 2", async () => {
    const { url, close } = await receiver();
    await close();
    expect(await exported(url)).toMatchObject({ code: 2, stderr: expect.stringContaining("(OTLP_UNREACHABLE)") as string });
  });

  it("tells what a receiver left out", async () => {
    const body = JSON.stringify({ partialSuccess: { rejectedSpans: "2", errorMessage: "too \u001bold" } });
    const { url } = await opened(() => ({ status: 200, body }));
    const { code, stderr } = await exported(url);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("left out 2 spans: too") as string });
    expect(stderr).not.toContain("\u001b");
  });

  it.each([
    [["--otlp", "http://user:pass@localhost:4318"], "OPTION_INVALID"],
    [["--otlp", "http://"], "OPTION_INVALID"],
    [["--otlp", "grpc://localhost:4317"], "OPTION_INVALID"],
    [["file.ndjson", "--otlp", "other.jsonl"], "OPTION_CONFLICT"],
    [["--content"], "OPTION_CONFLICT"],
  ])("refuses %j", async (words, code) => {
    const said = await expectRefusal(await kept, ["runs", "export", "run-1", ...words], `(${code})`);
    expect(said.stderr).not.toContain("pass");
  });

  it("refuses headers that are none, and does not tell them", async () => {
    const { code, stderr } = await exported("http://127.0.0.1:1", [], { OTEL_EXPORTER_OTLP_HEADERS: "a key=PASSWORD" });
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("(OTLP_HEADERS_INVALID)") as string });
    expect(stderr).not.toContain("PASSWORD");
  });
});
