import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { journalContract } from "../../src/testing/contracts/journal.ts";

journalContract({ describe, it, expect }, "sqlite", () => sqlite({ path: join(mkdtempSync(join(tmpdir(), "troupe-")), "j.db") }));
