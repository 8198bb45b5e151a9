import { describe, expect, it } from "vitest";
import { embedBatches, embeddable, embedQuery, unitVector, hashingEmbedder } from "../../src/memory/embedder.ts";
import { stableHash } from "../../src/memory/text-terms.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { watched } from "./storage-setup.ts";

const limits = { clock: systemClock, timeout: 10_000 };

async function similarity(a: string, b: string): Promise<number> {
  const embedder = hashingEmbedder();
  const [x, y] = await Promise.all([a, b].map((text) => embedQuery(embedder, text, limits)));
  return (x ?? new Float32Array()).reduce((sum, value, n) => sum + value * (y?.[n] ?? 0), 0);
}

describe("hashingEmbedder", () => {
  it("puts texts that share words close together, and others far apart", async () => {
    const near = await similarity("We chose PostgreSQL for the orders", "the orders live in PostgreSQL");
    const far = await similarity("We chose PostgreSQL for the orders", "rain is expected tomorrow");
    const { threshold } = hashingEmbedder();
    expect(near).toBeGreaterThan(threshold);
    expect(far).toBeLessThan(threshold);
  });

  it("does the same for Chinese, which has no spaces, and Japanese and Korean", async () => {
    for (const [a, b, c] of [
      ["用户登录失败的原因是密码错误", "登录失败", "明天会下雨"],
      ["データベースの設計を変更しました", "データベースの設計", "明日は雨です"],
      ["데이터베이스 설계를 변경했습니다", "데이터베이스 설계", "내일은 비가 온다"],
    ] as const) {
      expect(await similarity(a, b)).toBeGreaterThan(0.4);
      expect(await similarity(a, c)).toBeLessThan(await similarity(a, b));
    }
  });

  it("does not care about case, width or how an accent is written", async () => {
    expect(await similarity("Ｔｈｅ ＡＰＩ", "the api")).toBeCloseTo(1, 5);
    expect(await similarity("caf\u00e9 menu", "cafe\u0301 MENU")).toBeCloseTo(1, 5);
  });

  it("finds a misspelt word by its pieces", async () => {
    expect(await similarity("authentication", "authentificaton")).toBeGreaterThan(await similarity("authentication", "observability"));
  });

  it("is lexical: a synonym without a letter in common is as far as anything else", async () => {
    expect(Math.abs(await similarity("automobile", "car"))).toBeLessThan(0.2);
  });

  it("gives the same vectors in every process", async () => {
    const [vector] = await hashingEmbedder({ dimensions: 16 }).embed(["stored last year 去年"]);
    expect(Array.from(vector ?? [], (value) => Math.round(value * 1_000) / 1_000)).toMatchSnapshot();
  });
});

describe("embedding", () => {
  it("cuts a text at the embedder's limit, never within a character", () => {
    const embedder = watched({ maxChars: 3 });
    expect([embeddable(embedder, "abcdef"), embeddable(embedder, "ab🎭cd"), embeddable(embedder, " \n")]).toEqual(["abc", "ab", ""]);
  });

  it("sends no more texts at once than the embedder takes, and no blank one", async () => {
    const embedder = watched({ maxBatch: 2 });
    const froms: number[] = [];
    const vectors: unknown[] = [];
    for await (const batch of embedBatches(embedder, ["a", "", "b", "c", " "], limits)) {
      froms.push(batch.from);
      vectors.push(...batch.vectors);
    }
    expect(embedder.batches).toEqual([["a"], ["b", "c"]]);
    expect(froms).toEqual([0, 2, 4]);
    expect(vectors.map((vector) => vector !== undefined)).toEqual([true, false, true, true, false]);
  });

  it.each([
    [
      [3, 4],
      [0.6, 0.8],
    ],
    [Float32Array.of(3e-44, 4e-44), [0.6, 0.8]],
    [Float32Array.of(3e38, 0), [1, 0]],
  ])("makes %s a direction", (vector, unit) => {
    const made = unitVector(vector, "a test");
    expect(Math.abs((made?.[0] ?? 9) - (unit[0] ?? 0))).toBeLessThan(0.05);
    expect(Math.abs((made?.[1] ?? 9) - (unit[1] ?? 0))).toBeLessThan(0.05);
  });
});

describe("stableHash", () => {
  it("is what it has always been", () => {
    expect([stableHash(""), stableHash("a"), stableHash("猫", 7)]).toMatchSnapshot();
  });

  it("spreads ids that follow each other evenly", () => {
    const counts = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 10_000; n++) counts[stableHash(`message-${n}`) % 10]! += 1;
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });
});
