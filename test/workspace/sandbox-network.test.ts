import { mkdtempSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openGate } from "../../src/workspace/sandbox-network.ts";

/** Asks a registry, which says something on a socket, through a gate. @returns the status, and whether the whole answer came */
async function asked(says: (socket: Socket) => void): Promise<readonly [status: number | undefined, isWhole: boolean]> {
  const registry = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => says(socket));
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const gate = await openGate(mkdtempSync(join(tmpdir(), "troupe-gate-")), [host], undefined);
  try {
    const got = await new Promise<IncomingMessage | undefined>((resolve) => {
      request({ socketPath: gate.path, path: `http://${host}/left-pad` }, resolve)
        .on("error", () => resolve(undefined))
        .end();
    });
    if (got === undefined) return [undefined, false];
    const isWhole = await new Promise<boolean>((resolve) => {
      got
        .on("error", () => resolve(false))
        .on("end", () => resolve(true))
        .resume();
    });
    return [got.statusCode, isWhole];
  } finally {
    gate.close();
    registry.close();
  }
}

describe("an answer of a registry without TLS", () => {
  it("comes as it was sent", async () => {
    expect(await asked((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwhat"))).toEqual([200, true]);
  });

  it("that is cut ends at once, and not with the time of the command", async () => {
    const cut = (socket: Socket): void => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\nwhat", () => socket.destroy());
    expect(await asked(cut)).toEqual([200, false]);
  });

  it("with a status that no answer has ends the request, and not this process", async () => {
    expect(await asked((socket) => socket.end("HTTP/1.1 099 What\r\ncontent-length: 0\r\n\r\n"))).toEqual([undefined, false]);
  });
});
