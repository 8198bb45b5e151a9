import { aFunction, aText, having, object, takes } from "../../kernel/argument.ts";
import { nextMacrotask } from "../../kernel/clock.ts";
import { TroupeError } from "../../kernel/errors.ts";

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

/** Returns a function that defines a test of a port which is made for it, and closed after it. */
export function checksOf<P extends { close(): Promise<void> | void }>(
  { it }: ContractKit,
  make: () => P | Promise<P>,
): (title: string, body: (port: P) => Promise<void>) => void {
  return (title, body) =>
    it(title, async () => {
      const port = await make();
      try {
        await body(port);
      } finally {
        await port.close();
      }
    });
}

/** The code of the typed error that some work ends with; "resolved" when it ends well, and a text for any other error. */
export async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return "resolved";
  } catch (error) {
    return error instanceof TroupeError ? error.code : `no TroupeError: ${String(error)}`;
  }
}

/** Time for a port elsewhere to change its mind, if it does. */
export async function turns(): Promise<void> {
  for (let n = 0; n < 20; n += 1) await nextMacrotask();
}
