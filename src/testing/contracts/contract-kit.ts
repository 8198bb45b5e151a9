import { aFunction, aText, having, object, takes } from "../../kernel/argument.ts";

/** The functions of a test runner that a contract needs; vitest's and jest's own functions fit. The package depends on neither. */
export interface ContractKit {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  expect(value: unknown): ContractExpectation;
}

/** The few comparisons that contracts make. */
export interface ContractExpectation {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
}

const testKit = having("a test runner", "describe", "it", "expect");

/** @throws UsageError `ARGUMENT_INVALID` for what no contract can be checked with */
export function checkContract(door: string, kit: unknown, name: unknown, make: unknown): void {
  takes(door, "kit", kit, testKit);
  takes(door, "name", name, aText);
  takes(door, "make", make, aFunction);
}

/** The same for a contract that is told as an object. @throws UsageError `ARGUMENT_INVALID` */
export function checkToldContract(door: string, kit: unknown, contract: unknown): void {
  takes(door, "kit", kit, testKit);
  takes(door, "contract", contract, object("an object with a name and a way to make what is checked", { name: aText }));
}
