import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { waterfallCompany } from "../../roles/index.ts";
import { openai } from "../../src/adapters/openai.ts";
import { type Clock, fold, ModelError, type RunEvent, type RunResult, Team, usd } from "../../src/index.ts";
import { DEFAULT_TIMEOUTS } from "../../src/model/timeouts.ts";
import { type OpenAIStub, openaiStub } from "../../src/testing/index.ts";
import type { OpenAIBody, StubFault } from "../../src/testing/stub-reply.ts";
import { chooseSandbox, openWorkspace } from "../../src/workspace/index.ts";
import { replies } from "../actions/greeter.ts";
import { someOf } from "../long.ts";

const KEY = "sk-canary-0123456789abcdefghij";
const price = { input: 1, output: 4 };

/** Waits of up to 20 s pass at once; the limits of silence pass when the test says so; others never. */
class HurriedClock implements Clock {
  readonly #silences = new Set<() => void>();

  now(): number {
    return 1_700_000_000_000;
  }

  timer(ms: number, fire: () => void): () => void {
    if (ms <= 20_000) {
      const soon = setImmediate(fire);
      return () => clearImmediate(soon);
    }
    if (ms === DEFAULT_TIMEOUTS.firstByte || ms === DEFAULT_TIMEOUTS.silence) this.#silences.add(fire);
    return () => void this.#silences.delete(fire);
  }

  endSilence(): void {
    for (const fire of this.#silences) fire();
  }
}

function taskOf(body: OpenAIBody): string {
  for (const message of body.messages) {
    const heading = /^# (.+)$/m.exec(typeof message.content === "string" ? message.content : "");
    if (message.role === "user" && heading?.[1] !== undefined) return heading[1];
  }
  return "";
}

interface Outcome {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  readonly files: readonly string[];
  readonly root: string;
  readonly stub: OpenAIStub;
}

describe("the company over HTTP, with replies that no script of ours contains", () => {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const clean of cleanUps.splice(0)) await clean();
  });

  /** Lets the company work; the request number `at` (from 0) meets the fault, all others get a good answer. */
  async function work(fault?: StubFault, at = 3): Promise<Outcome> {
    const root = await mkdtemp(join(tmpdir(), "troupe-http-"));
    cleanUps.push(() => rm(root, { recursive: true, force: true }));
    const stub = await openaiStub({
      handler: (body, n) => (fault !== undefined && n === at ? fault : (replies[taskOf(body)] ?? { fault: "server-error", status: 501 })),
    });
    cleanUps.push(() => stub.close());
    const clock = new HurriedClock();
    const workspace = await openWorkspace({ root });
    const roles = waterfallCompany({ workspace, sandbox: await chooseSandbox("none") });
    const model = openai({ model: "any-model", baseURL: stub.url, apiKey: KEY, price });
    const team = new Team({ roles, model, clock, seed: 1, budget: usd(5), secrets: [KEY] });
    const run = team.run("Greet me", { rounds: 30 });
    if (fault?.fault === "stall") run.on("model.delta", ({ text }) => "A reply that was going".startsWith(text) && clock.endSilence());
    const events: RunEvent[] = [];
    for await (const event of run) events.push(event);
    const files = (await readdir(root, { recursive: true })).filter((file) => !file.startsWith(".git")).toSorted();
    return { result: await run.result, events, files, root, stub };
  }

  let undisturbed: Promise<Outcome> | undefined;
  const plain = (): Promise<Outcome> => (undisturbed ??= work());

  it("makes files from those replies, tests and commits them; every body is one OpenAI's server accepts", async () => {
    const { result, files, stub } = await plain();
    expect(result).toMatchObject({ status: "finished", output: { instructContent: { tests: "passed", total: 1, passed: 1 } } });
    expect(files).toEqual(expect.arrayContaining(["docs/prd/greeter.json", "index.html", "src/greet.js", "tests/greet.test.mjs"]));
    expect(stub.rejected).toEqual([]);
    expect(stub.requests).toHaveLength(8);
    expect(stub.authorizations.every((authorization) => authorization === `Bearer ${KEY}`)).toBe(true);
  });

  const survived: readonly StubFault[] = [
    { fault: "cut", after: 0 },
    { fault: "cut", after: 2 },
    { fault: "reset", after: 0 },
    { fault: "reset", after: 2 },
    { fault: "stall", after: 1 },
    { fault: "stream-error" },
    { fault: "rate-limit", retryAfter: "7" },
    { fault: "rate-limit", retryAfterMs: "1500" },
    { fault: "server-error", status: 503 },
    { fault: "length" },
    { fault: "bad-json" },
    { fault: "wrong-shape" },
    { fault: "empty-choices" },
    { fault: "empty" },
  ];

  it.each(someOf(survived, 1))("survives $fault and pays only what may have been paid: %j", { tags: "company" }, async (fault) => {
    const whole = await plain();
    const { result, stub, files } = await work(fault);
    expect(result.status, JSON.stringify(result.error)).toBe("finished");
    expect(files).toEqual(whole.files);
    expect(stub.requests).toHaveLength(whole.stub.requests.length + 1);
    expect(result.cost.unpriced).toBe(0);
    expect(result.cost.known).toBeGreaterThanOrEqual(whole.result.cost.known);
  });

  const refused: readonly (readonly [StubFault, string])[] = [
    [{ fault: "unauthorized" }, "MODEL_AUTH"],
    [{ fault: "quota" }, "MODEL_QUOTA"],
    [{ fault: "not-found" }, "MODEL_NOT_FOUND"],
    [{ fault: "context-overflow" }, "MODEL_CONTEXT_OVERFLOW"],
    [{ fault: "refusal" }, "MODEL_REFUSED"],
    [{ fault: "content-filter" }, "MODEL_CONTENT_FILTER"],
  ];

  it.each(someOf(refused, 1))(
    "%j ends the run with a typed error, asks once, and keeps what was made",
    { tags: "company" },
    async (fault, code) => {
      const { result, stub, files, events } = await work(fault);
      expect(result.status).toBe("failed");
      expect(result.error).toBeInstanceOf(ModelError);
      expect(result.error?.code).toBe(code);
      expect(stub.requests).toHaveLength(4);
      expect(files).toEqual(expect.arrayContaining(["docs/prd/greeter.json", "docs/task/greeter.json"]));
      expect(JSON.stringify(events)).not.toContain(KEY);
      expect(fold(events).ledger.held).toBe(0);
    },
  );

  it(
    "a server that only enforces nothing is asked in words: the ladder's next rungs are tried, and remembered",
    { tags: ["company", "long"] },
    async () => {
      const { result, stub } = await work({ fault: "format-unsupported" }, 0);
      expect(result.status).toBe("finished");
      expect(stub.requests.map((body) => body.response_format?.type ?? "text").slice(0, 3)).toEqual([
        "json_schema",
        "json_object",
        "json_object",
      ]);
    },
  );

  it("the recorded requests hold no key, and the written files neither", async () => {
    const { events, root } = await plain();
    expect(JSON.stringify(events)).not.toContain(KEY);
    const written = (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    expect(written.length).toBeGreaterThan(10);
    for (const entry of written) expect(await readFile(join(entry.parentPath, entry.name), "latin1")).not.toContain(KEY);
  });
});
