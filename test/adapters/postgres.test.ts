import { describe, expect, it } from "vitest";
import { journalContract } from "../../src/testing/contracts/journal.ts";
import { journalOwnersContract } from "../../src/testing/contracts/journal-owners.ts";
import { hasPostgres } from "./postgres-process.ts";
import { journalIn, newSchema } from "./postgres-setup.ts";

describe.runIf(hasPostgres)("a server of the tests", () => {
  journalContract({ describe, it, expect }, "postgres", () => journalIn(newSchema()));

  journalOwnersContract(
    { describe, it, expect },
    {
      name: "postgres",
      takes: true,
      async make() {
        const schema = newSchema();
        const [first, second] = await Promise.all([journalIn(schema), journalIn(schema)]);
        return { first, second, close: async () => void (await Promise.all([first.close(), second.close()])) };
      },
    },
  );
});
