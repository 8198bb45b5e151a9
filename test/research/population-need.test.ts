import { describe, expect, it, vi } from "vitest";
import { UsageError } from "../../src/kernel/errors.ts";
import { assertPopulationFits, populationNeed } from "../../src/research/index.ts";

describe("the need of a population", () => {
  it("grows with roles and messages, and a million roles need less than 2 GB", () => {
    const { heap, process: whole } = populationNeed({ roles: 1_000_000 });
    expect([heap < 1.4e9, whole < 2e9]).toEqual([true, true]);
    expect(populationNeed({ roles: 1_000_000, messages: 0 }).heap).toBeLessThan(heap);
    expect(() => populationNeed({ roles: -1 })).toThrow(UsageError);
  });

  it("is refused where the machine or the heap has less", () => {
    const memory = vi.spyOn(process, "constrainedMemory").mockReturnValue(200e6);
    const need = expect.objectContaining({
      code: "POPULATION_TOO_LARGE",
      data: { need: expect.any(Number) as number, limit: 200e6 },
    }) as Error;
    expect(() => assertPopulationFits({ roles: 300_000 })).toThrow(need);
    memory.mockRestore();
    expect(() => assertPopulationFits({ roles: 100 })).not.toThrow();
    expect(() => assertPopulationFits({ roles: 1e9 })).toThrow(expect.objectContaining({ code: "POPULATION_TOO_LARGE" }) as Error);
  });
});
