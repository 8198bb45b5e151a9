import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { fileObjects, s3Objects, type S3ObjectsOptions } from "../../src/adapters/objects.ts";
import type { ObjectStore } from "../../src/kernel/object-store.ts";
import { objectStoreContract } from "../../src/testing/index.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { errorOf, scratchFolder } from "../workspace/scratch.ts";
import { S3_KEYS, s3Stub } from "./s3-stub.ts";

const kit = { describe, it, expect };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const stub = await s3Stub();
const bucket = (more: Partial<S3ObjectsOptions> = {}) =>
  s3Objects({ endpoint: stub.endpoint, bucket: "runs", credentials: S3_KEYS, retries: 1, timeout: 2000, ...more });

objectStoreContract(kit, "a folder", () => fileObjects({ dir: scratchFolder() }));
objectStoreContract(kit, "a bucket", () => {
  stub.objects.clear();
  stub.fault = () => undefined;
  return bucket();
});
objectStoreContract(kit, "a prefix of a bucket", () => {
  stub.objects.clear();
  stub.objects.set("other/a/b", Buffer.from("theirs"));
  return bucket({ prefix: "ours/deep" });
});

const ceph = await s3Stub("runs", 2, true);
const gateway = (): ObjectStore => s3Objects({ endpoint: ceph.endpoint, bucket: "runs", credentials: S3_KEYS, retries: 1, timeout: 2000 });
objectStoreContract(kit, "a bucket of a server that compares tags without their quotes", () => {
  ceph.objects.clear();
  return gateway();
});

describe("objects in a folder", () => {
  it("FileObjects.O3 a damaged file is reported, and can be removed", async () => {
    const dir = scratchFolder();
    const objects = fileObjects({ dir });
    await objects.put("a", bytes("rain"));
    const [name = ""] = await readdir(dir);
    await writeFile(join(dir, name), `${await readFile(join(dir, name), "latin1")}!`);
    expect(await codeOf(() => objects.get("a"))).toBe("OBJECT_DAMAGED");
    await objects.remove("a");
    expect(await objects.get("a")).toBe(undefined);
  });

  it("bounds an object in both directions", async () => {
    const dir = scratchFolder();
    const small = fileObjects({ dir, mostBytes: 3 });
    await fileObjects({ dir }).put("a", bytes("rain"));
    expect([await codeOf(() => small.put("b", bytes("rain"))), await codeOf(() => small.get("a"))]).toEqual(
      Array.from({ length: 2 }, () => "OBJECT_TOO_LARGE"),
    );
  });
});

describe("objects in a bucket", () => {
  it("S3Objects.S1 a put whose answer was lost is known to have been done; one of another writer is not", async () => {
    stub.objects.clear();
    let asked = 0;
    stub.fault = (method) => (method === "PUT" && asked++ === 0 ? "reset-after" : undefined);
    const tag = await bucket().put("a", bytes("rain"), { ifNone: true });
    expect(await bucket().get("a")).toEqual({ bytes: bytes("rain"), tag });
    asked = 0;
    stub.fault = (method) => (method === "PUT" && asked++ === 0 ? "reset" : undefined);
    expect(await codeOf(() => bucket().put("a", bytes("snow"), { ifNone: true }))).toBe("OBJECT_CONFLICT");
  });

  it("S3Objects.S4 a server that compares tags without their quotes keeps conditions, also those of writers at the same time", async () => {
    ceph.objects.clear();
    const objects = gateway();
    const first = await objects.put("a", bytes("rain"));
    const races = await Promise.all(["snow", "hail"].map((text) => codeOf(() => objects.put("a", bytes(text), { ifMatch: first }))));
    expect(races.filter((code) => code === "OBJECT_CONFLICT")).toHaveLength(1);
    expect(await codeOf(() => objects.put("a", bytes("fog"), { ifMatch: first }))).toBe("OBJECT_CONFLICT");
    const { tag = "" } = (await objects.get("a")) ?? {};
    await objects.put("a", bytes("fog"), { ifMatch: tag });
    expect((await gateway().get("a"))?.bytes).toEqual(bytes("fog"));
  });

  it("asks again after a lost connection and after an answer that says later, and not after others", async () => {
    stub.objects.clear();
    const counts: number[] = [];
    for (const fault of ["reset", { status: 503 }, { status: 403, code: "AccessDenied" }] as const) {
      let asked = 0;
      stub.fault = () => (asked++ === 0 ? fault : undefined);
      await codeOf(() => bucket().get("a"));
      counts.push(asked);
    }
    expect(counts).toEqual([2, 2, 1]);
  });

  it("gives up after its tries and its time, and takes notice of its signal", async () => {
    stub.fault = () => "hang";
    expect(await codeOf(() => bucket({ retries: 0, timeout: 30 }).get("a"))).toBe("OBJECTS_UNREACHABLE");
    const stop = new AbortController();
    const asked = codeOf(() => bucket().get("a", { signal: stop.signal }));
    stop.abort();
    expect(await asked).toBe("ABORTED");
  });

  it("S3Objects.S2 no error and no printed store has a key of the account", async () => {
    stub.fault = () => undefined;
    const wrong = { ...S3_KEYS, secretAccessKey: "another-secret" };
    const errors = [
      await errorOf(() => bucket({ credentials: wrong }).get("a")),
      await errorOf(() => bucket({ bucket: "not-there" }).put("a", bytes("rain"))),
      await errorOf(() => bucket({ bucket: "not-there" }).list("a")),
      await errorOf(async () => bucket({ endpoint: "http://user:another-secret@127.0.0.1" })),
      await errorOf(() => bucket({ endpoint: "http://127.0.0.1:1", retries: 0 }).get("a")),
    ];
    expect(errors.map((error) => (error as { readonly code?: string }).code)).toEqual([
      "OBJECTS_REFUSED",
      "OBJECTS_REFUSED",
      "OBJECTS_REFUSED",
      "OPTION_INVALID",
      "OBJECTS_UNREACHABLE",
    ]);
    const shown = inspect([errors, bucket({ credentials: wrong })], { depth: 20 });
    expect([shown.includes("another-secret"), shown.includes(S3_KEYS.accessKeyId), shown.includes(S3_KEYS.secretAccessKey)]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it("bounds what it reads, also when the server says nothing of its length", async () => {
    stub.objects.set("a", Buffer.alloc(100));
    stub.fault = () => undefined;
    expect(await codeOf(() => bucket({ mostBytes: 99 }).get("a"))).toBe("OBJECT_TOO_LARGE");
  });
});
