import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createMessage, parseMessage, serializeMessage } from "../../src/index.ts";

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const base64 = Buffer.from(PNG).toString("base64");
const hash = createHash("sha256").update(PNG).digest("hex");

describe("files of a message", () => {
  it("are frozen references to their bytes, without the bytes", () => {
    const message = createMessage("Look", { files: [{ name: "a.png", data: PNG }] });
    expect(message.files).toEqual([{ name: "a.png", type: "image/png", size: PNG.length, hash }]);
    expect(Object.isFrozen(message.files) && Object.isFrozen(message.files?.[0])).toBe(true);
    expect(JSON.stringify(serializeMessage(message))).not.toContain(base64);
  });

  it("stay the same references in a copy of the message", () => {
    const message = createMessage("Look", { files: [{ name: "a.png", data: PNG }] });
    expect(createMessage("Again", message).files?.[0]).toBe(message.files?.[0]);
  });

  it("are left out of a message without any", () => {
    expect([createMessage("No"), createMessage("None", { files: [] })].map((message) => "files" in message)).toEqual([false, false]);
  });

  it.each([
    ["report.PDF", "%PDF-1.7", "application/pdf"],
    ["notes.md", "# Notes", "text/markdown"],
    ["unknown", "GIF89a", "image/gif"],
    ["unknown.bin", "anything", "application/octet-stream"],
  ])("have the type of their name or their bytes: %s", (name, text, type) => {
    expect(createMessage("x", { files: [{ name, data: Buffer.from(text) }] }).files?.[0]?.type).toBe(type);
  });

  it("come as base64 over the wire", () => {
    const read = parseMessage({ content: "Look", files: [{ name: "a.png", data: base64 }] });
    expect(read.files?.[0]).toEqual({ name: "a.png", type: "image/png", size: PNG.length, hash });
    expect(parseMessage(JSON.parse(JSON.stringify(serializeMessage(read))))).toEqual(read);
  });

  it.each<readonly [string, unknown]>([
    ["a path in the place of a file", ["./a.png"]],
    ["a path in the place of the data", [{ name: "a.png", data: "./a.png" }]],
    ["a path in the place of the name", [{ name: "folder/a.png", data: PNG }]],
    ["no list", { name: "a.png", data: PNG }],
    ["no data", [{ name: "a.png" }]],
    ["other bytes than its type", [{ name: "a.png", data: Buffer.from("%PDF-1.7") }]],
    ["another type than its bytes", [{ name: "a", type: "text/plain", data: PNG }]],
    ["a type that is none", [{ name: "a.png", type: "png", data: PNG }]],
    ["too many", Array.from({ length: 21 }, () => ({ name: "a.png", data: PNG }))],
  ])("are refused with advice: %s", (_what, files) => {
    const make = (): unknown => createMessage("x", { files: files as never });
    expect(make).toThrow(expect.objectContaining({ code: "FILE_INVALID", message: expect.stringContaining("readFile") as string }));
  });

  it("are refused above the limit, before their bytes are read", () => {
    const make = (data: Uint8Array | string) => (): unknown => createMessage("x", { files: [{ name: "a.bin", data }] });
    expect(make(new Uint8Array(200_000_000))).toThrow(expect.objectContaining({ code: "FILE_TOO_LARGE" }));
    expect(make("A".repeat(200_000_000))).toThrow(expect.objectContaining({ code: "FILE_TOO_LARGE" }));
  });
});
