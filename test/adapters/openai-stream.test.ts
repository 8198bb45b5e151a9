import { expect, it } from "vitest";
import { bodyParts } from "../../src/adapters/openai-stream.ts";
import { MAX_REPLY_CHARS } from "../../src/model/attempt.ts";

it.each([
  ["has lines without end", `data: ${"a".repeat(1_000_000)}\n`],
  ["has a line without end", "a".repeat(1_000_000)],
])("an event that %s is refused", async (_what, piece) => {
  let sent = 0;
  const bytes = new TextEncoder().encode(piece);
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += bytes.length;
      if (sent > 4 * MAX_REPLY_CHARS) controller.close();
      else controller.enqueue(sent === bytes.length ? new TextEncoder().encode(`data: ${piece}`) : bytes);
    },
  });
  const read = async (): Promise<void> => {
    for await (const { text } of bodyParts(body, () => {})) expect(text).toBe("");
  };
  await expect(read()).rejects.toThrow("an event that does not end");
  expect(sent).toBeLessThan(3 * MAX_REPLY_CHARS);
});

it("reads events whose line ends are cut anywhere", async () => {
  const body = "data: 1\r\n\r\ndata: 2\r\rdata: 3\ndata: 4\n\ndata: [DONE]\n\n";
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const byte of new TextEncoder().encode(body)) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const texts: string[] = [];
  for await (const { text } of bodyParts(stream, () => {})) texts.push(text);
  expect(texts).toEqual(["1", "2", "3\n4"]);
});
