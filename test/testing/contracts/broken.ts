import { expect } from "vitest";
import type { ContractKit } from "../../../src/testing/contracts/contract-kit.ts";

/** Runs a contract, and returns the names of the claims whose checks fail, each once. */
export async function broken(contract: (kit: ContractKit) => void): Promise<string[]> {
  const checks: [string, () => Promise<void>][] = [];
  contract({ describe: (_name, body) => body(), it: (name, body) => void checks.push([name, body]), expect });
  const failed = new Set<string>();
  for (const [name, body] of checks) await body().catch(() => failed.add(name.slice(0, name.indexOf(" "))));
  return [...failed];
}
