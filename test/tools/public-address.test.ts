import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admit, isPublicAddress } from "../../src/tools/web-access.ts";

const PUBLIC =
  "8.8.8.8 1.1.1.1 172.15.255.255 172.32.0.0 192.169.0.1 100.128.0.1 2606:4700::1111 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808";
const PRIVATE = `0.0.0.0 127.0.0.1 127.255.255.254 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.100.100.200
168.63.129.16 192.0.0.192 198.18.0.1 224.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:a9fe:a9fe ::127.0.0.1
64:ff9b::7f00:1 64:ff9b::169.254.169.254 64:ff9b:1::1 fe80::1 fe80::1%eth0 fec0::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1
2001::1 2002:7f00:1:: 100::1 5f00::1 localhost 1.2.3 0x7f.1 2606:4700::1111%1`;

describe("an address", () => {
  it.each(PUBLIC.split(" "))("%s is public", (address) => expect(isPublicAddress(address)).toBe(true));
  it.each([...PRIVATE.split(/\s/), ""])("%s is not public", (address) => expect(isPublicAddress(address)).toBe(false));
});

/** One IPv4 address in the ways browsers read it. */
function writtenAs(address: number): string[] {
  const bytes = [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255];
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const [high, low] = [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
  return [
    bytes.join("."),
    String(address),
    `0x${address.toString(16)}`,
    `0${address.toString(8)}`,
    bytes.map((byte) => `0x${byte.toString(16)}`).join("."),
    bytes.map((byte) => `0${byte.toString(8)}`).join("."),
    `${a}.${address & 0xffffff}`,
    `${bytes.join(".")}.`,
    `[::ffff:${high}:${low}]`,
    `[64:ff9b::${high}:${low}]`,
  ];
}

it("is refused in every way of writing it, and admitted in every way when public", async () => {
  const privateOnes = fc.constantFrom(0x7f000001, 0xa9fea9fe, 0x0a000001, 0xc0a80101, 0xac100001, 0x64646464, 0);
  await fc.assert(
    fc.asyncProperty(fc.oneof(privateOnes, fc.integer({ min: 0, max: 0xffffffff })), async (address) => {
      const dotted = writtenAs(address)[0] ?? "";
      for (const host of writtenAs(address)) {
        const { kind } = await admit(`http://${host}/`, { resolve: () => Promise.resolve([]) });
        expect([host, kind]).toEqual([host, isPublicAddress(dotted) ? "admitted" : "refused"]);
      }
    }),
  );
});
