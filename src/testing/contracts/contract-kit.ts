/** What a contract needs of a test runner; vitest's and jest's own functions fit. The package depends on neither. */
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
