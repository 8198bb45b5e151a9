import type { ObjectStore } from "../../kernel/object-store.ts";
import { checkContract, codeOf, type ContractKit } from "./contract-kit.ts";

export type MakeObjects = () => ObjectStore | Promise<ObjectStore>;

/**
 * The contract of every {@link ObjectStore}.
 *
 * Objects.O1 `get` returns the bytes and the tag of the last resolved `put`. Objects.O2 a false condition changes nothing and throws
 * `OBJECT_CONFLICT`. Objects.O3 of concurrent puts with one condition, one succeeds. Objects.O4 `list` has the keys below a folder.
 * Objects.O5 keys that could lead elsewhere are refused. Objects.O6 an aborted call changes nothing.
 */
export function objectStoreContract(kit: ContractKit, name: string, make: MakeObjects): void {
  checkContract("objectStoreContract", kit, name, make);
  kit.describe(`${name} keeps the contract of a store of objects`, () => {
    const check = (title: string, body: (objects: ObjectStore) => Promise<void>): void => kit.it(title, async () => body(await make()));
    keepingChecks(kit, check);
    conditionChecks(kit, check);
    keyChecks(kit, check);
  });
}

type Check = (title: string, body: (objects: ObjectStore) => Promise<void>) => void;

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

async function heldBy(objects: ObjectStore, key: string): Promise<readonly number[] | undefined> {
  const found = await objects.get(key);
  return found === undefined ? undefined : [...found.bytes];
}

function keepingChecks({ expect }: ContractKit, check: Check): void {
  check("Objects.O1 what was put is there until it is replaced or removed", async (objects) => {
    expect(await heldBy(objects, "a/b")).toBe(undefined);
    const first = await objects.put("a/b", bytes(0, 255, 10));
    expect(await objects.get("a/b")).toEqual({ bytes: bytes(0, 255, 10), tag: first });
    const second = await objects.put("a/b", bytes());
    expect([await heldBy(objects, "a/b"), second === first]).toEqual([[], false]);
    await objects.remove("a/b");
    await objects.remove("a/b");
    expect(await heldBy(objects, "a/b")).toBe(undefined);
  });
}

function conditionChecks({ expect }: ContractKit, check: Check): void {
  check("Objects.O2 a condition that does not hold changes nothing", async (objects) => {
    expect(await codeOf(() => objects.put("a", bytes(1), { ifMatch: '"none"' }))).toBe("OBJECT_CONFLICT");
    const first = await objects.put("a", bytes(1), { ifNone: true });
    expect(await codeOf(() => objects.put("a", bytes(2), { ifNone: true }))).toBe("OBJECT_CONFLICT");
    const second = await objects.put("a", bytes(3), { ifMatch: first });
    expect(await codeOf(() => objects.put("a", bytes(4), { ifMatch: first }))).toBe("OBJECT_CONFLICT");
    expect(await objects.get("a")).toEqual({ bytes: bytes(3), tag: second });
    expect(await codeOf(() => objects.put("a", bytes(5), { ifNone: true, ifMatch: second }))).toBe("OPTION_INVALID");
  });

  check("Objects.O3 FileObjects.O2 of puts at the same time with one condition, one succeeds", async (objects) => {
    const race = async (o: { readonly ifNone: true } | { readonly ifMatch: string }, from: number): Promise<number> => {
      const codes = await Promise.all(Array.from({ length: 6 }, (_, n) => codeOf(() => objects.put("a", bytes(from + n), o))));
      expect(codes.filter((code) => code === "OBJECT_CONFLICT").length).toBe(5);
      return from + codes.indexOf("resolved");
    };
    const winner = await race({ ifNone: true }, 0);
    const found = await objects.get("a");
    expect(found?.bytes).toEqual(bytes(winner));
    expect(await heldBy(objects, "a")).toEqual([winner]);
    const next = await race({ ifMatch: found?.tag ?? "" }, 10);
    expect(await heldBy(objects, "a")).toEqual([next]);
  });
}

function keyChecks({ expect }: ContractKit, check: Check): void {
  check("Objects.O4 the list of a folder has the keys below it, sorted", async (objects) => {
    for (const key of ["a/c/d", "a/b", "a", "ab/c", "a.b/c"]) await objects.put(key, bytes(1));
    expect(await objects.list("a")).toEqual(["a/b", "a/c/d"]);
    expect(await objects.list("a/c")).toEqual(["a/c/d"]);
    expect(await objects.list("z")).toEqual([]);
  });

  check("Objects.O5 a key that could lead elsewhere is refused", async (objects) => {
    for (const key of ["", "..", "a/../b", "/a", "a/", "a//b", ".git", "a\0", "A", "a b", "a\\b", "a?b", "é", "a".repeat(101)]) {
      for (const call of [() => objects.put(key, bytes(1)), () => objects.get(key), () => objects.list(key), () => objects.remove(key)])
        expect(await codeOf(call)).toBe("OBJECT_KEY_INVALID");
    }
  });

  check("Objects.O6 an aborted call changes nothing", async (objects) => {
    const signal = AbortSignal.abort();
    await objects.put("a", bytes(1));
    for (const call of [
      () => objects.put("a", bytes(2), { signal }),
      () => objects.get("a", { signal }),
      () => objects.list("a", { signal }),
      () => objects.remove("a", { signal }),
    ])
      expect(await codeOf(call)).toBe("ABORTED");
    expect(await heldBy(objects, "a")).toEqual([1]);
  });
}
