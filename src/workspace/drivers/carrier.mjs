/* Carries connections from the address of a proxy to a socket while a command runs: programs know proxies at addresses only. */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";

const [socket = "", address = "", file = "", ...args] = process.argv.slice(2);
const { hostname, port } = new URL(address);
const server = createServer((inner) => {
  const outer = connect(socket);
  for (const [one, other] of /** @type {const} */ ([
    [inner, outer],
    [outer, inner],
  ])) {
    one.on("error", () => other.destroy()).on("close", () => other.destroy());
    one.pipe(other);
  }
});
server.listen(Number(port), hostname, () => {
  const proxy = Object.fromEntries(["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, address]));
  const child = spawn(file, args, { stdio: "inherit", env: { ...process.env, ...proxy } });
  child.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  child.on("exit", (code) => process.exit(code ?? 1));
});
