import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectorBytes, vectorChecksum } from "../../src/adapters/message-rows.ts";
import { decodeVectors } from "../../src/adapters/sqlite-store-rows.ts";

/** Rows as the database tells them, at any place of some larger memory. */
function told(vectors: readonly Float32Array[], shift: number): { known: string; all: Uint8Array } {
  const bytes = vectors.map(vectorBytes);
  const known = bytes.map((one, n) => `${n + 1} ${vectorChecksum(n + 1, "f", one)} ${one.length}`).join(",");
  const memory = new Uint8Array(shift + bytes.reduce((sum, one) => sum + one.length, 0));
  let at = shift;
  for (const one of bytes) {
    memory.set(one, at);
    at += one.length;
  }
  return { known, all: memory.subarray(shift) };
}

describe("decodeVectors", () => {
  const vectors = fc.array(
    fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 5 }).map((numbers) => Float32Array.from(numbers)),
    { minLength: 1, maxLength: 6 },
  );

  it("gives what was written, wherever its bytes lie", () => {
    fc.assert(
      fc.property(vectors, fc.nat(3), (written, shift) => {
        const { known, all } = told(written, shift);
        expect(decodeVectors(known, all, "f", 0)).toEqual(written.map((vector, n) => ({ place: n + 1, vector })));
      }),
    );
  });

  it("leaves out what another fingerprint was written under, what was changed, and what has no whole numbers, and only that", () => {
    const written = [Float32Array.of(1, 2), Float32Array.of(3), Float32Array.of(4, 5)];
    const { known, all } = told(written, 1);
    expect(decodeVectors(known, all, "g", 0)).toEqual([]);
    all[9] = 77;
    expect(decodeVectors(known, all, "f", 0).map(({ place }) => place)).toEqual([1, 3]);
    const odd = `1 7 3,${known}`;
    const behind = new Uint8Array([1, 2, 3, ...told(written, 0).all]);
    expect(decodeVectors(odd, behind, "f", 0).map(({ place }) => place)).toEqual([1, 2, 3]);
    expect(decodeVectors(known, all.subarray(0, 10), "f", 0).map(({ place }) => place)).toEqual([1]);
  });
});
