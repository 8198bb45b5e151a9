import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { own } from "./project-copy.ts";

/** The way out of a namespace without network: one socket to a proxy of this process, which connects to the allowed hosts alone. */
export interface NetworkGate {
  readonly path: string;
  close(): void;
}

/** The proxy as a command in the sandbox reaches it. The namespace is the command's own, so that the port is free. */
const PROXY = "http://127.0.0.1:3128";
const OK = 200;
export const GATE = "/troupe/network";

/** The driver that carries connections from {@link PROXY} to the socket while a command runs. */
export const CARRIER = "/troupe/carrier.mjs";

/** The words before a command that has a way out. @param node the program inside */
export function carrierWords(node: string): readonly string[] {
  return [node, CARRIER, GATE, PROXY];
}

/** Opens the way out of a sandbox. @param hosts as `registry.npmjs.org:443` @param owner the user of the sandbox where it is not that of this process */
export async function openGate(folder: string, hosts: readonly string[], owner: number | undefined): Promise<NetworkGate> {
  const allowed: ReadonlySet<string> = new Set(hosts.map((host) => host.toLowerCase()));
  const open = new Set<Socket>();
  const server = createServer((asked, answer) => forward(asked, answer, allowed));
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  server.on("connect", (asked: IncomingMessage, inner: Socket, head: Buffer) => tunnel(asked.url ?? "", { inner, head, allowed, open }));
  const path = join(folder, "net");
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  await own([path], owner);
  return {
    path,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

interface Tunnel {
  readonly inner: Socket;
  readonly head: Buffer;
  readonly allowed: ReadonlySet<string>;
  readonly open: Set<Socket>;
}

function tunnel(place: string, { inner, head, allowed, open }: Tunnel): void {
  inner.on("error", () => inner.destroy());
  if (!allowed.has(place.toLowerCase())) return void inner.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  const { hostname, port } = new URL(`http://${place}`);
  const outer = connect(Number(port === "" ? "80" : port), hostname.replace(/^\[|\]$/g, ""), () => {
    inner.write("HTTP/1.1 200 OK\r\n\r\n");
    outer.write(head);
    inner.pipe(outer).pipe(inner);
  });
  open.add(outer);
  outer.on("error", () => (outer.bytesRead === 0 ? inner.end("HTTP/1.1 502 Bad Gateway\r\n\r\n") : inner.destroy()));
  outer.on("close", () => {
    open.delete(outer);
    inner.end();
  });
  inner.on("close", () => outer.destroy());
}

/** A registry without TLS is asked for as proxies are: by the whole address. */
function forward(asked: IncomingMessage, answer: ServerResponse, allowed: ReadonlySet<string>): void {
  const url = URL.canParse(asked.url ?? "") ? new URL(asked.url ?? "") : undefined;
  const place = url === undefined ? "" : `${url.hostname}:${url.port === "" ? "80" : url.port}`;
  if (url?.protocol !== "http:" || asked.method !== "GET" || !allowed.has(place)) return void answer.writeHead(403).end();
  const sent = request(url, { agent: false, headers: { ...asked.headers, host: url.host } }, (got) => {
    const { statusCode = 0 } = got;
    if (statusCode < OK) return void answer.destroy();
    answer.writeHead(statusCode, got.headers);
    // Ends the answer too where the registry cuts it.
    pipeline(got, answer, () => undefined);
  });
  sent.on("error", () => answer.destroy());
  answer.on("close", () => sent.destroy());
  sent.end();
}
