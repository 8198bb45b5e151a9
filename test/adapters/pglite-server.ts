import { createServer, type Socket } from "node:net";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { afterEachFile } from "../after-file.ts";

/*
 * Postgres compiled to WebAssembly, with the files of the extension `vector`, behind the protocol of Postgres on the loopback address. Debian
 * has no package of the extension.
 *
 * PGlite has one session, and a client of Postgres has its own. So clients take turns: one has the session until its exchange is answered and no
 * transaction of it is open, and its prepared statements get its number in their names. What else belongs to a session they share: settings,
 * locks outside transactions, and notifications.
 */

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
/** Bytes of the length of a message. A type of one byte comes before it, except in the first message. */
const LENGTH = 4;
const [SYNC, QUERY, PARSE, BIND, DESCRIBE, CLOSE, TERMINATE] = Array.from("SQPBDCX", (letter) => letter.charCodeAt(0));
/** A message that describes or closes a prepared statement. */
const STATEMENT = "S".charCodeAt(0);
const IDLE = "I".charCodeAt(0);

export interface PgliteServer {
  readonly url: string;
  /** Runs statements beside the clients. */
  run(sql: string): Promise<void>;
  close(): Promise<void>;
}

const servers = new Set<PgliteServer>();
afterEachFile(async () => {
  for (const server of servers) await server.close();
});

/** Starts a server with an empty database. The extension is there to be created, and is not. */
export async function startPglite(): Promise<PgliteServer> {
  const db = await PGlite.create({ extensions: { vector } });
  const session = new Session(db);
  const clients = new Set<Client>();
  const listener = createServer((socket) => {
    const client = new Client(socket, session, clients.size);
    clients.add(client);
  });
  await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("Expected a port.");
  const server: PgliteServer = {
    url: `postgres://postgres@127.0.0.1:${address.port}/postgres`,
    run: async (sql) => void (await session.alone(undefined, () => db.exec(sql))),
    close: async () => {
      servers.delete(server);
      for (const client of clients) client.end();
      await new Promise((resolve) => void listener.close(resolve));
      await db.close();
    },
  };
  servers.add(server);
  return server;
}

/** The one session. Owns who has it. */
class Session {
  readonly #db: PGlite;
  #waiting: { readonly client: Client | undefined; readonly go: () => void }[] = [];
  #isBusy = false;
  /** The client whose transaction is open. */
  #holder: Client | undefined;

  constructor(db: PGlite) {
    this.#db = db;
  }

  /** Runs the messages of an exchange. Returns the answers. */
  exchange(client: Client, messages: readonly Uint8Array[]): Promise<Uint8Array> {
    return this.alone(client, async () => {
      const answers: Uint8Array[] = [];
      for (const message of messages) answers.push(await this.#db.execProtocolRaw(message));
      const answer = Buffer.concat(answers);
      // The last byte says whether a transaction is open.
      this.#holder = answer.at(-1) === IDLE ? undefined : client;
      return answer;
    });
  }

  /** Ends the transaction of a client that has gone. */
  async leave(client: Client): Promise<void> {
    if (this.#holder !== client) return;
    await this.alone(client, () => this.#db.exec("ROLLBACK"));
    this.#holder = undefined;
    this.#next();
  }

  async alone<T>(client: Client | undefined, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((go) => {
      this.#waiting.push({ client, go });
      this.#next();
    });
    try {
      return await work();
    } finally {
      this.#isBusy = false;
      this.#next();
    }
  }

  #next(): void {
    if (this.#isBusy) return;
    const place = this.#waiting.findIndex(({ client }) => this.#holder === undefined || this.#holder === client);
    const [first] = place === -1 ? [] : this.#waiting.splice(place, 1);
    if (first === undefined) return;
    this.#isBusy = true;
    first.go();
  }
}

/** The connection of one client. */
class Client {
  readonly #socket: Socket;
  readonly #session: Session;
  readonly #name: string;
  #isStarted = false;
  #bytes: Buffer = Buffer.alloc(0);
  #messages: Uint8Array[] = [];

  constructor(socket: Socket, session: Session, number: number) {
    this.#socket = socket;
    this.#session = session;
    this.#name = `client ${number} `;
    socket.setNoDelay(true);
    socket.on("data", (bytes) => this.#take(Buffer.from(bytes)));
    socket.on("error", () => undefined);
    socket.on("close", () => void session.leave(this));
  }

  end(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const typed = this.#isStarted ? 1 : 0;
      if (this.#bytes.length < typed + LENGTH) return;
      const length = typed + this.#bytes.readInt32BE(typed);
      if (this.#bytes.length < length) return;
      const message = this.#bytes.subarray(0, length);
      this.#bytes = this.#bytes.subarray(length);
      this.#hear(message);
    }
  }

  #hear(message: Buffer): void {
    if (!this.#isStarted) {
      const code = message.readInt32BE(LENGTH);
      if (code === SSL_REQUEST) return void this.#socket.write("N");
      if (code === CANCEL_REQUEST) return this.end();
      this.#isStarted = true;
      return this.#ask(message);
    }
    const [type] = message;
    if (type === TERMINATE) return this.end();
    this.#messages.push(this.#named(message));
    if (type === SYNC || type === QUERY) this.#ask(...this.#messages.splice(0));
  }

  #ask(...messages: Uint8Array[]): void {
    this.#session.exchange(this, messages).then(
      (answer) => void (this.#socket.writable && this.#socket.write(answer)),
      () => this.end(),
    );
  }

  /** Puts the name of the client before the name of a prepared statement. */
  #named(message: Buffer): Buffer {
    const [type] = message;
    let at = 1 + LENGTH;
    if (type === BIND) at = message.indexOf(0, at) + 1;
    else if ((type === DESCRIBE || type === CLOSE) && message[at] === STATEMENT) at += 1;
    else if (type !== PARSE) return message;
    if (message[at] === 0) return message;
    const named = Buffer.concat([message.subarray(0, at), Buffer.from(this.#name), message.subarray(at)]);
    named.writeInt32BE(named.length - 1, 1);
    return named;
  }
}
