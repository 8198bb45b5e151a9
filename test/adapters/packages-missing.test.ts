import { describe, expect, it, vi } from "vitest";
import { gptTokenizer } from "../../src/adapters/gpt-tokenizer.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { restateDriver } from "../../src/adapters/restate.ts";
import { redisCache } from "../../src/adapters/redis.ts";
import { memoryCache } from "../../src/testing/memory-cache.ts";
import { errorOf } from "../workspace/scratch.ts";

vi.mock("@restatedev/restate-sdk", () => {
  throw new Error("Cannot find package '@restatedev/restate-sdk'");
});
vi.mock("pg", () => {
  throw new Error("Cannot find package 'pg'");
});
vi.mock("redis", () => {
  throw new Error("Cannot find package 'redis'");
});
vi.mock("gpt-tokenizer/encoding/o200k_base", () => {
  throw new Error("Cannot find package 'gpt-tokenizer'");
});

describe("an optional package that is not installed", () => {
  it("redis: every question says what to install; the fallback does not hide it", async () => {
    const cache = redisCache({ url: "redis://localhost", fallback: memoryCache() });
    for (const work of [() => cache.set("a", "1", 1000), () => cache.get("a"), () => cache.delete("a")]) {
      expect(await errorOf(work)).toMatchObject({ code: "PACKAGE_MISSING", message: expect.stringContaining("npm install redis") });
    }
    await cache.close();
  });

  it("pg: every question says what to install, and none is repeated", async () => {
    const journal = postgres({ url: "postgres://localhost/runs" });
    for (const work of [() => journal.create("a"), () => journal.claim("a"), () => journal.runs()]) {
      expect(await errorOf(work)).toMatchObject({ code: "PACKAGE_MISSING", message: expect.stringContaining("npm install pg") });
    }
    await journal.close();
  });

  it("restate: a worker says what to install before it listens", async () => {
    const driver = restateDriver();
    for (let n = 0; n < 2; n++) {
      const working = errorOf(() => driver.work(async () => ({ is: "done" }), { teams: ["a"], concurrency: 1 }));
      const message = expect.stringContaining("npm install @restatedev/restate-sdk");
      expect(await working).toMatchObject({ code: "PACKAGE_MISSING", message });
    }
    await driver.close();
  });

  it("gpt-tokenizer: every count says what to install; a model that needs none is counted", async () => {
    const counter = gptTokenizer({ model: "gpt-5" });
    for (let n = 0; n < 2; n++) {
      expect(await errorOf(async () => counter.count("a"))).toMatchObject({
        code: "PACKAGE_MISSING",
        message: expect.stringContaining("npm install gpt-tokenizer"),
      });
    }
    expect(await gptTokenizer({ model: "qwen3" }).count("four")).toBe(1);
  });
});
