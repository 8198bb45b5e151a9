import { describe, expect, it } from "vitest";
import { admit, type ResolvedAddress } from "../../src/tools/web-access.ts";
import { titled } from "../titled.ts";

function answering(...addresses: string[]): () => Promise<ResolvedAddress[]> {
  return () => Promise.resolve(addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
}

describe("a place is refused", () => {
  it.each(
    titled([
      ["file:///etc/passwd", "file:"],
      ["ftp://example.com/", "ftp:"],
      ["data:text/html,x", "data:"],
      ["javascript:alert(1)", "javascript:"],
      ["gopher://example.com:70/_x", "gopher:"],
      ["//example.com", "absolute"],
      ["example.com", "absolute"],
      ["", "absolute"],
      ["http://", "absolute"],
      ["http://user:secret@example.com/", "password"],
      ["http://example.com:25/", "25"],
      [`http://example.com/${"a".repeat(5000)}`, "characters"],
      ["http://localhost/", "127.0.0.1"],
      ["http://[::1]/", "::1"],
      ["http://0/", "0.0.0.0"],
      ["http://①②⑦.0.0.1/", "127.0.0.1"],
      ["http://127。0。0。1/", "127.0.0.1"],
    ]),
  )("%s", async (_case, url, reason) => {
    const admission = await admit(url, { resolve: answering("127.0.0.1") });
    expect(admission).toMatchObject({ kind: "refused", reason: expect.stringContaining(reason) });
  });

  it("never repeats a password", async () => {
    expect(JSON.stringify(await admit("http://user:secret@example.com/", {}))).not.toContain("secret");
  });

  it("when one of its addresses is private, whichever", async () => {
    const resolve = answering("93.184.215.14", "10.0.0.1");
    expect(await admit("http://two.example/", { resolve })).toMatchObject({ kind: "refused", reason: expect.stringContaining("10.0.0.1") });
  });

  it("when it has no address, or is not found", async () => {
    expect(await admit("http://none.example/", { resolve: answering() })).toMatchObject({ kind: "refused" });
    const resolve = (): Promise<never> => Promise.reject(new Error("ENOTFOUND"));
    expect(await admit("http://none.example/", { resolve })).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("not found"),
    });
  });
});

describe("a place that is allowed", () => {
  const resolve = answering("127.0.0.1");

  it("is its host and its port, and no other", async () => {
    const access = { allow: ["localhost:8080"], resolve };
    expect(await admit("http://LOCALHOST:8080/x", access)).toMatchObject({ kind: "admitted" });
    for (const url of ["http://localhost/", "http://localhost:8081/", "http://127.0.0.1:8080/", "http://other:8080/"]) {
      expect([url, (await admit(url, access)).kind]).toEqual([url, "refused"]);
    }
  });

  it("has the usual port where none is said", async () => {
    const access = { allow: ["intra.example:80", "intra.example:443"], resolve };
    expect(await admit("http://intra.example/", access)).toMatchObject({ kind: "admitted" });
    expect(await admit("https://intra.example/", access)).toMatchObject({ kind: "admitted" });
  });
});
