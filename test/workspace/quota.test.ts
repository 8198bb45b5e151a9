import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TroupeError } from "../../src/kernel/errors.ts";
import { Quota } from "../../src/workspace/workspace.ts";

type Command = { readonly path: string; readonly bytes: number; readonly then: "keep" | "undo" | "forget" };

const commands = fc.array(
  fc.record<Command>({
    path: fc.constantFrom("a", "b", "c", "d"),
    bytes: fc.integer({ min: 0, max: 60 }),
    then: fc.constantFrom("keep", "undo", "forget"),
  }),
  { maxLength: 40 },
);

describe("Quota", () => {
  it("agrees with a sum over all files after any commands", () => {
    const limits = { files: 3, bytes: 100, fileBytes: 50 };
    fc.assert(
      fc.property(commands, (list) => {
        const quota = new Quota(limits);
        let files: Record<string, number> = {};
        for (const { path, bytes, then } of list) {
          const next = { ...files, [path]: bytes };
          const sizes = Object.values(next);
          const fits =
            bytes <= limits.fileBytes && sizes.length <= limits.files && sizes.reduce((sum, size) => sum + size, 0) <= limits.bytes;
          if (!fits) {
            expect(() => quota.count(path, bytes)).toThrow(TroupeError);
            continue;
          }
          const undo = quota.count(path, bytes);
          if (then === "undo") undo();
          else files = next;
          if (then === "forget") {
            quota.forget(path);
            files = Object.fromEntries(Object.entries(files).filter(([name]) => name !== path));
          }
        }
      }),
    );
  });

  it("forgets a file it never counted", () => {
    const quota = new Quota({ files: 1 });
    quota.forget("a");
    quota.count("b", 1);
    expect(() => quota.count("c", 1)).toThrow(/Expected at most 1 files, got one more with "c"/);
  });

  it("allows 500 files, 10 MiB together and 1 MiB each by default", () => {
    const quota = new Quota();
    expect(() => quota.count("big", 1024 * 1024 + 1)).toThrow(/at most 1048576 bytes/);
    for (let n = 0; n < 10; n++) quota.count(`f${n}`, 1024 * 1024);
    expect(() => quota.count("f10", 1)).toThrow(/at most 10485760 bytes in all/);
    for (let n = 10; n < 500; n++) quota.count(`f${n}`, 0);
    expect(() => quota.count("f500", 0)).toThrow(/at most 500 files/);
  });
});
