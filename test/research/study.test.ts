import { afterEach, describe, expect, it, vi } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { study } from "../../src/research/index.ts";
import { figure, figuresText, type StudyOptions } from "../../src/research/figures/study.ts";

const exitCode = process.exitCode;
afterEach(() => {
  process.exitCode = exitCode;
  vi.unstubAllEnvs();
});

const printed: string[] = [];
const print = (text: string): void => void printed.push(text);
const seedsOf = (options: Partial<StudyOptions>, reps: number): Promise<readonly string[]> =>
  study({ name: "coins", ...options }).samples(reps, (seed) => seed);

describe("a study", () => {
  it("gives each repetition a seed of its own, and the same ones in every call and with the same seed", async () => {
    const { samples } = study({ name: "coins", seed: 7 });
    const [one, other] = [await samples(20, (seed, rep) => [seed, rep]), await samples(20, async (seed, rep) => [seed, rep])];
    expect(other).toEqual(one);
    expect(one.map(([, rep]) => rep)).toEqual([...Array(20).keys()]);
    expect(new Set(one.map(([seed]) => seed)).size).toBe(20);
    expect(await seedsOf({ seed: "7" }, 20)).toEqual(one.map(([seed]) => seed));
  });

  it("takes its seed from SEED where the program gives none, and a fresh one without it", async () => {
    vi.stubEnv("SEED", "from outside");
    expect([study({ name: "coins" }).seed, study({ name: "coins", seed: 3 }).seed]).toEqual(["from outside", "3"]);
    vi.stubEnv("SEED", undefined);
    expect(new Set([...(await seedsOf({}, 3)), ...(await seedsOf({}, 3))]).size).toBe(6);
  });

  it("runs one repetition after another, and none after its signal", async () => {
    const stop = new AbortController();
    const { samples } = study({ name: "coins", signal: stop.signal });
    const running: number[] = [];
    const stopped = samples(5, async (_, rep) => {
      running.push(rep);
      await Promise.resolve();
      if (rep === 2) stop.abort();
      expect(running.at(-1)).toBe(rep);
    });
    await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
    expect(running).toEqual([0, 1, 2]);
  });

  it("prints the table of its figures, and each has its name and source", () => {
    const { report } = study({ name: "coins", source: "Ada 1843", print });
    const found = { name: "mean", expected: 2, found: [1, 2, 3] };
    const figures = report([found, { ...found, source: "Bob 1850", relation: "at most" }]);
    const own = { ...found, name: "coins: mean" };
    expect(figures).toEqual([figure({ ...own, source: "Ada 1843" }), figure({ ...own, source: "Bob 1850", relation: "at most" })]);
    expect(printed.splice(0)).toEqual([figuresText(figures)]);
    expect(process.exitCode).toBe(exitCode);
  });

  it("prints on the standard output where nothing else is given", () => {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const figures = study({ name: "coins", source: "Ada 1843" }).report([{ name: "sum", expected: 2, found: 2 }]);
    const [text] = write.mock.lastCall ?? [];
    write.mockRestore();
    expect(text).toBe(`${figuresText(figures)}\n`);
  });

  it("reports the seed of a missed figure, and ends its process with 1", () => {
    const { report } = study({ name: "coins", source: "Ada 1843", seed: "x1", print });
    report([
      { name: "sum", expected: 2, found: 2 },
      { name: "product", expected: 2, found: 3 },
    ]);
    expect(printed.splice(0).at(-1)).toBe("1 of 2 figures missed with SEED=x1");
    expect(process.exitCode).toBe(1);
  });

  it("refuses wrong options, repetitions and figures", async () => {
    const { samples, report } = study({ name: "coins", print });
    const codeOf = async (call: () => unknown): Promise<string> => {
      try {
        await call();
        return "none";
      } catch (error) {
        return error instanceof UsageError ? error.code : String(error);
      }
    };
    const wrong: readonly (readonly [string, () => unknown])[] = [
      ["ARGUMENT_INVALID", () => study({} as never)],
      ["OPTION_INVALID", () => study({ name: "coins", seed: {} as never })],
      ["OPTION_INVALID", () => study({ name: "coins", signal: {} as never })],
      ["OPTION_UNKNOWN", () => study({ name: "coins", seeds: 1 } as never)],
      ["ARGUMENT_INVALID", () => samples(0, () => 1)],
      ["ARGUMENT_INVALID", () => samples(2.5, () => 1)],
      ["ARGUMENT_INVALID", () => samples(2, undefined as never)],
      ["ARGUMENT_INVALID", () => report(5 as never)],
      ["ARGUMENT_INVALID", () => report([5 as never])],
      ["ARGUMENT_INVALID", () => report([{ name: "without a source", expected: 1, found: 1 }])],
      ["FIGURE_INVALID", () => report([{ name: "one sample", source: "Ada 1843", expected: 1, found: [1] }])],
    ];
    expect(await Promise.all(wrong.map(([, call]) => codeOf(call)))).toEqual(wrong.map(([code]) => code));
  });
});
