import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A provider of models on the loopback address. Its answers are a function of the question. */
export interface Provider {
  readonly url: string;
  /** Calls by question. */
  readonly calls: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** The answer to a question names its last line. */
export function answerTo(question: string): string {
  return `answer to ${question.split("\n").at(-1)?.slice(0, 60)}`;
}

/**
 * @param wait milliseconds until the answer to a question
 * @param answer the answer. Default: {@link answerTo}
 */
export async function startProvider(
  wait: (question: string) => number,
  answer: (question: string) => string | Promise<string> = answerTo,
): Promise<Provider> {
  const calls = new Map<string, number>();
  const server = createServer((request, response) => {
    let question = "";
    request.setEncoding("utf8").on("data", (text: string) => (question += text));
    request.on("end", () => {
      calls.set(question, (calls.get(question) ?? 0) + 1);
      const ms = wait(question);
      // `fetch` waits five minutes for headers, and five minutes for the rest.
      setTimeout(() => response.flushHeaders(), ms / 2);
      setTimeout(() => void Promise.resolve(answer(question)).then((text) => response.end(text)), ms);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
