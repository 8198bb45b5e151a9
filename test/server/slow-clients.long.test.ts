// @module-tag fleet
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import { all, heap, serving } from "./served-team.ts";

const TOKEN = "slow-token-0123456789";
const HEAD = `Host: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n`;
const SECOND = 1_000;
/** Megabytes of a message. */
const LONG = 10;

/** A role whose message has 10 MB. */
function writers(): Team {
  const Write = defineAction({ name: "Write", run: () => "x".repeat(LONG * 1e6) });
  return new Team({ roles: [defineRole({ name: "Wanda", actions: [Write] })], journal: memoryJournal(), messageLimit: 20_000_000 });
}

/** A connection with all that it was sent, and how long it lived. */
class Slow {
  readonly socket: Socket;
  readonly over: Promise<number>;
  text = "";
  readonly #began = performance.now();
  #timer: NodeJS.Timeout;

  /** @param turn what the client does each second */
  constructor(port: number, turn: (slow: Slow) => void) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.on("error", () => undefined);
    this.over = new Promise((resolve) => this.socket.once("close", () => resolve(performance.now() - this.#began)));
    this.#timer = setInterval(() => turn(this), SECOND);
    void this.over.then(() => clearInterval(this.#timer));
  }
}

/** A client that reads one byte each second. */
function reader(port: number, path: string): Slow {
  const slow = new Slow(port, ({ socket }) => {
    const byte = socket.read(1) as Buffer | null;
    if (byte !== null) slow.text += byte.toString("latin1");
  });
  slow.socket.pause();
  slow.socket.write(`GET ${path} HTTP/1.1\r\n${HEAD}\r\n`);
  return slow;
}

/** A client that sends a beginning, and then one byte each second. */
function writer(port: number, beginning: string, rest: string): Slow {
  let place = 0;
  const slow = new Slow(port, ({ socket }) => {
    if (socket.writable && place < rest.length) socket.write(rest[place++] ?? "");
  });
  slow.socket.on("data", (data: Buffer) => (slow.text += data.toString("latin1")));
  slow.socket.write(beginning);
  return slow;
}

describe("a server with clients that take a second for a byte", () => {
  it(
    "serves all others, keeps nothing for those who read, cuts off those who write, and closes in seconds",
    { timeout: 900_000 },
    async () => {
      const server = serving({ team: writers(), token: TOKEN });
      const { url, port } = await server.listen();
      const client = createClient({ url, token: TOKEN });
      const { id } = await client.start({ idea: "go" });
      await all(client.events(id));
      const before = heap();
      const readers = Array.from({ length: 10 }, () => [
        reader(port, `/api/runs/${id}/events`),
        reader(port, `/api/runs/${id}/export`),
      ]).flat();
      const headers = writer(port, "GET /api/runs HTTP/1.1\r\n", HEAD.repeat(20));
      const post = `POST /api/runs HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
      const body = writer(port, post, " ".repeat(1_000));
      const stranger = writer(port, post.replace(TOKEN, "x".repeat(20)), " ".repeat(1_000));
      const started = performance.now();
      let [served, longest] = [0, 0];
      const cut = Promise.all([headers.over, body.over]);
      let isCut = false;
      void cut.then(() => (isCut = true));
      while (!isCut) {
        const asked = performance.now();
        await client.read(id);
        longest = Math.max(longest, performance.now() - asked);
        served += 1;
        await new Promise((resolve) => setTimeout(resolve, SECOND / 4));
      }
      const [headersTook, bodyTook] = await cut;
      expect(headersTook).toBeLessThan(20_000);
      expect(bodyTook).toBeLessThan(120_000);
      for (const { text } of [headers, body]) expect(text).toMatch(/^HTTP\/1\.1 408 /);
      expect(stranger.text).toMatch(/^HTTP\/1\.1 401 /);
      // A busy machine may let anybody wait for seconds; a slow client would let all others wait until it is cut off.
      expect(longest).toBeLessThan(headersTook / 2);
      expect(served).toBeGreaterThan((performance.now() - started) / SECOND / 2);
      for (const { text } of readers) expect(text).toMatch(/^HTTP\/1\.1 200 OK/);
      // An export keeps the line that is being sent.
      expect(heap() - before).toBeLessThan(LONG * 11);
      const closing = performance.now();
      await server.close({ grace: 0 });
      expect(performance.now() - closing).toBeLessThan(10_000);
      for (const { socket, over } of readers) {
        socket.destroy();
        await over;
      }
    },
  );
});
