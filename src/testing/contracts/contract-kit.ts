import { aFunction, aText, having, object, takes } from "../../kernel/argument.ts";
import { nextMacrotask } from "../../kernel/clock.ts";
import { TroupeError } from "../../kernel/errors.ts";

export interface ContractKit {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => Promise<void>): void;
  expect(value: unknown): ContractExpectation;
}

export interface ContractExpectation {
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
}

const testKit = having("a test runner", "describe", "it", "expect");

export function checkContract(entry: string, kit: unknown, name: unknown, make: unknown): void {
  takes(entry, "kit", kit, testKit);
  takes(entry, "name", name, aText);
  takes(entry, "make", make, aFunction);
}

/** The same for a contract in an object. @throws UsageError `ARGUMENT_INVALID` */
export function checkContractObject(entry: string, kit: unknown, contract: unknown): void {
  takes(entry, "kit", kit, testKit);
  takes(entry, "contract", contract, object("an object with a name and a way to make what is checked", { name: aText }));
}

/** The checks of a group: each gets a port of its own, which is closed after it. */
export interface Checks<P> {
  check(title: string, body: (port: P) => Promise<void>): void;
  readonly expect: ContractKit["expect"];
}

export function checksOf<P extends { close(): Promise<void> | void }>({ it, expect }: ContractKit, make: () => P | Promise<P>): Checks<P> {
  const check: Checks<P>["check"] = (title, body) =>
    it(title, async () => {
      const port = await make();
      try {
        await body(port);
      } finally {
        await port.close();
      }
    });
  return { check, expect };
}

/** The code of the typed error that some work ends with; "resolved" when it ends well, and a string for any other error. */
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

export interface Gate<T> {
  readonly opened: Promise<T>;
  open(value: T): void;
}

export function gate<T = void>(): Gate<T> {
  let open = (_value: T): void => undefined;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open: (value) => open(value) };
}
