import { describe, expect, it } from "vitest";
import { journalContract } from "../../src/testing/contracts/journal.ts";
import { hasPostgres } from "./postgres-process.ts";
import { journalIn, newSchema } from "./postgres-setup.ts";

describe.runIf(hasPostgres)("a server of the tests", () => {
  journalContract({ describe, it, expect }, "postgres", () => journalIn(newSchema()));
});
